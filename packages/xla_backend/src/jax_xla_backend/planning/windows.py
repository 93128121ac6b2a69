"""Which sums should not take the forms that are faster for most?

- Those of some hundred numbers that would compute too much without vectors: such a sum is a loop of its own, together with what it sums
  (`jax_core.traces.windowed_sums`). It adds one number after the other, so it has no vectors, and its code is there once for each number of a window.
- Those of one number, repeated, as gradients of sums have them: XLA makes a product of a plain sum. Others of constants it works out while it compiles,
  which took 0.8 s for 100,000 of two numbers each.
"""
from __future__ import annotations

import enum
from typing import Any

from jax_core.representation.jaxpr import Jaxpr, JaxprEqn, Literal
from jax_core.representation.traits import Kind
from jax_core.traces.structural import broadcast_in_dim_p, reduce_sum_p
from jax_core.traces.windowed_sums import has_windows

EQUATIONS = 8
"""Of what is summed, at most."""
COST = 1.0
"""ns for one element, at most."""

_UNKNOWN = (Kind.CALL, Kind.DRAW)
_KEEP_EQUAL = (Kind.ELEMENTWISE, Kind.IDENTITY, Kind.VIEW)


class Odd(enum.Enum):
    """What is so of a sum."""

    COSTLY = enum.auto()
    """Its operand takes much to compute, back to what is in memory, and it is one in windows."""
    OF_EQUAL = enum.auto()
    """All elements of its operand are one number."""


def odd_sums(jaxpr: Jaxpr) -> dict[int, Odd]:
    """Those by ``id(var)`` of their results."""
    sums = [eqn for eqn in jaxpr.eqns if eqn.primitive is reduce_sum_p]
    if not sums:
        return {}
    makers = {v: eqn for eqn in jaxpr.eqns for v in eqn.outvars}
    found = {}
    for eqn in sums:
        operand = eqn.invars[0]
        if _are_equal(operand, makers):
            found[id(eqn.outvars[0])] = Odd.OF_EQUAL
        elif has_windows(operand.aval, eqn.params["axes"]) and _is_costly(operand, makers):
            found[id(eqn.outvars[0])] = Odd.COSTLY
    return found


def _are_equal(x: Any, makers: dict[Any, JaxprEqn]) -> bool:
    while type(x) is not Literal and x.aval.shape and (maker := makers.get(x)) is not None:
        if maker.primitive is not broadcast_in_dim_p and (maker.primitive.traits.kind not in _KEEP_EQUAL or len(maker.invars) != 1):
            return False
        x = maker.invars[0]
    return not x.aval.shape


def _is_costly(x: Any, makers: dict[Any, JaxprEqn]) -> bool:
    todo, equations, cost = [x], 0, 0.0
    while todo:
        x = todo.pop()
        maker = None if type(x) is Literal else makers.get(x)
        if maker is None:
            continue
        traits = maker.primitive.traits
        if traits.kind in _UNKNOWN:
            return True
        if traits.fused:
            equations += 1
            cost += traits.cost
            if equations > EQUATIONS or cost > COST:
                return True
            todo += maker.invars
    return False
