"""Manual regions: programs that every device runs on its own part (the bodies of `shard_map`).

Inside a region the axes of a device mesh are named axes, and collectives communicate along them. In a *checked* region
the type of a value says over which of these axes it varies (``aval.vma``); over the others it is equal on all devices.
Two operations change that: `pvary` gives up the knowledge that a value is equal, and `psum_invariant` sums over an axis,
which makes equal what varied. Each is the transpose of the other, and that makes derivatives right: where a value that
is equal everywhere meets one that varies, `pvary` is put in between, so that its cotangent is the sum over the devices.

A value may also be *unreduced* over an axis, a sum of what the devices have that is still to be made, or *reduced*: equal, with a cotangent
that is unreduced (``aval.sums``, see `jax_core.representation.partial_sums`). ``preduced`` says of what is equal that it is reduced, and
``unreduced_psum`` makes the sum: each is the transpose of the other. So are ``reduced_vary_cast``, put in where a reduced value meets one
that varies, and ``vary_unreduced_cast``, which counts parts as addends.

Operands are brought to agree by the traces that are made inside a region (``Trace.agree``), before they apply any rule, so no
rule of any primitive knows of this. Primitives that hold programs have programs that vary as their operands do: the loops that rules and our
own functions make are brought to a fixed point, while of a user's loop the carry must vary alike before and after a step.

Source: the collectives of the StableHLO specification; the typing by "varying manual axes" of the public documentation
of `jax.shard_map`.
"""
from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Callable, Hashable, Iterable, Mapping, Sequence

import numpy as np

from ..configuration import context, flags
from ..representation import dtypes
from ..representation.aval import AbstractValue
from ..representation.jaxpr import ClosedJaxpr, eval_jaxpr
from ..representation.manual_axis_type import UnreducedKind
from ..representation.marks import LINEAR
from ..representation.partial_sums import NOTHING, Sums
from ..representation.primitive import NO_AXES, Primitive, Zero, none
from ..representation.traits import Kind, Traits
from ..traces.staging import trace_to_jaxpr
from ..traces.structural import reduce_sum
from ..traces.trace import Tracer

if TYPE_CHECKING:
    from ..interfaces import Builder, Value
    from ..representation.aval import ShapedArray
    from .batching import AxisData

AxisName = Hashable
Groups = Sequence[Sequence[int]] | None


# -- the region that is being traced ---------------------------------------------------------------------------------

class ManualAxis:
    """A mesh axis in scope as a named axis. ``checked``: types say what varies over it."""

    __slots__ = ("name", "size", "checked")

    def __init__(self, name: AxisName, size: int, checked: bool):
        self.name, self.size, self.checked = name, size, checked

    def key(self) -> tuple:
        return self.name, self.size, "manual", self.checked

    def __repr__(self):
        return f"ManualAxis(name={self.name!r}, size={self.size})"


def region(sizes: Mapping[AxisName, int], checked: bool) -> context.Scope:
    """``with region(sizes, checked):`` the code inside belongs to a manual region over these axes."""
    scope = context.with_axes(*(ManualAxis(name, size, checked) for name, size in sizes.items()))
    return context.Scope(scope.axes, agree) if checked else scope


def axes_in_scope() -> tuple[tuple[AxisName, int], ...]:
    """Names and sizes of the axes of the regions that the code being traced belongs to."""
    return tuple((name, axis.size) for name, axis in context.state.axes if isinstance(axis, ManualAxis))


def unchecked() -> context.Scope:
    """``with unchecked():`` the axes of the region stay in scope, and types say nothing of them: for bodies of kernels."""
    return context.Scope(tuple((name, ManualAxis(name, axis.size, False) if isinstance(axis, ManualAxis) else axis)
                               for name, axis in context.state.axes), None)


def is_checked(name: AxisName) -> bool:
    """Whether ``name`` is an axis of a checked region."""
    for bound, axis in reversed(context.state.axes):
        if bound == name:
            return getattr(axis, "checked", False)
    return False


def in_region() -> bool:
    """Whether code of a manual region is being traced."""
    return any(isinstance(axis, ManualAxis) for _, axis in context.state.axes)


def varying(x: object) -> frozenset:
    """The manual axes over which ``x`` varies."""
    return x.aval.vma if isinstance(x, Tracer) else NO_AXES


# -- agreement of operands -------------------------------------------------------------------------------------------

def agree(prim: Primitive, args: Sequence[object], params: dict) -> tuple[Sequence[Any], dict]:
    """Operands that vary over the same axes, and programs among the parameters that expect them as they are."""
    rule = prim.agree
    if rule is not None:
        return rule(args, params)
    if prim.holds_program:
        return _agree_with_program(prim, args, params)
    if len(args) < 2:
        return args, params
    axes = [varying(x) for x in args]
    joint = NO_AXES.union(*axes)
    if not joint:
        return args, params
    if not flags.auto_pcast.value and any(a != joint for a in axes):
        raise ValueError(f"{prim.name} requires varying manual axes to match where jax_auto_pcast is off, got "
                         f"{[sorted(map(str, a)) for a in axes]}; give lax.pcast(..., to='varying') to the operands that vary over fewer axes.")
    if all(a == joint or not isinstance(x, Tracer) for a, x in zip(axes, args)):
        return args, params
    return [pvary(x, joint - a) if isinstance(x, Tracer) else x for x, a in zip(args, axes)], params


def _agree_with_program(prim, args, params):
    """One program on these operands: it is typed anew where an operand varies more than the program knows."""
    name = prim.program
    if name is None:
        return args, params
    closed = params[name]
    expected = [a.vma for a in closed.in_avals]
    given = [varying(x) for x in args]
    if any(g - e for g, e in zip(given, expected)):
        closed = retyped(closed, [g | e for g, e in zip(given, expected)])
        params = {**params, name: closed}
    return args, params


def pvary(x: object, axes: Iterable[AxisName]) -> Any:
    """``x``, counted as varying over ``axes`` too."""
    axes = tuple(axes)
    reduced = [a for a in axes if a in x.aval.sums.reduced] if isinstance(x, Tracer) else ()
    if reduced:
        x, axes = reduced_vary_p.bind(x, axes=tuple(reduced)), tuple(a for a in axes if a not in reduced)
    return pvary_p.bind(x, axes=axes) if axes else x


def psum_over(x: object, axes: Iterable[AxisName]) -> Any:
    """The sum of ``x`` over manual axes."""
    axes = tuple(axes)
    return psum_invariant_p.bind(x, axes=axes) if axes else x


def settled(ct: object, aval: AbstractValue) -> Any:
    """A cotangent for a value of type ``aval``: summed over the axes over which it varies and the value does not.

    Raises:
      ValueError: the value is reduced, and the cotangent is no sum that is still to be made over the same axes.
    """
    if isinstance(ct, Zero) or context.state.manual is None:
        return ct
    parts = in_order(varying(ct) & aval.sums.reduced)  # each device's own
    if parts:
        ct = vary_unreduced_p.bind(ct, axes=parts)
    ct = psum_over(ct, in_order(varying(ct) - aval.vma))
    if aval.sums is NOTHING or not isinstance(ct, Tracer):
        return ct
    missing = in_order(aval.sums.unreduced - ct.aval.sums.reduced)
    ct = preduced_p.bind(ct, axes=missing) if missing else ct
    if ct.aval.sums.unreduced != aval.sums.reduced:
        raise ValueError(f"the cotangent of a value of type {aval.str_short()} must be unreduced over the axes that the value is reduced over, and "
                         f"its type is {ct.aval.str_short()}; give the value to lax.pcast(..., to='varying') first.")
    return ct


def in_order(axes: frozenset) -> tuple:
    """The axes in the order in which they came into scope."""
    return tuple(name for name, _ in context.state.axes if name in axes) if axes else ()


def retyped(closed: ClosedJaxpr, in_axes: Sequence[frozenset], out_axes: Sequence[frozenset] | None = None,
            in_sums: Sequence[Sums] | None = None) -> ClosedJaxpr:
    """``closed`` for inputs that vary over ``in_axes`` and have ``in_sums``, with results that vary over ``out_axes`` at least."""
    in_sums = [a.sums for a in closed.in_avals] if in_sums is None else in_sums
    if all(a.vma == w and a.sums == s for a, w, s in zip(closed.in_avals, in_axes, in_sums)) and (
            out_axes is None or all(w <= a.vma for a, w in zip(closed.out_avals, out_axes))):
        return closed

    def make():
        def run(*args):
            outs = eval_jaxpr(closed.jaxpr, closed.consts, *args)
            return outs if out_axes is None else [pvary(x, in_order(w - varying(x))) for x, w in zip(outs, out_axes)]
        avals = [a if a.vma == w and a.sums == s else a.update(vma=w, sums=s) for a, w, s in zip(closed.in_avals, in_axes, in_sums)]
        jaxpr, consts, _ = trace_to_jaxpr(run, avals, closed.jaxpr.debug_info)
        return ClosedJaxpr(jaxpr, consts)
    key = ("retyped", tuple(in_axes), tuple(in_sums), None if out_axes is None else tuple(out_axes),
           tuple(axis.key() for _, axis in context.state.axes))
    return closed.memo(key, make)


def loop_axes(body: ClosedJaxpr, given: Sequence[frozenset], carry: slice, more: Callable = lambda axes: NO_AXES) -> list[frozenset]:
    """What the inputs of a loop body vary over, when what a step adds to the carry is added until nothing changes.

    Args:
      given: what the operands vary over.
      carry: which of the inputs are the carry; the results of the body begin with it.
      more: what a condition on these inputs varies over, which all of the carry then does.
    """
    axes = [g | a.vma for g, a in zip(given, body.in_avals)]
    while True:
        typed, extra = retyped(body, axes), more(axes)
        after = [a.vma | extra for a in typed.out_avals]
        grown = list(axes)
        grown[carry] = [a | b for a, b in zip(axes[carry], after)]
        if grown == axes:
            return axes
        axes = grown


def vary_to(args: Sequence[object], axes: Sequence[frozenset]) -> list:
    """Each operand, counted as varying over its axes."""
    return [pvary(x, in_order(want - varying(x))) if isinstance(x, Tracer) else x for x, want in zip(args, axes)]


def vary_jointly(args: Sequence[object]) -> list:
    """The operands, each counted as varying over all the axes that one of them varies over.

    For loops that differentiate in their body: the cotangent of an operand that is equal everywhere is a sum over devices, for which
    they would wait for each other, while each of them makes its own number of steps.
    """
    joint = NO_AXES.union(*map(varying, args))
    return [pvary(x, in_order(joint - varying(x))) for x in args] if joint else list(args)


# -- operations that change what is equal -------------------------------------------------------------------------------------------

def all_reduce(b: Builder, op: str, x: Value, attributes: str) -> Value:
    """``stablehlo.all_reduce`` with ``op``."""
    def reduced(x):
        return b.emit(f'"stablehlo.all_reduce"({x}) ({b.reducer(op, x.aval.dtype)})', x, out=x.aval, attrs=f"{{{attributes}}}")
    return sum_of_parts(b, x, reduced) if op == "stablehlo.add" else in_bytes(b, x, reduced)


def in_bytes(b: Builder, x: Value, collective: Callable[[Value], Value]) -> Value:
    """``collective(x)``; integers of 2 bits are sent as bytes, since on the CPU XLA reduces none, and writes beside those that it moves."""
    dtype = x.aval.dtype
    return b.convert(collective(b.convert(x, np.dtype(np.int8))), dtype) if dtypes.itemsize_bits(dtype) == 2 else collective(x)


def sum_of_parts(b: Builder, x: Value, summed: Callable[[Value], Value]) -> Value:
    """``summed(x)``, a sum over devices; of complex numbers the parts are summed apart: where XLA sees that all devices have the same, it multiplies by
    their number instead, and that ends the process where the numbers are complex."""
    if x.aval.dtype.kind != "c":
        return in_bytes(b, x, summed)
    part = x.aval.update(dtype=dtypes.to_floating_dtype(x.aval.dtype))
    real, imag = [summed(b.emit(f"stablehlo.{name} {x}", x, out=part)) for name in ("real", "imag")]
    return b.emit(f"stablehlo.complex {real}, {imag}", real, imag, out=real.aval.update(dtype=x.aval.dtype))


def _all_reduce_lower(op):
    def lower(b: Builder, x: Value, *, axes: tuple[int, ...]):
        return all_reduce(b, op, x, env_of(b, axes).attributes(axes, None))
    return lower


def _without(aval, axes):
    return aval.update(vma=aval.vma.difference(axes))


def _psum_agree(args, params):
    """A value that is equal everywhere is summed as often as there are devices."""
    (x,), axes = args, params["axes"]
    return [pvary(x, [a for a in axes if is_checked(a) and a not in varying(x)])], params


def _pvary_type(x, *, axes):
    if x.sums.unreduced.intersection(axes):
        raise ValueError(f"an operand of type {x.str_short()} is unreduced over the mesh axes {tuple(axes)}, and is to count as varying over "
                         "them, as another operand does or a collective asks; make the sum first, by lax.psum or lax.psum_scatter.")
    return x.update(vma=x.vma.union(axes))


def _pvary_agree(args, params):
    """Where a program is typed anew, an operand may vary already: then nothing is left to do, nor to sum on the way back."""
    return args, {"axes": tuple(a for a in params["axes"] if a not in varying(args[0]))}


def _pvary_batch(axis, args, dims, *, axes):
    return pvary(args[0], [a for a in axes if a != axis.name]), dims[0]


def _psum_batch(axis, args, dims, *, axes):
    """Over the mapped axis itself the sum is made here: of copies a multiple."""
    (x,), (d,) = args, dims
    if axis.name not in axes:
        return psum_invariant_p.bind(x, axes=axes), d
    total = x * axis.size if d is None else reduce_sum(x, (d,))
    return psum_over(total, [a for a in axes if a != axis.name]), None


def _psum_transpose(ct, x, *, axes):
    return pvary(ct, [a for a in axes if is_checked(a) and a not in varying(ct)])


pvary_p = Primitive(
    "pvary", cacheable=False, out_type=_pvary_type, jvp=LINEAR,
    transpose=lambda ct, x, *, axes: psum_over(ct, axes), batch=_pvary_batch, lower=lambda b, x, *, axes: x,
    impl=lambda x, *, axes: x,
    own_type=True, agree=_pvary_agree, traits=Traits(Kind.IDENTITY))

psum_invariant_p = Primitive(
    "psum_invariant", cacheable=False, out_type=lambda x, *, axes: _without(x, axes), jvp=LINEAR, transpose=_psum_transpose,
    batch=_psum_batch, lower=_all_reduce_lower("stablehlo.add"),
    own_type=True, agree=_psum_agree, traits=Traits(Kind.ALL_REDUCE))


# -- sums that are still to be made -------------------------------------------------------------------------------------

def _with_sums(aval: AbstractValue, more: Sequence = (), less: Sequence = (), reduced: bool = False, vma: Any = None) -> AbstractValue:
    """``aval`` with other axes in one of its sets, and what it varies over changed to ``vma``."""
    unreduced, whole, kind = aval.sums
    old = whole if reduced else unreduced
    new = (old - frozenset(less)) | frozenset(more)
    sums = Sums(unreduced, new, kind) if reduced else Sums(new, whole, (kind or UnreducedKind.sum) if new else None)
    return aval.update(sums=sums, **({} if vma is None else {"vma": vma}))


def _check_has(name: str, aval: AbstractValue, axes: Sequence, found: frozenset, what: str) -> None:
    missing = [a for a in axes if a not in found]
    if missing:
        raise ValueError(f"{name}: the operand of type {aval.str_short()} is not {what} over the mesh axis {missing[0]!r}.")


def _preduced_type(x, *, axes):
    mine = x.vma | x.sums.unreduced | x.sums.reduced
    if mine.intersection(axes):
        raise ValueError(f"preduced: the operand of type {x.str_short()} must be equal over the mesh axes {tuple(axes)}.")
    return _with_sums(x, axes, reduced=True)


def _reduction_type(name, kind):
    def out_type(x: ShapedArray, *, axes: tuple[int, ...]):
        _check_has(name, x, axes, x.sums.unreduced, "unreduced")
        if x.sums.kind is not kind:
            raise ValueError(f"{name}: the operand of type {x.str_short()} has unreduced_kind={x.sums.kind}, expected {kind}.")
        return _with_sums(x, less=axes)
    return out_type


def _reduced_vary_type(x, *, axes):
    _check_has("reduced_vary_cast", x, axes, x.sums.reduced, "reduced")
    return _with_sums(x, less=axes, reduced=True, vma=x.vma.union(axes))


def _vary_unreduced_type(x, *, axes):
    _check_has("vary_unreduced_cast", x, axes, x.vma, "varying")
    return _with_sums(x, axes, vma=x.vma.difference(axes))


def _type_cast(name, out_type, transpose):
    """An operation that changes only the type."""
    def batch(axis: AxisData, args, dims: Sequence[int | None], *, axes: tuple[int, ...]):
        return prim.bind(*args, axes=axes), dims[0]
    prim = Primitive(
        name, cacheable=False, out_type=out_type, jvp=LINEAR, transpose=lambda ct, x, *, axes: transpose().bind(ct, axes=axes),
        batch=batch, lower=lambda b, x, *, axes: x, own_type=True, agree=_as_given, traits=Traits(Kind.IDENTITY))
    return prim


def _as_given(args, params):
    return args, params


def _reduction(name, kind, op, jvp, transpose):
    def batch(axis: AxisData, args, dims: Sequence[int | None], *, axes: tuple[int, ...]):
        return prim.bind(*args, axes=axes), dims[0]
    prim = Primitive(
        name, cacheable=False, out_type=_reduction_type(name, kind), jvp=jvp, transpose=transpose, batch=batch, lower=_all_reduce_lower(op),
        own_type=True, agree=_as_given, traits=Traits(Kind.ALL_REDUCE))
    return prim


preduced_p: Primitive = _type_cast("preduced", _preduced_type, lambda: unreduced_psum_p)
reduced_vary_p: Primitive = _type_cast("reduced_vary_cast", _reduced_vary_type, lambda: vary_unreduced_p)
vary_unreduced_p: Primitive = _type_cast("vary_unreduced_cast", _vary_unreduced_type, lambda: reduced_vary_p)

unreduced_psum_p: Primitive = _reduction("unreduced_psum", UnreducedKind.sum, "stablehlo.add", LINEAR,
                              lambda ct, x, *, axes: preduced_p.bind(ct, axes=axes))
_NOT_LINEAR = none("an extremum is not linear")
unreduced_pmax_p = _reduction("unreduced_pmax", UnreducedKind.max, "stablehlo.maximum", _NOT_LINEAR, _NOT_LINEAR)
unreduced_pmin_p = _reduction("unreduced_pmin", UnreducedKind.min, "stablehlo.minimum", _NOT_LINEAR, _NOT_LINEAR)


# -- lowering --------------------------------------------------------------------------------------------------------

class AxisEnv:
    """The named axes of the mesh that a program is being lowered for.

    Args:
      names, sizes: of all axes of the mesh, in the order of its devices.
      partitioned: devices are partitions of one program, not replicas (nor a single one).
      manual: the axes that collectives may name; default all.
      inner: writes a rule's operation in a place where all axes are manual, ``inner(b, emit, out)``; None if they are.
      symbol: the mesh's symbol in the module, where groups of devices can be written as its axes; None where they cannot.
    """

    __slots__ = ("names", "sizes", "partitioned", "manual", "inner", "symbol")

    def __init__(self, names: Sequence[AxisName], sizes: Sequence[int], partitioned: bool = True,
                 manual: Iterable[AxisName] | None = None, inner: Callable | None = None, symbol: str | None = None):
        self.names, self.sizes, self.partitioned = tuple(names), tuple(sizes), partitioned
        self.manual = frozenset(names if manual is None else manual)
        self.inner, self.symbol = inner, symbol

    def key(self) -> tuple:
        """Programs lowered under equal keys may share functions."""
        return self.names, self.sizes, self.partitioned, self.manual, self.symbol

    def groups(self, axes: Sequence[AxisName], within: Groups = None) -> list[list[int]]:
        """Groups of devices that differ in ``axes`` only; ``within`` divides each group further."""
        devices = np.arange(math.prod(self.sizes)).reshape(self.sizes)
        chosen = [self.names.index(a) for a in axes]
        rest = [i for i in range(len(self.names)) if i not in chosen]
        rows = devices.transpose(rest + chosen).reshape(-1, math.prod(self.sizes[i] for i in chosen)).tolist()
        return rows if within is None else [[row[i] for i in g] for row in rows for g in within]

    def channel(self, ids: bool = False) -> str:
        """The attribute that names the channel; partitions need one."""
        if not self.partitioned:
            return ""
        return ", channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>" + (
            ", use_global_device_ids" if ids else "")

    def attributes(self, axes: Sequence[AxisName], within: Groups, ids: bool = True) -> str:
        """Text of the attributes that say which devices take part."""
        if within is None and self.symbol is not None:
            named = ", ".join([f"#stablehlo.axis_ref<name = {json.dumps(str(a))}>" for a in axes])
            return f"replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @{self.symbol}, axes = [{named}]>{self.channel(ids)}"
        rows = self.groups(axes, within)
        return f"replica_groups = dense<{rows}> : tensor<{len(rows)}x{len(rows[0])}xi64>{self.channel(ids)}"


def env_of(b: Builder, axes: Sequence[AxisName]) -> AxisEnv:
    """The axes that ``b`` lowers for.

    Raises:
      NameError: ``axes`` are not axes of a mesh, so there is nothing to lower to.
    """
    env: AxisEnv | None = b.axis_env
    missing = [a for a in axes if env is None or a not in env.manual]
    if env is None or missing:
        raise NameError(f"Found an unbound axis name: {missing[0] if missing else axes}. The program that is being compiled refers to it, but "
                        "it is mapped neither by jax.vmap nor by jax.shard_map or jax.pmap.")
    return env


def axis_of(name: AxisName) -> frozenset:
    """What the position along ``name`` varies over: that axis, in a checked region."""
    return frozenset((name,)) if is_checked(name) else NO_AXES


__all__ = ["AxisEnv", "ManualAxis", "agree", "axis_of", "env_of", "in_order", "in_region", "is_checked",
           "loop_axes", "preduced_p", "psum_invariant_p", "psum_over", "pvary", "pvary_p", "reduced_vary_p", "region", "retyped", "settled", "unchecked",
           "unreduced_pmax_p", "unreduced_pmin_p", "unreduced_psum_p", "varying", "vary_to", "vary_unreduced_p"]
