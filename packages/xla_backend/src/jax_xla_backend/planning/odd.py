"""What is odd about the equations of a program (`jax_core.interfaces.Odd`)?"""
from __future__ import annotations

from typing import Callable

from jax_core.interfaces import Odd
from jax_core.representation.jaxpr import Jaxpr

from .joins import joins_of_computed
from .windows import odd_sums


def odd_equations(jaxpr: Jaxpr, may_have_barriers: Callable[[], bool], meets_nan: Callable[[], bool]) -> dict[int, Odd]:
    """Those that are odd, by ``id(var)`` of their results.

    Args:
      may_have_barriers: whether forms may take them; asked where one would.
      meets_nan: whether the whole program computes with NaN for certain (`known_nans`); asked where that would be lost.
    """
    found = odd_sums(jaxpr)
    joins = joins_of_computed(jaxpr)
    if joins and may_have_barriers():
        found.update(dict.fromkeys(joins, Odd.MANY_COMPUTED))
    losing = [eqn for eqn in jaxpr.eqns if eqn.primitive.traits.loses_nan]
    if losing and meets_nan():
        found.update({id(eqn.outvars[0]): Odd.LOSES_NAN for eqn in losing})
    return found
