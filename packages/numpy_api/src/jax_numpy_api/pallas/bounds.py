"""Reads and stores beyond the end of a reference, as `InterpretParams` asks the interpreter to treat them.

Elsewhere a part that would run over the end is moved until it fits, as by `lax.dynamic_slice`. Here each access whose place is computed looks first:
a store beyond the end is an error, and so is a read, or it gives elements that are not specified. A kernel's program is rewritten for that.
"""
from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from jax_core.references import indexing
from jax_core.references.primitives import RefPrimitive, addupdate_p, get_p, ref_primitive, swap_p
from jax_core.representation.aval import ShapedArray
from jax_core.representation.jaxpr import ClosedJaxpr
from jax_core.representation.primitive import Primitive, none

from .. import numpy as jnp
from ..lax.control_flow.common import run_eagerly
from ..lax.control_flow.cond import cond
from .memory import positions
from .uninitialized import uninitialized_value


def _fail(access: str, shape: tuple, text: str, *starts: Any) -> Any:
    raise IndexError(f"a kernel {access} the part {text} of a reference of shape {shape}, at {', '.join(str(int(x)) for x in starts)}: beyond its end. "
                     "InterpretParams(out_of_bounds_reads='uninitialized') lets it read there.")


def _lower(b, *starts, what):
    return b.host_callback(lambda *xs: _fail(*what, *xs), starts, b.out_avals, has_side_effect=False, name="out_of_bounds")


_RUN_ONLY = none("it is made when a kernel is lowered to be interpreted, after all transformations")
out_of_bounds_p: Primitive = Primitive(
    "out_of_bounds", multiple_results=True, cacheable=False, out_type=lambda *avals, what: [ShapedArray(a.shape, a.dtype) for a in avals],
    jvp=_RUN_ONLY, transpose=_RUN_ONLY, batch=_RUN_ONLY, lower=_lower, impl=lambda *args, **params: run_eagerly(out_of_bounds_p, args, params))
"""Its operands; in fact an error, whose text they are part of."""


def _inside(shape: Sequence[int], index: indexing.Index, operands: Sequence[Any]) -> Any:
    """Whether the part that ``operands`` place is inside, None where none does."""
    moving, found = iter(operands), None
    for e, n in zip(index.entries, shape):
        if type(e) is indexing.Slice and e.start is None:
            start = next(moving)
            this = (start >= 0) & (start + (e.size - 1) * e.stride < n)
        elif e is None:
            start = next(moving)
            this = jnp.all((start >= 0) & (start < n))
        else:
            continue
        found = this if found is None else found & this
    return found


def _checked(access: str, contents: Any, index: indexing.Index, operands: Sequence[Any]) -> Sequence[Any]:
    """The operands, when they place a part inside of ``contents``; else an error, when the program runs."""
    inside = _inside(np.shape(contents), index, operands)
    if inside is None or any(np.ndim(x) for x in operands):
        return operands
    what = access, np.shape(contents), repr(index)
    return cond(inside, lambda *xs: list(xs), lambda *xs: out_of_bounds_p.bind(*xs, what=what), *map(jnp.asarray, operands))


def _read(contents, *operands, index):
    return indexing.read(contents, index, _checked("reads", contents, index, operands)), None


def _read_anything(contents, *operands, index):
    if _inside(np.shape(contents), index, operands) is None or (key := positions(contents, index, operands)) is None:
        return indexing.read(contents, index, operands), None
    return contents.at[key].get(mode="fill", fill_value=uninitialized_value(contents.dtype), wrap_negative_indices=False), None


def _store(contents, part, *operands, index):
    operands = _checked("stores", contents, index, operands)
    return indexing.read(contents, index, operands), indexing.write(contents, index, operands, part)


def _add(contents, part, *operands, index):
    return [], indexing.accumulate(contents, index, _checked("stores", contents, index, operands), part)


def _guard(prim: RefPrimitive, on_contents: Any, **options: Any) -> RefPrimitive:
    return ref_primitive(f"guarded_{prim.name}", out_type=prim.out_type, on_contents=on_contents, **options)


_STORES = {swap_p: _guard(swap_p, _store), addupdate_p: _guard(addupdate_p, _add, multiple_results=True)}
_GUARDED = {"raise": {get_p: _guard(get_p, _read, writes=False), **_STORES},
            "uninitialized": {get_p: _guard(get_p, _read_anything, writes=False), **_STORES}}


def guarded(closed: ClosedJaxpr, mode: str) -> ClosedJaxpr:
    """``closed`` with reads and stores that look where they are; ``mode``: what `InterpretParams.out_of_bounds_reads` says."""
    return closed.memo(("guarded", mode), lambda: _rewritten(closed, _GUARDED[mode]))


def _rewritten(closed: ClosedJaxpr, instead: dict) -> ClosedJaxpr:
    def inside(x: Any) -> Any:
        if type(x) is ClosedJaxpr:
            return _rewritten(x, instead)
        return tuple(map(inside, x)) if type(x) is tuple and x and type(x[0]) is ClosedJaxpr else x
    eqns = [e.replace(primitive=instead.get(e.primitive, e.primitive), params={k: inside(v) for k, v in e.params.items()}) for e in closed.jaxpr.eqns]
    return ClosedJaxpr(closed.jaxpr.replace(eqns=eqns), closed.consts)
