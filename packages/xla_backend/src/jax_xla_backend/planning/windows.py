"""Which sums of some hundred numbers would compute too much without vectors?

Such a sum is a loop of its own, together with what it sums (`jax_core.traces.windowed_sums`). It adds one number after the other, so it has no vectors, and
its code is there once for each number of a window.
"""
from __future__ import annotations

from typing import Any

from jax_core.representation.jaxpr import Jaxpr, JaxprEqn, Literal
from jax_core.representation.traits import Kind
from jax_core.traces.structural import reduce_sum_p
from jax_core.traces.windowed_sums import has_windows

EQUATIONS = 8
"""Of what is summed, at most."""
COST = 1.0
"""ns for one element, at most."""

_UNKNOWN = (Kind.CALL, Kind.DRAW)


def costly_sums(jaxpr: Jaxpr) -> set[int]:
    """``id(var)`` of the sums in windows whose operands take more to compute, back to what is in memory."""
    sums = [eqn for eqn in jaxpr.eqns if eqn.primitive is reduce_sum_p and has_windows(eqn.invars[0].aval, eqn.params["axes"])]
    if not sums:
        return set()
    makers = {v: eqn for eqn in jaxpr.eqns for v in eqn.outvars}
    return {id(eqn.outvars[0]) for eqn in sums if _is_costly(eqn.invars[0], makers)}


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
