"""Is code of a program any faster for XLA unrolling its loops?

Unrolling makes compiling 1.1 to 1.4 times slower. It pays for loops of few turns inside others: over a short last axis, or the
pieces that a kernel puts together. A plain loop gains nothing; a reduction even loses its vector instructions.
docs/internals/compile-time.md has the measurements.
"""
from __future__ import annotations

from jax_core.representation.jaxpr import Jaxpr, JaxprEqn
from jax_core.representation.traits import Inner, Kind

from .loops import inside
from .small_programs import ELEMENTS, leaves, programs

SHORT = 16
"""Elements of a last axis that is worth unrolling, less than."""


def steps_gain(jaxpr: Jaxpr) -> bool:
    """Whether it pays in the steps of a program over small arrays: they have windows, or arrays of two axes."""
    return any([e.primitive.traits.inner is Inner.WINDOWS or any([getattr(v.aval, "ndim", 0) > 1 for v in e.outvars])
                for program in programs(jaxpr) for loop in program.eqns if loop.primitive.traits.kind is Kind.LOOP for e in inside(loop)])


def gains(jaxpr: Jaxpr) -> bool:
    """Whether it pays for the large arrays of a program."""
    return any([_gains(eqn) for program in programs(jaxpr) for eqn in leaves(program)])


def _gains(eqn: JaxprEqn) -> bool:
    for v in (*eqn.invars, *eqn.outvars):
        if getattr(v.aval, "size", 0) > ELEMENTS and (eqn.primitive.traits.inner is not Inner.NONE or 1 < v.aval.shape[-1] < SHORT):
            return True
    return False
