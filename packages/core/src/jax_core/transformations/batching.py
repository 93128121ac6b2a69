"""vmap: one call for a whole batch, by each primitive's own batching rule.

Source: "auto-vectorisation" by operator rules; every value carries the position of its mapped axis, or None.
"""
from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from ..compat.traces import MappedHabits
from ..configuration import context, flags
from ..references.api import new_ref_p
from ..references.discharge import apply_discharged, works_on_refs
from ..references.indexing import WHOLE
from ..references.primitives import get_p, is_ref, swap_p
from ..representation import splits
from ..representation.aval import AbstractRef, ShapedArray, get_aval
from ..representation.effects import NamedAxisEffect
from ..representation.high import MappingSpec
from ..representation.jaxpr import ClosedJaxpr, eval_jaxpr, jaxprs_in_params
from ..representation.marks import ELEMENTWISE
from ..representation.primitive import Primitive
from ..traces.staging import check_leaks, trace_to_jaxpr
from ..traces.structural import bdim_at_front, implied_broadcast, matchaxis, moved
from ..traces.trace import Trace, Tracer

if TYPE_CHECKING:
    from ..representation.typing import AxisName, PyTree
    from .custom_jvp import CustomJvpCall
    from .custom_vjp import CustomVjpCall

not_mapped = None


class AxisData:
    """The mapped axis: ``name`` (or None), ``size``, and the mesh axes it is spread over."""

    __slots__ = ("name", "size", "spmd_name", "explicit_mesh_axis")

    def __init__(self, name: AxisName | None, size: int, spmd_name: AxisName | None = None,
                 explicit_mesh_axis: AxisName | None = None):
        self.name, self.size, self.spmd_name = name, size, spmd_name
        self.explicit_mesh_axis = explicit_mesh_axis

    def key(self):
        return self.name, self.size, self.spmd_name, self.explicit_mesh_axis

    def __repr__(self):
        return f"AxisData(name={self.name!r}, size={self.size})"


def mapped_aval(aval: ShapedArray, dim: int) -> ShapedArray:
    """``aval`` without axis ``dim``."""
    if type(aval) is AbstractRef:
        return aval.update(mapped_aval(aval.inner_aval, dim))
    return ShapedArray(aval.shape[:dim] + aval.shape[dim + 1:], aval.dtype, aval.weak_type, vma=aval.vma, sums=aval.sums,
                       memory_space=aval.memory_space, sharding=splits.without_axis(aval.placement, dim))


def unmapped_aval(aval: ShapedArray, size: int, dim: int, mesh_axis: AxisName | None = None) -> ShapedArray:
    """``aval`` with an axis of length ``size`` at ``dim``, split over ``mesh_axis``."""
    if type(aval) is AbstractRef:
        return aval.update(unmapped_aval(aval.inner_aval, size, dim, mesh_axis))
    return ShapedArray((*aval.shape[:dim], size, *aval.shape[dim:]), aval.dtype, aval.weak_type, vma=aval.vma, sums=aval.sums,
                       memory_space=aval.memory_space, sharding=splits.with_mapped_axis(aval, dim, mesh_axis))


class BatchTracer(MappedHabits, Tracer):
    """``val`` with its mapped axis at ``dim``."""
    __module__ = "jax.interpreters.batching"  # see `Tracer`

    __slots__ = ("val", "dim", "_aval")
    _trace: BatchTrace

    def __init__(self, trace: BatchTrace, val: Any, dim: int | None):
        self._trace, self.val, self.dim, self._aval = trace, val, dim, None

    @property
    def aval(self):
        if self._aval is None:
            aval = get_aval(self.val)
            self._aval = aval.dec_rank(self._trace.axis.size, self.dim) if aval.is_high else mapped_aval(aval, self.dim)
        return self._aval

    def _origin_message(self):
        return f"The value is batched by vmap: it stands for {self._trace.axis.size} values at once."

    @property
    def _to_know(self):
        return "give all elements the same value (in_axes=None of jax.vmap), which stays known"

    def _made_by(self):
        return f"It was made inside a function that vmap ran for {self._trace.axis.size} values at once."

    def __repr__(self):
        return f"Traced<{self.aval}>with<{self._trace}> with\n  val = {self.val!r}\n  batch_dim = {self.dim}"

    __str__ = __repr__


class BatchTrace(Trace):
    """Runs batching rules. ``tag`` is shared by the traces of one `vmap`: rules of the user's own run after it under a trace of
    their own, and may close over its values."""

    hands_on_known = True
    __slots__ = ("axis", "tag")

    def __init__(self, parent: Trace, axis: AxisData, tag: object | None = None):
        super().__init__(parent)
        self.axis, self.tag = axis, object() if tag is None else tag

    def process(self, prim: Primitive, args: Sequence[object], params: dict) -> Any:
        if self.agree is not None:
            args, params = self.agree(prim, args, params)
        vals, dims, mapped = [], [], False
        for x in args:
            if type(x) is BatchTracer and x._trace.tag is self.tag:
                vals.append(x.val)
                dims.append(x.dim)
                mapped = True
            else:
                vals.append(x)
                dims.append(None)
        if not mapped and not self._names_axis(prim, params):
            return self.parent.process(prim, args, params)
        if prim.discharge and (works_on_refs(params) or any([is_ref(x) and d is not None for x, d in zip(vals, dims)])):
            return apply_discharged(prim, args, params, self.holds)
        rule = prim.batch
        if rule is ELEMENTWISE:
            out, dim = elementwise(prim, vals, dims, params)
        elif rule is None:
            raise NotImplementedError(f"vmap: primitive {prim.name!r} has no batching rule")
        else:
            out, dim = rule(self.axis, vals, dims, **params)
        if prim.multiple_results:
            if dim is None or isinstance(dim, int):
                dim = [dim] * len(out)
            return [self.box(x, d) for x, d in zip(out, dim)]
        return self.box(out, dim)

    def _names_axis(self, prim, params) -> bool:
        name = self.axis.name
        if name is None or not params:
            return False
        used = params.get("axis_name", params.get("axes", ()))
        if used == name or (isinstance(used, (tuple, list)) and name in used):
            return True
        if prim.cacheable:
            return False
        effect = NamedAxisEffect(name)  # in a program that it holds
        return any(effect in jaxpr.effects for jaxpr in jaxprs_in_params(params))

    def box(self, x: object, dim: int | None) -> Any:
        return x if dim is None else BatchTracer(self, x, dim)

    def unbox(self, x: object) -> tuple[Any, int | None]:
        if type(x) is BatchTracer and x._trace.tag is self.tag:
            return x.val, x.dim
        return x, None

    def holds(self, x: object) -> bool:
        return type(x) is BatchTracer and x._trace.tag is self.tag

    def _unbox_all(self, args):
        pairs = [self.unbox(x) for x in args]
        return [x for x, _ in pairs], [d for _, d in pairs]

    # -- mutable references: one for all lanes, with a mapped axis -----------------------------------------------------

    def new_ref(self, init: PyTree, params: dict[str, Any]):
        val, dim = self.unbox(init)
        ref = self.parent.process_ref(new_ref_p, (bdim_at_front(val, dim, self.axis),), params)
        return BatchTracer(self, ref, 0)

    def read_ref(self, ref):
        return self.box(self.parent.process_ref(get_p, (ref.val,), {"index": WHOLE}), ref.dim)

    def write_ref(self, ref, value: object):
        val, dim = self.unbox(value)
        self.parent.process_ref(swap_p, (ref.val, matchaxis(self.axis, val, dim, ref.dim)), {"index": WHOLE})

    def refuse_change(self, prim: Primitive, ref: object, value: object):
        raise ValueError(f"{prim.name}: a function under vmap changes a reference of type {get_aval(ref)} that has no mapped "
                         "axis, and each lane would change it. Pass the reference as an argument of the vmapped function, "
                         "mapped over one of its axes, or make it inside.")

    def process_custom_jvp(self, call: CustomJvpCall, args: Sequence[object]):
        vals, dims = self._unbox_all(args)
        batched, out_dims = call.batched(self, dims)
        outs = self.parent.process_custom_jvp(batched, vals)
        return [self.box(x, d) for x, d in zip(outs, out_dims())]

    def process_custom_vjp(self, call: CustomVjpCall, args: Sequence[object]):
        vals, dims = self._unbox_all(args)
        batched, out_dims = call.batched(self, dims)
        outs = self.parent.process_custom_vjp(batched, vals)
        return [self.box(x, d) for x, d in zip(outs, out_dims())]


def elementwise(prim: Primitive, vals: Sequence[Any], dims: Sequence[int | None], params: dict) -> tuple[Any, Any]:
    """The batching rule of n-ary elementwise primitives, whose operands have one shape or are scalars."""
    shapes = [np.shape(x) for x in vals]
    first = next((s, d) for s, d in zip(shapes, dims) if d is not None)
    if all(d is None and s == () or (s, d) == first for s, d in zip(shapes, dims)):
        return prim.bind(*vals, **params), first[1]
    inner = max((s if d is None else s[:d] + s[d + 1:] for s, d in zip(shapes, dims)), key=len)
    size = next(s[d] for s, d in zip(shapes, dims) if d is not None)
    full = (size, *inner)
    aligned = [x if d is None else moved(x, d, 0) for x, d in zip(vals, dims)]
    places = [(0,) if d is not None and len(s) < len(full) else None for s, d in zip(shapes, dims)]  # a mapped scalar among arrays has the first axis alone
    sharding = splits.of_broadcast(map(get_aval, aligned), full, places)
    return prim.bind(*(x if s == () or len(s) == len(full) and d is not None else implied_broadcast(
        x, full, where or range(1, len(full)), sharding) for x, s, d, where in zip(aligned, shapes, dims, places)), **params), 0


def batch_fun(fun: Callable, axis: AxisData, in_dims: Sequence[int | None], tag: object | None = None) -> tuple[Callable, Callable]:
    """``fun`` (flat, returns a sequence) on a batch; ``tag`` is that of the `vmap` whose values it may close over.

    Returns:
      the batched function, and a function that gives the dims of its results after a call.
    """
    dims_of_last_call: list = []

    def batched(*args):
        trace = BatchTrace(context.state.trace, axis, tag)
        tracers = [trace.box(x, d) for x, d in zip(args, in_dims)]
        with context.Use(trace), in_scope(axis):
            outs = fun(*tracers)
        pairs = [trace.unbox(x) for x in outs]
        dims_of_last_call[:] = [d for _, d in pairs]
        values = [x for x, _ in pairs]
        if flags.check_tracer_leaks.value:
            watched = weakref.ref(trace)
            del trace, tracers, outs, pairs
            check_leaks(watched, "It was made by vmap.")
        return values
    return batched, lambda: list(dims_of_last_call)


def in_scope(axis: AxisData) -> context.Scope:
    """The scope in which a named axis is bound; that in force for an axis without name."""
    return context.with_axes() if axis.name is None else context.with_axes(axis)


def in_front(args: Sequence[object], dims: Sequence[Any]) -> tuple[list, list]:
    """``args`` with their mapped axes first, and what `batch_jaxpr` is told of them; values of high-level types stay as they are."""
    return ([x if isinstance(d, MappingSpec) else moved(x, d, 0) for x, d in zip(args, dims)],
            [d if isinstance(d, MappingSpec) else d is not None for d in dims])


def dims_of(batched: Sequence[bool | MappingSpec]) -> list:
    """Where the mapped axes are, of what `batch_jaxpr` says of values."""
    return [b if isinstance(b, MappingSpec) else 0 if b else None for b in batched]


def batch_jaxpr(closed: ClosedJaxpr, axis: AxisData, in_batched: Sequence[bool | MappingSpec],
                instantiate: bool | Sequence[bool] = False) -> tuple[ClosedJaxpr, list[bool]]:
    """``closed`` on batches whose mapped axes come first.

    Args:
      in_batched: which inputs have a mapped axis; of one of a high-level type, how it is mapped.
      instantiate: which results must have one (all, with True); others have one only if they need it.

    Returns:
      the batched program and which results have a mapped axis (first).
    """
    if isinstance(instantiate, bool):
        instantiate = [instantiate] * len(closed.jaxpr.outvars)
    key = ("batch", axis.key(), tuple(in_batched), tuple(instantiate))
    return closed.memo(key, lambda: _batch_jaxpr(closed, axis, in_batched, instantiate))


def _batch_jaxpr(closed, axis, in_batched, instantiate):
    out_batched: list[bool] = []

    def run(*args):
        fun, out_dims = batch_fun(lambda *xs: eval_jaxpr(closed.jaxpr, closed.consts, *xs), axis, dims_of(in_batched))
        outs = fun(*args)
        dims = out_dims()
        out_batched[:] = [d if isinstance(d, MappingSpec) else d is not None or force and not get_aval(x).is_high
                          for x, d, force in zip(outs, dims, instantiate)]
        return [x if isinstance(b, MappingSpec) or not b else matchaxis(axis, x, d, 0) for x, d, b in zip(outs, dims, out_batched)]

    avals = [a.inc_rank(axis.size, b) if isinstance(b, MappingSpec) else unmapped_aval(a, axis.size, 0, axis.explicit_mesh_axis) if b else a
             for a, b in zip(closed.in_avals, in_batched)]
    jaxpr, consts, _ = trace_to_jaxpr(run, avals, closed.jaxpr.debug_info)
    batched = ClosedJaxpr(jaxpr, consts)
    return batched, list(out_batched)
