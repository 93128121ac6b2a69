"""Is code of a program faster in vectors of 512 bits than of 256, which are XLA's default?

Only where it computes much for each element: random bits and functions as exp, log1p or lgamma take up to a third less time so, and
what waits for memory up to a tenth more. `benchmarks/wide_vectors.py` measures it.
"""
from __future__ import annotations

from jax_core.representation.jaxpr import Jaxpr, JaxprEqn
from jax_core.representation.traits import Kind

from .small_programs import draws, has_large, leaves, programs

COSTLY = 0.75
"""ns for one element, from which on an operation is limited by arithmetic."""
LARGE = 1 << 12
"""Elements of an array from which on it counts."""
LARGE_BESIDE_LIBRARIES = 1 << 16
"""The same in a program that calls a library for large arrays, as `qr` and `fft`: to move triangles and columns for it in wide vectors takes up to four
times as long to compile, and runs as long."""


def gains(jaxpr: Jaxpr) -> bool:
    """Whether it computes much for each element of a large array."""
    equations = [eqn for program in programs(jaxpr) for eqn in leaves(program)]
    least = LARGE_BESIDE_LIBRARIES if any([eqn.primitive.traits.kind is Kind.LIBRARY and has_large(eqn) for eqn in equations]) else LARGE
    return any([_is_costly(eqn, least) for eqn in equations])


def _is_costly(eqn: JaxprEqn, least: int) -> bool:
    if not eqn.outvars:
        return False
    traits = eqn.primitive.traits
    return (draws(eqn) or traits.fused and traits.cost >= COSTLY) and getattr(eqn.outvars[0].aval, "size", 0) >= least
