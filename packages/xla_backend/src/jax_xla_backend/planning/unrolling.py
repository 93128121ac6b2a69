"""Is code of a program any faster for XLA unrolling its loops?

Unrolling makes compiling 1.1 to 1.4 times slower. It pays for loops of few turns inside others: over a short last axis, the
edges of what is padded, what a search or a maximum compares along a short axis, the windows in which columns of integers are summed, the
blocks of a matrix that LAPACK wants by columns, convolutions of float64, or reductions by a function of one's own (`benchmarks/programs/own_functions.py`).
A plain loop gains nothing; a reduction of floats even loses its vector instructions.
docs/internals/compile-time.md has the measurements.
"""
from __future__ import annotations

import math
from typing import Any, Iterator

import numpy as np

from jax_core.representation.jaxpr import Jaxpr, JaxprEqn, jaxprs_in_params
from jax_core.representation.traits import Inner, Kind
from jax_core.traces import windows_by_axes
from jax_core.traces.short_reductions import compared

from .loops import inside
from .small_programs import ELEMENTS, has_large, leaves, programs

SHORT = 16
"""Elements of a last axis that is worth unrolling, less than; of a vector in a step, at most."""

SEARCHED = 21
"""Elements along which a search is worth unrolling, at most: LLVM unrolls it as a whole, and makes vectors of longer ones."""


def keeps_order(jaxpr: Jaxpr) -> bool:
    """Whether there are running sums or products that unrolled code alone computes in their order, so that 1e30, 0, 2e30 have one: a loop
    over the elements of a window becomes vectors of them."""
    return any([e.primitive.traits.kind is Kind.SWEEP and e.outvars[0].aval.dtype.kind not in "iub" for program in programs(jaxpr) for e in program.eqns])


def steps_gain(jaxpr: Jaxpr) -> bool:
    """Whether it pays in the steps of a program over small arrays: they have windows, arrays of two axes, or short vectors."""
    return any([e.primitive.traits.inner.over_windows or any([getattr(v.aval, "ndim", 0) > 1 or _is_short(v.aval) for v in e.outvars])
                for steps in _steps(jaxpr) for e in steps])


def has_short_steps(jaxpr: Jaxpr) -> bool:
    """Whether a loop has steps on short vectors and on nothing large, as for an ODE of a few numbers."""
    return any([any([_is_short(v.aval) for e in steps for v in e.outvars]) and not any(map(has_large, steps)) for steps in _steps(jaxpr)])


def searches_in_steps(jaxpr: Jaxpr) -> bool:
    """Whether steps of a loop search along a few elements."""
    return any([e.primitive.traits.kind is Kind.SEARCH and _compares_few(e) for steps in _steps(jaxpr) for e in steps])


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
    if traits.kind is Kind.CONVOLUTION:  # a library's, which has no float64
        return eqn.outvars[0].aval.dtype == np.float64 and has_large(eqn)
    if traits.inner is Inner.POOLED and windows_by_axes.pays(eqn.invars[0].aval, eqn.outvars[0].aval, eqn.params):
        return False
    always = (traits.inner is not Inner.NONE and not _in_rows(eqn) or traits.kind is Kind.LIBRARY or traits.compares and _compares_few(eqn)
              or traits.kind is Kind.REDUCTION and (bool(jaxprs_in_params(eqn.params)) or _counts_columns(eqn)))
    for v in (*eqn.invars, *eqn.outvars):
        if getattr(v.aval, "size", 0) > ELEMENTS and (always or 1 < v.aval.shape[-1] < SHORT):
            return True
    return False


def _in_rows(eqn: JaxprEqn) -> bool:
    """Whether pieces are found, put together or taken apart in loops along the last axis, which are unrolled for nothing unless that is short: in transposes,
    concatenations and splits, parts that are read or written, scatters, sorts, padding of other axes (`benchmarks/programs/rows_of_pieces.py`)."""
    prim, traits = eqn.primitive, eqn.primitive.traits
    windows = traits.inner.over_windows
    if traits.joins or traits.part is not None or traits.kind in (Kind.VIEW, Kind.SCATTER) or prim.multiple_results and not windows:
        return True
    return traits.kind is Kind.MOVE and windows and eqn.invars[0].aval.shape[-1:] == eqn.outvars[0].aval.shape[-1:]


def _counts_columns(eqn: JaxprEqn) -> bool:
    """Whether integers are reduced that lie apart, which is no library's: XLA does so in windows of 32, and unrolled they are vectors."""
    aval = eqn.invars[0].aval
    return aval.dtype.kind in "iub" and aval.ndim - 1 not in eqn.params.get("axes", ())


def _compares_few(eqn: JaxprEqn) -> bool:
    """6,250 rows of 16 are searched in 0.11 ms so, and in 0.57 else; their maxima take 0.10 and 0.22."""
    aval = eqn.invars[0].aval
    return math.prod([aval.shape[axis] for axis in eqn.params["axes"]]) <= (compared(aval) if eqn.primitive.traits.kind is Kind.REDUCTION else SEARCHED)
