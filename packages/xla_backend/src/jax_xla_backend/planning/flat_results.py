"""Which results of a program are better written as vectors?

XLA's CPU compiler makes a loop of each axis of an array. In programs whose loops are unrolled (`unrolling`) LLVM unrolls the last one where it is short, which
is much code, or has no vectors: Adam on weights of 3 x 3 x 32 x 16 compiles in half the time as one loop over all elements, and runs faster
(`benchmarks/programs/short_weights.py`). All arrays of its kernel must be read where the result is written, so that one index does for all. A barrier keeps the
shape out of the kernel; as results are in memory anyway, it costs nothing.
"""
from __future__ import annotations

from typing import Any

from jax_core.representation.aval import ShapedArray
from jax_core.representation.jaxpr import Jaxpr, JaxprEqn, Literal, makers
from jax_core.representation.traits import Kind

SHORT, LONG = 9, 32
"""Elements of a last axis, at least and at most: along fewer LLVM's code is short, and no longer loops are unrolled."""
EQUATIONS = 256
"""In a kernel, at most, that are looked at."""

_KINDS = (Kind.ELEMENTWISE, Kind.IDENTITY)
_UNKNOWN = (Kind.CALL, Kind.DRAW)


def flat_results(jaxpr: Jaxpr) -> set[int]:
    """``id(var)`` of the results of ``jaxpr``, the main function of a program, that are to be written so."""
    results = [v for v in jaxpr.outvars if type(v) is not Literal and _is_short(v.aval)]
    if not results:
        return set()
    made = makers(jaxpr)
    return {id(v) for v in results if v in made and made[v].primitive.traits.kind is Kind.ELEMENTWISE and _is_in_place(v, made)}


def _is_short(aval: Any) -> bool:
    is_array = isinstance(aval, ShapedArray) and hasattr(aval.dtype, "itemsize")
    return is_array and aval.ndim > 1 and SHORT <= aval.shape[-1] <= LONG and aval.size > aval.shape[-1]


def _is_in_place(result: Any, makers: dict[Any, JaxprEqn]) -> bool:
    """Whether all that computes ``result``, back to what is in memory, is elementwise, and its elements in their order."""
    todo, seen = [result], {result}
    while todo and len(seen) <= EQUATIONS:
        v = todo.pop()
        if v.aval.shape == ():
            continue
        if getattr(v.aval, "size", 0) != result.aval.size:
            return False
        maker = makers.get(v)
        if maker is None:
            continue
        traits = maker.primitive.traits
        keeps_order = traits.kind in _KINDS or traits.kind is Kind.VIEW and "permutation" not in maker.params
        if traits.kind in _UNKNOWN or traits.fused and not keeps_order and any([x.aval.shape != () for x in maker.invars]):
            return False
        if traits.fused:
            new = [x for x in maker.invars if type(x) is not Literal and x not in seen]
            todo += new
            seen.update(new)
    return not todo
