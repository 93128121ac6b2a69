"""StableHLO for control flow: `while` and `case` with tokens threaded through.

Regions read values of the surrounding function directly instead of having them passed through as operands; XLA adds
them as loop invariants where it needs them, so a loop's carry holds only what changes.

Source: StableHLO specification, `while`, `case`.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Iterable, Sequence

import numpy as np

from jax_core.representation.aval import ShapedArray, abstract_token
from jax_core.representation.dtypes import ExtendedDType
from jax_core.representation.effects import Effect, ordered_effects
from jax_core.representation.jaxpr import ClosedJaxpr, JaxprEqn

if TYPE_CHECKING:
    from jax_core.interfaces import Builder, Value
    from jax_core.representation.aval import AbstractValue

BOOL = ShapedArray((), np.dtype(bool))


def emit_while(b: Builder, init: Sequence[Value], cond: Callable, body: Callable, effects: Iterable[Effect] = ()) -> list:
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

    def cond_region(inner: Builder, *carry):
        with inner.within("cond"):
            return [cond(inner, *carry[:n])]

    def body_region(inner: Builder, *carry):
        for effect, token in zip(ordered, carry[n:]):
            inner.set_token(effect, token)
        with inner.within("body"):
            outs = body(inner, *carry[:n])
        return [*outs, *(inner.token(e) for e in ordered)]

    names = ", ".join(map(str, operands))
    outs = b.emit(f'"stablehlo.while"({names}) ({b.region(avals, cond_region)}, {b.region(avals, body_region)})',
                  *operands, out=avals)
    for effect, token in zip(ordered, outs[n:]):
        b.set_token(effect, token)
    return list(outs[:n])


def observed(closed: ClosedJaxpr) -> tuple[ClosedJaxpr, JaxprEqn | None]:
    """A loop's body without the equation that observes the loop (`Primitive.loop_observer`), and that equation if any."""
    def take():
        jaxpr = closed.jaxpr
        for i, eqn in enumerate(jaxpr.eqns):
            if eqn.primitive.loop_observer is not None:
                return closed.replace(jaxpr=jaxpr.replace(eqns=jaxpr.eqns[:i] + jaxpr.eqns[i + 1:])), eqn
        return closed, None
    return closed.memo("observed", take) if closed.effects else (closed, None)


def emit_observed_while(b: Builder, observer: JaxprEqn | None, init: Sequence[Value], cond: Callable, body: Callable,
                        effects: Iterable[Effect] = (), counted: bool = False, more: int = 0) -> list:
    """`emit_while`; with an observer as a loop over runs of steps, before each of which it says how long the run is to be.

    So the loop over steps is compiled as it would be without observer: a call of the host in it, even if seldom made, would
    cost every step a branch, and keep XLA from compiling the loop as one function.

    Args:
      observer: an equation from `observed`.
      counted: the first value of the carry is the number of steps done; else one is added.
      more: number of steps that the caller runs after the loop.
    """
    told = None if observer is None else observer.primitive.loop_observer
    if observer is None or told is None:
        return emit_while(b, init, cond, body, effects)
    if not counted:
        one = np.int32(1)
        outs = emit_observed_while(
            b, observer, [b.scalar(0, one.dtype), *init], lambda inner, i, *carry: cond(inner, *carry),
            lambda inner, i, *carry: [add(inner, i, inner.scalar(one, one.dtype)), *body(inner, *carry)], effects, True)
        return outs[1:]

    def run(inner: Builder, step: Value, *carry):
        due = told.report(inner, step, **observer.params)

        def live(inner: Builder, step: Value, *carry):
            going = cond(inner, step, *carry)
            return inner.emit(f"stablehlo.and {going}, {less(inner, step, due)}", going, going, out=BOOL)
        return emit_while(inner, [step, *carry], live, body, effects)
    outs = emit_while(b, init, cond, run, effects)
    steps = add(b, outs[0], b.scalar(more, outs[0].aval.dtype)) if more else outs[0]
    told.finish(b, steps, **observer.params)
    return outs


def emit_case(b: Builder, index: Value, branches: Sequence[Callable], out_avals: Sequence[AbstractValue],
              effects: Iterable[Effect] = ()) -> list:
    """One of ``branches`` (``branch(builder) -> values``), chosen by the rank-0 int32 ``index``; out of range: the last."""
    ordered = ordered_effects(frozenset(effects))
    tokens = [b.token(e) for e in ordered]
    avals = [*out_avals, *(t.aval for t in tokens)]

    def region(number: int, branch: Callable):
        def emit(inner: Builder):
            for effect, token in zip(ordered, tokens):
                inner.set_token(effect, token)
            with inner.within(f"branch_{number}_fun"):
                outs = branch(inner)
            return [*outs, *(inner.token(e) for e in ordered)]
        return b.region([], emit)

    regions = ", ".join(map(region, range(len(branches)), branches))
    outs = b.emit(f'"stablehlo.case"({index}) ({regions})', index, out=avals)
    for effect, token in zip(ordered, outs[len(out_avals):]):
        b.set_token(effect, token)
    return list(outs[:len(out_avals)])


def stack_buffer(b: Builder, aval: ShapedArray) -> Any:
    """Zeros of type ``aval``, to be overwritten row by row; also for key arrays, and for sums that are still to be made."""
    if not isinstance(aval.dtype, ExtendedDType):
        zeros = b.full(0, aval)
        return b.sharding_constraint(zeros, aval.placement) if aval.placement is not None and aval.placement.spec.unreduced else zeros
    element = aval.dtype.physical_element_aval
    whole = b.full(0, ShapedArray((*aval.shape, *element.shape), element.dtype))
    return b.logical(whole, aval)


def add(b: Builder, x: Value, y: Value) -> Any:
    return b.emit(f"stablehlo.add {x}, {y}", x, y, out=x.aval)


def subtract(b: Builder, x: Value, y: Value) -> Any:
    return b.emit(f"stablehlo.subtract {x}, {y}", x, y, out=x.aval)


def less(b: Builder, x: Value, y: Value) -> Any:
    """``x < y`` for signed integers of rank 0."""
    return b.emit(f"stablehlo.compare LT, {x}, {y}, SIGNED", x, y, out=BOOL)
