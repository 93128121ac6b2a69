"""What is odd about the equations of a program (`jax_core.interfaces.Odd`)?"""
from __future__ import annotations

from typing import Callable

from jax_core.interfaces import Odd
from jax_core.representation.jaxpr import Jaxpr

from .joins import joins_of_computed
from .windows import odd_sums


def odd_equations(jaxpr: Jaxpr, may_have_barriers: Callable[[], bool]) -> dict[int, Odd]:
    """Those that are odd, by ``id(var)`` of their results.

    Args:
      may_have_barriers: whether forms may take them; asked where one would.
    """
    found = odd_sums(jaxpr)
    joins = joins_of_computed(jaxpr)
    if joins and may_have_barriers():
        found.update(dict.fromkeys(joins, Odd.MANY_COMPUTED))
    return found
