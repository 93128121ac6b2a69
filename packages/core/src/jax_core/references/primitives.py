"""The primitives on references, and what each kind of trace does with them.

`EvalTrace` runs them on a `Ref`; a trace that writes a program records them. Any other trace says only whether a reference
is its own (``holds``), how to make one (``new_ref``), how to read and write a whole one (``read_ref``, ``write_ref``), and
what may not be stored in one that is not its own (``refuse_change``). Parts are read and written on the
array that was read: a derivative or a batch of references needs no rules for indices, as arrays have them.

References are never differentiated or batched as operands of other primitives; see `discharge`.
"""
from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Callable, Literal, Mapping, Sequence

import numpy as np

from .. import backends
from ..configuration import context
from ..representation import splits
from ..representation.aval import AbstractRef, ShapedArray, get_aval
from ..representation.effects import AccumEffect, LocalRefEffect, ReadEffect, WriteEffect
from ..representation.primitive import Primitive, none
from ..traces.structural import convert_element_type_p, copy_p, instantiate
from ..traces.trace import Tracer, escaped
from . import indexing
from .indexing import WHOLE

if TYPE_CHECKING:
    from ..interfaces import Builder

_HANDLED = none("references are handled by the traces themselves")
DISCHARGED = none("references are discharged before a program is lowered")
LOCAL = frozenset({LocalRefEffect()})
_READ, _WRITE, _ACCUM = (frozenset({kind(0)}) for kind in (ReadEffect, WriteEffect, AccumEffect))


def is_ref(x: object) -> bool:
    """Whether ``x`` is a reference: a `Ref`, or a tracer for one."""
    try:
        return type(get_aval(x)) is AbstractRef
    except (TypeError, OverflowError):
        return False


class RefPrimitive(Primitive):
    """A primitive on references.

    Args:
      under: ``under(trace, args, params)``: what a trace does that neither runs nor writes down.
      run: ``run(*args, **params)``: what is done at once.
      on_contents: for primitives that read and write a part in a way of their own: ``on_contents(contents, *rest, **params) ->
        (result, new contents)``, new contents None where they stay.
      more_effects: ``more_effects(**params)``: effects besides ``effects``.
      in_kernel: see `Primitive`; by default the operation with all its parameters (`write_in_kernel`).
    """

    ref_primitive = True

    def __init__(self, name: str, *, out_type: Callable, effects: frozenset, under: Callable, run: Callable,
                 multiple_results: bool = False, arrow: Literal["read", "write"] | None = None,
                 on_contents: Callable | None = None, more_effects: Callable | None = None, in_kernel: Callable | None = None):
        super().__init__(name, out_type=out_type, effects=(lambda *_, **__: effects) if more_effects is None else (
                             lambda *_, **params: effects | more_effects(**params)), jvp=_HANDLED, transpose=_HANDLED,
                         batch=_HANDLED, lower=DISCHARGED, in_kernel=in_kernel or partial(write_in_kernel, name), impl=run,
                         multiple_results=multiple_results, takes_refs=True, arrow=arrow, splits=splits.as_told)
        self.under, self.on_contents = under, on_contents

    def bind(self, *args, **params):
        return context.state.trace.process_ref(self, args, params)


def write_in_kernel(name: str, b: Builder, *operands: Any, index: Any | None = None, **params: Any) -> Any:
    """The rule ``in_kernel`` of an operation on memory: a call of ``kernel.name`` for the kernel's compiler to take apart.

    Its text after the name has the static part of the index (`Index.code`), and the other parameters in the order of their names.
    """
    code = "|".join([*([] if index is None else [index.code()]), *(str(params[k]) for k in sorted(params))])
    out = list(b.out_avals)
    found = b.emit(f"stablehlo.custom_call @kernel.{name}({', '.join(map(str, operands))})", *operands, out=out,
                   attrs=f'{{has_side_effect = true, backend_config = "{code}"}}')
    return found[0] if found else found


class Cell:
    """A reference as a Python object that holds an array, while it is discharged."""

    __slots__ = ("value", "written", "ended")

    def __init__(self, value: Any):
        self.value, self.written, self.ended = value, False, False

    def set(self, value: object) -> None:
        self.value, self.written = value, True

    def shared(self) -> Any:
        return self.value


class EagerCell(Cell):
    """What a `Ref` made outside of transformations holds: always an array of the backend.

    As long as nobody else has that array (``own``), a compiled program may write into its memory.
    """

    __slots__ = ("own",)

    def __init__(self, value: Any):
        super().__init__(None)
        self.set(value)

    def set(self, value: object) -> None:
        value = strong(value)
        self.value = backends.get().put(value, get_aval(value)) if isinstance(value, np.generic) else value
        self.own = False

    def give(self, value: object) -> None:
        """Hold ``value``, which nobody else has."""
        self.value, self.own = value, True

    def take(self) -> Any:
        """An array with the contents that nobody else has."""
        return self.value if self.own else copy_p.bind(self.value)

    def shared(self) -> Any:
        """The array, for somebody else to keep."""
        self.own = False
        return self.value


class RefTangent:
    """The tangent of a reference, held by another reference."""

    __slots__ = ("ref",)

    def __init__(self, ref: Any):
        self.ref = ref

    @property
    def value(self) -> Any:
        return get_p.bind(self.ref, index=WHOLE)

    def set(self, value: object) -> None:
        swap_p.bind(self.ref, instantiate(value), index=WHOLE)


TANGENT_REFS = (Cell, RefTangent)
"""What the tangent of a reference is."""


# -- types -----------------------------------------------------------------------------------------------------------

def _require_ref(name: str, aval: Any) -> None:
    if type(aval) is not AbstractRef:
        raise ValueError(f"{name} must be called on a reference (jax.new_ref), got a value of type {aval}")


def _get_type(ref, *operands, index):
    _require_ref("ref.get", ref)
    return _part(ref, indexing.part_shape(ref.shape, index, operands))


def _part(ref, shape):
    """The type of a part of what ``ref`` holds."""
    return ShapedArray(shape, ref.dtype, sharding=splits.part_placement(ref.inner_aval, shape))


def _check_value(name, ref, value, index, operands):
    _require_ref(name, ref)
    shape = indexing.part_shape(ref.shape, index, operands)
    if type(value) is AbstractRef:
        raise ValueError(f"{name}: a reference of type {value} cannot be stored in another one; store its contents, ref[...]")
    if value.dtype != ref.dtype:
        raise ValueError(f"{name}: a value of dtype {value.dtype} cannot be stored in a reference of type {ref}; convert it "
                         f"with .astype({ref.dtype.name!r}) first")
    if value.shape != shape:
        raise ValueError(f"{name}: a value of shape {value.shape} cannot be stored in {ref}{index.text([], ref.shape)}, which "
                         f"has shape {shape}; references do not broadcast what is stored in them")
    return shape


def _swap_type(ref, value, *operands, index):
    return _part(ref, _check_value("ref.swap", ref, value, index, operands))


def _addupdate_type(ref, value, *operands, index):
    _check_value("ref.addupdate", ref, value, index, operands)
    return ()


def _freeze_type(ref):
    _require_ref("freeze", ref)
    return ref.inner_aval


def _free_type(ref):
    _require_ref("free_ref", ref)
    return ()


# -- running at once -------------------------------------------------------------------------------------------------

def strong(x: object) -> Any:
    """``x`` without weak type, as something that has the operators of arrays; a rank-0 constant as a NumPy scalar."""
    aval = get_aval(x)
    if isinstance(x, (bool, int, float, complex, np.generic, np.ndarray)):
        x = np.asarray(x, aval.dtype)
        return x[()] if x.shape == () else backends.get().put(x, aval.strip_weak_type())
    return convert_element_type_p.bind(x, new_dtype=aval.dtype, weak_type=False) if aval.weak_type else x


def cell_of(name: str, ref: object) -> Cell:
    cell: Any = getattr(ref, "_cell", None)
    if cell is None:
        if isinstance(ref, Tracer):
            raise escaped(ref)
        _require_ref(name, get_aval(ref))
    return cell


def on_cell(prim: Primitive, cell: Cell, rest: Sequence[object], params: dict) -> Any:
    """The result of ``prim`` (reading, writing, freezing) on a reference that is a `Cell`."""
    if cell.ended:
        raise ValueError(f"{prim.name}: a mutable reference was used after jax.freeze or jax.free_ref ended it")
    if isinstance(prim, RefPrimitive) and prim.on_contents is not None:
        result, contents = prim.on_contents(cell.value, *rest, **params)
        if contents is not None:
            cell.set(contents)
        return result
    if prim is get_p:
        index = params["index"]
        return indexing.read(cell.value, index, rest) if index.entries else cell.shared()
    if prim is swap_p:
        value, *operands = rest
        before = indexing.read(cell.value, params["index"], operands) if params["index"].entries else cell.shared()
        cell.set(indexing.write(cell.value, params["index"], operands, strong(value)))
        return before
    if prim is addupdate_p:
        value, *operands = rest
        cell.set(indexing.accumulate(cell.value, params["index"], operands, strong(value)))
        return []
    cell.ended = type(cell) is Cell  # a reference made outside of transformations may be frozen again
    return cell.shared() if prim is freeze_p else []


def _run(prim, ref, *rest, **params):
    cell = cell_of(prim.name, ref)
    if prim is swap_p or prim is addupdate_p:
        prim.out_type(get_aval(ref), *map(get_aval, rest), **params)
    return on_cell(prim, cell, rest, params)


# -- under other traces ----------------------------------------------------------------------------------------------

def _get_under(trace, args, params):
    ref, *operands = args
    if trace.holds(ref):
        return indexing.read(trace.read_ref(ref), params["index"], operands)
    if any(map(trace.holds, operands)):
        whole = trace.parent.process_ref(get_p, (ref,), {"index": WHOLE})
        return indexing.read(whole, params["index"], operands)
    return trace.parent.process_ref(get_p, args, params)


def _change_under(prim, trace, args, params):
    ref, value, *operands = args
    if not trace.holds(ref):
        trace.refuse_change(prim, ref, value)
        return trace.parent.process_ref(prim, args, params)
    prim.out_type(get_aval(ref), get_aval(value), *map(get_aval, operands), **params)
    cell = Cell(trace.read_ref(ref))
    result = on_cell(prim, cell, (value, *operands), params)
    trace.write_ref(ref, cell.value)
    return result


def _end_under(prim, trace, args, params):
    ref, = args
    if not trace.holds(ref):
        return trace.parent.process_ref(prim, args, params)
    return trace.read_ref(ref) if prim is freeze_p else []


get_p: RefPrimitive = RefPrimitive(
    "get", out_type=_get_type, effects=_READ, arrow="read", under=_get_under, run=lambda *args, **kw: _run(get_p, *args, **kw))
swap_p: RefPrimitive = RefPrimitive(
    "swap", out_type=_swap_type, effects=_WRITE, arrow="write", run=lambda *args, **kw: _run(swap_p, *args, **kw),
    under=lambda *args: _change_under(swap_p, *args))
addupdate_p: RefPrimitive = RefPrimitive(
    "addupdate", out_type=_addupdate_type, effects=_ACCUM, arrow="write", run=lambda *args, **kw: _run(addupdate_p, *args, **kw),
    under=lambda *args: _change_under(addupdate_p, *args), multiple_results=True)
freeze_p: RefPrimitive = RefPrimitive(
    "freeze", out_type=_freeze_type, effects=LOCAL, run=lambda ref: _run(freeze_p, ref),
    under=lambda *args: _end_under(freeze_p, *args))
free_ref_p: RefPrimitive = RefPrimitive(
    "free_ref", out_type=_free_type, effects=LOCAL, run=lambda ref: _run(free_ref_p, ref),
    under=lambda *args: _end_under(free_ref_p, *args), multiple_results=True)


def ref_primitive(name: str, *, out_type: Callable, on_contents: Callable, reads: bool = True, writes: bool = True,
                  multiple_results: bool = False, more_effects: Callable | None = None, in_kernel: Callable | None = None) -> RefPrimitive:
    """A primitive that reads or writes a part of its first operand in a way of its own, as `RefPrimitive.on_contents` says.

    >>> from jax_core.references.primitives import ref_primitive
    >>> double_p = ref_primitive("double", out_type=lambda ref: [], on_contents=lambda x: ([], x + x), multiple_results=True)
    >>> ref = jax.new_ref(jnp.ones(2))
    >>> _ = double_p.bind(ref)
    >>> ref[...]
    Array([2., 2.], dtype=float32)
    """
    def run(*args, **params):
        prim.out_type(*map(get_aval, args), **params)
        return on_cell(prim, cell_of(name, args[0]), args[1:], params)

    def under(trace, args, params: Mapping[str, object]):
        ref, *rest = args
        if not trace.holds(ref):
            if writes:
                for value in rest:
                    trace.refuse_change(prim, ref, value)
            elif any(map(trace.holds, rest)):
                return on_contents(trace.parent.process_ref(get_p, (ref,), {"index": WHOLE}), *rest, **params)[0]
            return trace.parent.process_ref(prim, args, params)
        prim.out_type(*map(get_aval, args), **params)
        result, contents = on_contents(trace.read_ref(ref), *rest, **params)
        if contents is not None:
            trace.write_ref(ref, contents)
        return result
    effects = (_READ if reads else frozenset()) | (_WRITE if writes else frozenset())
    prim = RefPrimitive(name, out_type=out_type, effects=effects, under=under, run=run, on_contents=on_contents,
                        multiple_results=multiple_results, more_effects=more_effects, in_kernel=in_kernel)
    return prim
