"""Sums of Chebyshev series, by which special functions are computed.

By Horner's rule in the powers of ``t``, or in two halves, even and odd, each by Horner's rule in the powers of ``2 t^2 - 1``: two
operations a term. A table takes the one that loses fewer digits (`_halved`), in float32, of so few terms, always the first.

Left aside: Clenshaw's recurrence, which takes three operations a term. Each of its steps reads the two before it, so as many paths lead
through n steps as the n-th Fibonacci number says, and LLVM's loop vectoriser (of jaxlib 0.12) walks all of them where a
result is chosen by a mask, and does not end with the longest tables. `tests/test_series.py` counts the paths;
`benchmarks/programs/special_compile.py` compiles such functions.
"""
from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from jax_core.representation import dtypes

from .arithmetic import add, mul, sub
from .nary import constant

if TYPE_CHECKING:
    from jax_core.representation.array import Array


def chebyshev(coefficients: Sequence[float], t: Array) -> Array:
    """The Chebyshev series at ``t``, which is in [-1, 1]; trailing terms below the precision of the dtype are left out."""
    kept, cut = list(coefficients), float(dtypes.finfo(t.dtype).eps) / 8 * abs(coefficients[0])
    while len(kept) > 2 and abs(kept[-1]) < cut:
        kept.pop()
    used = tuple(kept)
    if t.dtype == np.float32 or not _halved(used):
        return _horner(powers(used), t)
    even, odd = halves(used)
    s = sub(mul(add(t, t), t), constant(1, t))
    return add(mul(_horner(odd, s), t), _horner(even, s))


def _horner(coefficients: Sequence[float], t: Array) -> Array:
    *rest, last = coefficients
    weak = t.dtype == np.float64 and getattr(t, "weak_type", False) and dtypes.canonicalize_dtype(np.float64) == np.float64  # of a Python number: so is the sum
    number = (lambda c: float(c)) if weak else (lambda c: constant(c, t))
    total: Any = number(last)
    for c in reversed(rest):
        total = add(mul(total, t), number(c))
    return total


@functools.cache
def _halved(coefficients: tuple[float, ...]) -> bool:
    """Whether the terms of the halves are smaller beside the sum than those of the powers: rounding errors are units of the terms."""
    if len(coefficients) < 4:
        return False
    t = np.cos(np.linspace(0, np.pi, 129))
    even, odd = (_sizes(half, 2 * t * t - 1) for half in halves(coefficients))
    size = np.abs(np.polynomial.chebyshev.chebval(t, coefficients)) + np.finfo(np.float64).tiny
    return bool(np.max((even + np.abs(t) * odd) / size) < 0.8 * np.max(_sizes(powers(coefficients), t) / size))


def _sizes(coefficients: Sequence[float], t: np.ndarray) -> np.ndarray:
    return np.polynomial.polynomial.polyval(np.abs(t), np.abs(coefficients))


@functools.cache
def powers(coefficients: tuple[float, ...]) -> tuple[float, ...]:
    """The coefficients of the powers of ``t`` in a Chebyshev series on [-1, 1], the constant one first, each rounded once.

    >>> powers((0.0, 0.0, 1.0))
    (-1.0, 0.0, 2.0)
    """
    exact, unit = _integers(coefficients)
    return _powers(exact, unit)


@functools.cache
def halves(coefficients: tuple[float, ...]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Coefficients of two polynomials in ``s = 2 t^2 - 1``: their sum, the second one times ``t``, is the series at ``t``.

    For ``T_2k(t) = T_k(s)`` and ``T_2k+1(t) + T_2k-1(t) = 2 t T_k(s)``.

    >>> halves((1.0, 2.0, 3.0, 4.0))
    ((1.0, 3.0), (-2.0, 8.0))
    """
    exact, unit = _integers(coefficients)
    odd = exact[1::2]
    for k in range(len(odd) - 1, -1, -1):
        odd[k] = 2 * odd[k] - (odd[k + 1] if k + 1 < len(odd) else 0)
    odd[0] //= 2
    return _powers(exact[::2], unit), _powers(odd, unit)


def _integers(coefficients: Sequence[float]) -> tuple[list[int], int]:
    """The coefficients, exactly, as integers and how many of their units are 1."""
    ratios = [c.as_integer_ratio() for c in coefficients]
    unit = 2 * max([denominator for _, denominator in ratios])
    return [numerator * (unit // denominator) for numerator, denominator in ratios], unit


def _powers(coefficients: Sequence[int], unit: int) -> tuple[float, ...]:
    out = [0] * len(coefficients)
    before, last = [1], [0, 1]
    for k, c in enumerate(coefficients):
        for i in range(k % 2, k + 1, 2):  # the others are 0
            out[i] += c * before[i]
        following = [0, *[2 * factor for factor in last]]
        for i in range(k % 2, k + 1, 2):
            following[i] -= before[i]
        before, last = last, following
    return tuple(c / unit for c in out)
