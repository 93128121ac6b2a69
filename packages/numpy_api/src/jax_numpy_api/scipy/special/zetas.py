"""Riemann's and Hurwitz' zeta functions, the derivatives of digamma, which are their values at whole numbers, and Bernoulli numbers.

All are one sum of a few powers, with the rest by the Euler-Maclaurin formula: what lies left of 1 or below 0 is brought to where that holds before
it is summed, not computed beside it. On an accelerator this takes as much as `lax.zeta` alone, and compiles in a fraction of the time.

Sources: DLMF 5.15.1, 25.4.1, 25.11.28.
"""
from __future__ import annotations

import fractions
import functools
import math
import operator

import numpy as np

from jax_core.representation import dtypes
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike
from jax_core.transformations.autodiff import jvp

from ... import lax, numpy as jnp
from ...numpy.promotion import check_arraylike, convert
from ._series import differentiable, inlined, wide
from .gammas import _digamma, _sin_pi, _stirling_sum


@functools.lru_cache(maxsize=None)
def _bernoulli_numbers(n: int) -> tuple[fractions.Fraction, ...]:
    """B_0 ... B_n with B_1 = -1/2, by ``sum_k binomial(m + 1, k) B_k = 0``."""
    out = [fractions.Fraction(1)]
    for m in range(1, n + 1):
        odd = m > 1 and m % 2
        out.append(fractions.Fraction(0) if odd else
                   -sum((math.comb(m + 1, k) * b for k, b in enumerate(out) if b), fractions.Fraction(0)) / (m + 1))
    return tuple(out)


_BERNOULLI_END = 258  # the last that float64 can hold; it is positive


def bernoulli(n: int) -> Array:
    """The Bernoulli numbers ``B_0 ... B_n`` (B_1 = -1/2), for ``n`` known and not negative.

    Raises:
      ValueError: ``n`` is not from 0 to 2**31 - 1.

    Source: `scipy.special.bernoulli`.

    >>> jsp.special.bernoulli(2)
    Array([ 1.        , -0.5       ,  0.16666667], dtype=float32)
    """
    n = operator.index(n)
    if not 0 <= n < 2**31:
        raise ValueError(f"bernoulli: n must be from 0 to 2**31 - 1, got {n}")
    dtype = dtypes.default_float_dtype()
    out = np.zeros(n + 1)
    out[:_BERNOULLI_END + 1] = [float(b) for b in _bernoulli_numbers(min(n, _BERNOULLI_END))]
    out[_BERNOULLI_END + 2::4] = -math.inf
    out[_BERNOULLI_END + 4::4] = math.inf
    with np.errstate(over="ignore"):
        return jnp.asarray(out.astype(dtype))


_SUMMED = {4: (4, 5), 8: (7, 10)}  # powers, and corrections by Bernoulli numbers, by the bytes of a number; more do not make it more accurate


def _rest(s, w, power):
    """The sum of ``(w + k)**-s`` for ``w`` not small, where ``power`` is ``w**-s`` times any factor."""
    total = w * power / (s - 1) + 0.5 * power
    r = jnp.minimum(s, 50 * w)  # beyond, the power is 0 next to the sum, and the factors would overflow
    term, corrections = r / w * power, _SUMMED[s.dtype.itemsize][1]
    for j, b in enumerate(_bernoulli_numbers(2 * corrections)[2::2], 1):
        total = total + float(b / math.factorial(2 * j)) * term
        if j < corrections:
            term = term * ((r + 2 * j - 1) / w) * ((r + 2 * j) / w)
    return total


def _unit(s, q):
    """The power of two at or below ``q``, but for the largest and those below 1, and the root of its power ``-s``: powers of numbers in that unit
    do not underflow where the sum of them, by whose square it is multiplied, does not, and do not overflow, which would make NaN of a root of 0."""
    info = jnp.finfo(q.dtype)
    unit = lax.reduce_precision(jnp.clip(q, 1.0, 2.0 ** (info.maxexp // 2)), info.nexp, 0)
    unit = jnp.where(unit > jnp.maximum(q, 1.0), 0.5 * unit, unit)
    return unit, jnp.power(unit, -0.5 * s)


def _positive(s, q):
    """The sum of ``(q + k)**-s`` for ``q`` not below 0, continued to ``s`` from -1 on; differentiable in ``s``."""
    count = _SUMMED[s.dtype.itemsize][0]
    unit, root = _unit(s, q)
    inverse = 1 / unit
    powers = [jnp.power((q + k) * inverse, -s) for k in range(count + 1)]
    total = sum(powers[:-1]) + _rest(s, q + count, powers[-1])
    return jnp.where(unit == 1, total, total * root * root)  # the slope of the root is 0 there, which makes NaN of an infinite total


def _sum_of_powers(s, q, unit=1.0):
    """The sum of ``((q + k) / unit)**-s``, k = 0, 1, ..., for ``s`` from -1 on, or whole where ``q`` is below 0.

    There, the positive numbers among ``q + k``, and those below 0, of which there are ``n``, are summed side by side, as both may cancel.
    """
    count = _SUMMED[s.dtype.itemsize][0]
    below = (q <= 0) & (s == jnp.floor(s))
    first, n = jnp.where(below, q - jnp.floor(q), q), jnp.where(below, -jnp.floor(q), 0.0)
    other, sign = jnp.where(below & (first != 0), jnp.ceil(q) - q, 1.0), jnp.where(s % 2 == 0, 1.0, -1.0)
    factor, root = _unit(s, q / unit)
    inverse = 1 / (unit * factor)

    def power(x: Array):
        return jnp.power(x * inverse, -s)
    total = sum((power(first + k) + jnp.where(k < n, sign * power(other + k), 0.0) for k in range(count)), jnp.zeros_like(s))
    many = n > count
    start, end = other + count, jnp.where(many, other + n, other + count)
    total = total + (_rest(s, first + count, power(first + count)) + jnp.where(many, sign * _rest(s, start, power(start)), 0.0))
    return (total - jnp.where(many, sign * _rest(s, end, power(end)), 0.0)) * root * root


# -- zeta --------------------------------------------------------------------------------------------------------------

_LEFT = -0.5  # below it Riemann's zeta function is reflected, as the terms of the sum grow


def _reflected(s):
    """``2 (2 pi)**-t gamma(t)`` for ``t = 1 - s`` of those ``s`` below `_LEFT` (DLMF 25.4.1), by Stirling's formula at ``y``, which is ``t`` or
    ``t + 8``. Powers are taken in four parts: the product holds where the gamma function would overflow."""
    t = jnp.where(s < _LEFT, 1 - s, 3.0)
    small = t < 12
    y = jnp.where(small, t + 8, t)
    steps = math.prod([t + k for k in range(1, 8)], start=t)
    part = jnp.power(y, 0.25 * t) * jnp.power(2 * np.pi, -0.25 * t)
    rest = jnp.where(small, lax.integer_pow(y, 8) / steps, 1.0) / jnp.sqrt(y)
    return part * part * jnp.exp(-y) * part * part * (2 * math.sqrt(2 * math.pi) * jnp.exp(_stirling_sum(y))) * rest


@differentiable
def _zeta(x, q):
    riemann = q == 1
    far = riemann & (x < _LEFT)
    value = _sum_of_powers(jnp.where(far, 1 - x, x), q)
    sine = _sin_pi(0.5 * x)
    value = jnp.where(far, jnp.where(sine == 0, 0.0, _reflected(x) * sine * value), value)
    value = jnp.where((x == 1) & (q == q), np.inf, jnp.where((x < 1) & ~riemann, np.nan, value))
    return jnp.where((q == np.inf) & (x > 1), 0.0, value)


def _by_order(x, q):
    """The slope by ``x``."""
    far = x < _LEFT
    t = jnp.where(far, 1 - x, x)
    here, slope = jvp(lambda s: _positive(s, jnp.where(far, 1.0, q)), (t,), (jnp.ones_like(t),))
    half_turns = 0.5 * np.pi * jnp.mod(t, 4)
    logarithmic = math.log(2 * math.pi) - _digamma(jnp.where(far, t, 1.0))
    mirrored = here * (jnp.cos(half_turns) * logarithmic + 0.5 * np.pi * jnp.sin(half_turns)) - jnp.cos(half_turns) * slope
    return jnp.where(far, _reflected(x) * mirrored, slope)


@_zeta.defjvp
def _zeta_jvp(primals, tangents):
    (x, q), (dx, dq) = primals, tangents
    value = _zeta(x, q)
    at_zero = x == 0  # x times the pole is 1 there, and next to it 1 - x digamma(q)
    by_q = jnp.where(at_zero, x * _digamma(q) - 1, -x * _zeta(jnp.where(at_zero, 1, x) + 1, q))
    slope = dx * _by_order(x, q) + dq * by_q
    return value, slope * jnp.where(jnp.isnan(value), np.nan, 1.0).astype(x.dtype)


@inlined
def zeta(x: ArrayLike, q: ArrayLike | None = None) -> Array:
    """Hurwitz zeta function, the sum of ``(k + q)**-x``, k = 0, 1, ...; by default Riemann's, ``q = 1``, also below 1.

    Source: `scipy.special.zeta`.

    >>> jsp.special.zeta(2., 1.)
    Array(1.644934, dtype=float32, weak_type=True)
    """
    (x, q), dtype = wide("zeta", x, 1.0 if q is None else q)
    return convert(_zeta(*jnp.broadcast_arrays(x, q)), dtype, x.weak_type and q.weak_type)


# -- the derivatives of digamma ----------------------------------------------------------------------------------------

_PRODUCTS = 20  # up to there factorials are products, beyond by Stirling's formula


def _scaled_factorial(n):
    """``n! / unit**(n + 1)`` and ``unit``, a power of two about as large as the root of the factorial, so that neither overflows."""
    unit = lax.reduce_precision(jnp.maximum((n + 1) / math.e, 1.0), 8, 0)
    product = jnp.ones_like(n) / unit
    for k in range(1, _PRODUCTS + 1):
        product = product * jnp.where(k <= n, k / unit, 1.0)
    m = jnp.maximum(n, _PRODUCTS) + 1
    log = (m - 0.5) * jnp.log(m) - m + 0.5 * math.log(2 * math.pi) + _stirling_sum(m) - m * jnp.log(unit)
    return jnp.where(n <= _PRODUCTS, product, jnp.exp(log)), unit


@differentiable
def _polygamma(n, x):
    factor, unit = _scaled_factorial(n)
    value = jnp.where(n % 2 == 0, -factor, factor) * _sum_of_powers(n + 1, x, unit)
    value = jnp.where((x == np.inf) & (n > 0), 0.0, value)
    return jnp.where(n == 0, lax.digamma(x), jnp.where(n < 0, np.nan, value))


@_polygamma.defjvp
def _polygamma_jvp(primals, tangents):
    (n, x), (_, t) = primals, tangents
    return _polygamma(n, x), t * _polygamma(n + 1, x)


@inlined
def polygamma(n: ArrayLike, x: ArrayLike) -> Array:
    """``n``-th derivative of `digamma` at ``x``, for integers ``n`` not below 0.

    Raises:
      ValueError: ``n`` is not of an integer dtype.

    Source: `scipy.special.polygamma`.

    >>> jsp.special.polygamma(1, 1.)
    Array(1.6449342, dtype=float32, weak_type=True)
    """
    check_arraylike("polygamma", n, x)
    if not dtypes.issubdtype(dtypes.dtype(n), np.integer):
        raise ValueError(f"polygamma: n is the number of a derivative and must be an integer, got dtype {dtypes.dtype(n)}; "
                         "jax.lax.polygamma takes floats")
    (n, x), dtype = wide("polygamma", n, x)
    return convert(_polygamma(*jnp.broadcast_arrays(n, x)), dtype, n.weak_type and x.weak_type)
