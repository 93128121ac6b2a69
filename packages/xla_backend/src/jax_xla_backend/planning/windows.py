"""Which sums should not take the forms that are faster for most?

- Those of some hundred numbers that would compute too much without vectors: such a sum is a loop of its own, together with what it sums
  (`jax_core.traces.windowed_sums`). It adds one number after the other, so it has no vectors, and its code is there once for each number of a window.
- Those of one number, repeated, as gradients of sums have them: XLA makes a product of a plain sum. Others of constants it works out while it compiles,
  which took 1.1 s for 200,000 of two numbers each (`repeat` of `benchmarks/programs/slopes.py`).
"""
from __future__ import annotations

from typing import Any

from jax_core.interfaces import Odd
from jax_core.representation.jaxpr import Jaxpr, JaxprEqn, Literal, makers
from jax_core.representation.traits import Kind
from jax_core.traces.structural import broadcast_in_dim_p, reduce_sum_p
from jax_core.traces.windowed_sums import has_windows

EQUATIONS = 8
"""Of what is summed, at most."""
COST = 1.0
"""ns for one element, at most."""

_UNKNOWN = (Kind.CALL, Kind.DRAW)
_KEEP_EQUAL = (Kind.ELEMENTWISE, Kind.IDENTITY, Kind.VIEW)


def odd_sums(jaxpr: Jaxpr) -> dict[int, Odd]:
    """Those by ``id(var)`` of their results."""
    sums = [eqn for eqn in jaxpr.eqns if eqn.primitive is reduce_sum_p]
    if not sums:
        return {}
    equal = _equal(jaxpr)
    found = {id(eqn.outvars[0]): Odd.SUM_OF_EQUAL for eqn in sums if eqn.invars[0] in equal}
    windowed = [eqn for eqn in sums if eqn.invars[0] not in equal and has_windows(eqn.invars[0].aval, eqn.params["axes"])]
    if windowed:
        made = makers(jaxpr)
        found.update({id(eqn.outvars[0]): Odd.COSTLY_SUM for eqn in windowed if _is_costly(eqn.invars[0], made)})
    return found


def _equal(jaxpr: Jaxpr) -> set[Any]:
    """Arrays whose elements are all one number."""
    equal: set[Any] = set()
    for eqn in jaxpr.eqns:
        if len(eqn.invars) != 1:
            continue
        x, prim = eqn.invars[0], eqn.primitive
        if prim is broadcast_in_dim_p and not x.aval.shape or x in equal and (prim is broadcast_in_dim_p or prim.traits.kind in _KEEP_EQUAL):
            equal.update(eqn.outvars)
    return equal


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
