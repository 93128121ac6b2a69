"""Is code of a program faster in vectors of 512 bits than of 256, which are XLA's default?

Only where it computes much for each element: random bits and functions as exp, log1p or lgamma take up to a third less time so, and
what waits for memory up to a tenth more. `benchmarks/wide_vectors.py` measures it.
"""
from __future__ import annotations

from jax_core.representation.jaxpr import Jaxpr, JaxprEqn

from .small_programs import draws, leaves, programs

COSTLY = 0.75
"""ns for one element, from which on an operation is limited by arithmetic."""
LARGE = 1 << 12
"""Elements of an array from which on it counts."""


def gains(jaxpr: Jaxpr) -> bool:
    """Whether it computes much for each element of a large array."""
    return any(_is_costly(eqn) for program in programs(jaxpr) for eqn in leaves(program))


def _is_costly(eqn: JaxprEqn) -> bool:
    if not eqn.outvars:
        return False
    traits = eqn.primitive.traits
    return (draws(eqn) or traits.fused and traits.cost >= COSTLY) and getattr(eqn.outvars[0].aval, "size", 0) >= LARGE
