"""Is code of a program any faster for XLA unrolling its loops?

Unrolling makes compiling 1.1 to 1.4 times slower. It pays for loops of few turns inside others: over a short last axis, the
pieces that a kernel puts together, what a search or a maximum compares along a short axis, or the blocks of a matrix
that is transposed, as LAPACK wants it by columns. A plain loop gains nothing; a reduction even loses its vector instructions.
docs/internals/compile-time.md has the measurements.
"""
from __future__ import annotations

import math
from typing import Any, Iterator

from jax_core.representation.jaxpr import Jaxpr, JaxprEqn
from jax_core.representation.traits import Inner, Kind
from jax_core.traces.short_reductions import COMPARED, compared

from .loops import inside
from .small_programs import ELEMENTS, has_large, leaves, programs

SHORT = 16
"""Elements of a last axis that is worth unrolling, less than; of a vector in a step, at most."""


def keeps_order(jaxpr: Jaxpr) -> bool:
    """Whether there are running sums or products that unrolled code alone computes in their order, so that 1e30, 0, 2e30 have one: a loop
    over the elements of a window becomes vectors of them."""
    return any([e.primitive.traits.kind is Kind.SWEEP and e.outvars[0].aval.dtype.kind not in "iub" for program in programs(jaxpr) for e in program.eqns])


def steps_gain(jaxpr: Jaxpr) -> bool:
    """Whether it pays in the steps of a program over small arrays: they have windows, arrays of two axes, or short vectors."""
    return any([e.primitive.traits.inner is Inner.WINDOWS or any([getattr(v.aval, "ndim", 0) > 1 or _is_short(v.aval) for v in e.outvars])
                for steps in _steps(jaxpr) for e in steps])


def has_short_steps(jaxpr: Jaxpr) -> bool:
    """Whether a loop has steps on short vectors and on nothing large, as for an ODE of a few numbers."""
    return any([any([_is_short(v.aval) for e in steps for v in e.outvars]) and not any(map(has_large, steps)) for steps in _steps(jaxpr)])


def _steps(jaxpr: Jaxpr) -> Iterator[list[JaxprEqn]]:
    """The equations inside of each loop."""
    return (list(inside(e)) for program in programs(jaxpr) for e in program.eqns if e.primitive.traits.kind is Kind.LOOP)


def _is_short(aval: Any) -> bool:
    """A vector of floats that becomes straight code, 1.2 to 1.7 times as fast in a step."""
    return getattr(aval, "ndim", 0) == 1 and 1 < aval.size <= SHORT and aval.dtype.kind == "f"


def gains(jaxpr: Jaxpr) -> bool:
    """Whether it pays for the large arrays of a program."""
    return any([_gains(eqn) for program in programs(jaxpr) for eqn in leaves(program)])


def _gains(eqn: JaxprEqn) -> bool:
    traits = eqn.primitive.traits
    always = traits.inner is not Inner.NONE or traits.kind is Kind.LIBRARY or traits.compares and _compares_few(eqn)
    for v in (*eqn.invars, *eqn.outvars):
        if getattr(v.aval, "size", 0) > ELEMENTS and (always or 1 < v.aval.shape[-1] < SHORT):
            return True
    return False


def _compares_few(eqn: JaxprEqn) -> bool:
    """6,250 rows of 16 are searched in 0.11 ms so, and in 0.57 else; their maxima take 0.10 and 0.22."""
    aval = eqn.invars[0].aval
    return math.prod([aval.shape[axis] for axis in eqn.params["axes"]]) <= (compared(aval) if eqn.primitive.traits.kind is Kind.REDUCTION else COMPARED)
