"""StableHLO for control flow: `while` and `case` with tokens threaded through.

Regions read values of the surrounding function directly instead of having them passed through as operands; XLA adds
them as loop invariants where it needs them, so a loop's carry holds only what changes.

Source: StableHLO specification, `while`, `case`.
"""
from __future__ import annotations

from typing import Any, Callable, Iterable, Sequence

import numpy as np

from jax_core.aval import ShapedArray, abstract_token
from jax_core.dtypes import ExtendedDType
from jax_core.effects import Effect, ordered_effects

BOOL = ShapedArray((), np.dtype(bool))


def emit_while(b: Any, init: Sequence[Any], cond: Callable, body: Callable, effects: Iterable[Effect] = ()) -> list:
    """A loop with the values ``init`` as carry.

    Args:
      cond: ``cond(builder, *carry) -> predicate``, without ordered effects.
      body: ``body(builder, *carry) -> next carry``.
      effects: of the body; the ordered ones get a token in the carry.

    Returns:
      the carry after the last step.
    """
    ordered = ordered_effects(frozenset(effects))
    tokens = [b.token(e) for e in ordered]
    n = len(init)
    avals = [x.aval for x in init] + [abstract_token] * len(tokens)
    operands = [*init, *tokens]

    def cond_region(inner, *carry):
        return [cond(inner, *carry[:n])]

    def body_region(inner, *carry):
        for effect, token in zip(ordered, carry[n:]):
            inner.set_token(effect, token)
        outs = body(inner, *carry[:n])
        return [*outs, *(inner.token(e) for e in ordered)]

    names = ", ".join(map(str, operands))
    outs = b.emit(f'"stablehlo.while"({names}) ({b.region(avals, cond_region)}, {b.region(avals, body_region)})',
                  *operands, out=avals)
    for effect, token in zip(ordered, outs[n:]):
        b.set_token(effect, token)
    return list(outs[:n])


def emit_case(b: Any, index: Any, branches: Sequence[Callable], out_avals: Sequence[Any],
              effects: Iterable[Effect] = ()) -> list:
    """One of ``branches`` (``branch(builder) -> values``), chosen by the rank-0 int32 ``index``; out of range: the last."""
    ordered = ordered_effects(frozenset(effects))
    tokens = [b.token(e) for e in ordered]
    avals = [*out_avals, *(t.aval for t in tokens)]

    def region(branch):
        def emit(inner):
            for effect, token in zip(ordered, tokens):
                inner.set_token(effect, token)
            outs = branch(inner)
            return [*outs, *(inner.token(e) for e in ordered)]
        return b.region([], emit)

    regions = ", ".join(map(region, branches))
    outs = b.emit(f'"stablehlo.case"({index}) ({regions})', index, out=avals)
    for effect, token in zip(ordered, outs[len(out_avals):]):
        b.set_token(effect, token)
    return list(outs[:len(out_avals)])


def stack_buffer(b: Any, aval: Any) -> Any:
    """Zeros of type ``aval``, to be overwritten row by row; also for key arrays."""
    if not isinstance(aval.dtype, ExtendedDType):
        return b.full(0, aval)
    element = aval.dtype.physical_element_aval
    whole = b.full(0, ShapedArray((*aval.shape, *element.shape), element.dtype))
    return b.logical(whole, aval)


def add(b: Any, x: Any, y: Any) -> Any:
    return b.emit(f"stablehlo.add {x}, {y}", x, y, out=x.aval)


def subtract(b: Any, x: Any, y: Any) -> Any:
    return b.emit(f"stablehlo.subtract {x}, {y}", x, y, out=x.aval)


def less(b: Any, x: Any, y: Any) -> Any:
    """``x < y`` for signed integers of rank 0."""
    return b.emit(f"stablehlo.compare LT, {x}, {y}, SIGNED", x, y, out=BOOL)
