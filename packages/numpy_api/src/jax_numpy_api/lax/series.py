"""Sums of Chebyshev series, by which special functions are computed.

In float64 by Clenshaw's recurrence; in float32 by Horner's rule, which takes two operations a term in place of three: of so few
terms its error is the same (1.2 units at most over the tables here, 1.6 by the recurrence), and the compilers of
GPUs keep more functions in one kernel.
"""
from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Sequence

import numpy as np

from jax_core.representation import dtypes

from .arithmetic import add, mul, sub
from .nary import constant

if TYPE_CHECKING:
    from jax_core.representation.array import Array


def chebyshev(coefficients: Sequence[float], t: Array) -> Array:
    """The Chebyshev series at ``t``, which is in [-1, 1]; trailing terms below the precision of the dtype are left out."""
    used, cut = list(coefficients), float(dtypes.finfo(t.dtype).eps) / 8 * abs(coefficients[0])
    while len(used) > 2 and abs(used[-1]) < cut:
        used.pop()
    if t.dtype == np.float32:
        *rest, last = powers(tuple(used))
        total = constant(last, t)
        for c in reversed(rest):
            total = add(mul(total, t), constant(c, t))
        return total
    twice = add(t, t)
    before, now = constant(0, t), constant(used[-1], t)
    for c in used[-2:0:-1]:
        before, now = now, add(sub(mul(twice, now), before), constant(c, t))
    return add(sub(mul(t, now), before), constant(used[0], t))


@functools.cache
def powers(coefficients: tuple[float, ...]) -> tuple[float, ...]:
    """The coefficients of the powers of ``t`` in a Chebyshev series of two terms or more on [-1, 1], the constant one first.

    >>> powers((0.0, 0.0, 1.0))
    (-1.0, 0.0, 2.0)
    """
    out = [0.0] * len(coefficients)
    before, last = [1.0], [0.0, 1.0]
    for c in coefficients:
        for i, factor in enumerate(before):
            out[i] += c * factor
        following = [0.0, *[2 * factor for factor in last]]
        for i, factor in enumerate(before):
            following[i] -= factor
        before, last = last, following
    return tuple(out)
