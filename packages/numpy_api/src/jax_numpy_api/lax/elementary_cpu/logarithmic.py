"""Logarithms and inverse hyperbolic functions for the CPU.

A number is ``m 2^k`` with m between sqrt(1/2) and sqrt(2), and with ``s = (m - 1)/(m + 1)``, log(m) is ``2 s`` and a polynomial of
``s**2``. As ``m - 1`` is exact, what is added to it is small, and so is its rounding.

Sources: Abramowitz & Stegun, 4.1 and 4.6; the numbers: `benchmarks/accuracy/minimax.py`.
"""
from __future__ import annotations

import math

from .lanes import FLOAT32, FLOAT64, Lane, magic, polynomial

_INF, _NAN = float("inf"), float("nan")
_SERIES = {  # of (log((1 + s)/(1 - s)) / s - 2) / s**2 in s**2
    FLOAT32: (0.6666666269302368, 0.40000972151756287, 0.2849879264831543, 0.24278856813907623),
    FLOAT64: (0.6666666666666734, 0.39999999999416647, 0.2857142874202624, 0.22222198605298993, 0.18183562836985048,
              0.15314085238708397, 0.14795629104030547)}
_LN2 = {FLOAT32: (0.693359375, -0.00021219444170128554), FLOAT64: (0.6931471803691238, 1.9082149292705877e-10)}
_LOG2_E = {FLOAT32: (1.4423828125, 0.00031222849258962995), FLOAT64: (1.4426950216293335, 1.9259629911266175e-08)}


def split(x: Lane) -> tuple[Lane, Lane, Lane]:
    """``k``, ``m`` and ``2**-k`` of normal numbers."""
    fmt = x.format
    one = fmt.bits(1.0)
    bits = x.bits()
    shifted = bits + (one - fmt.bits(math.sqrt(0.5)))  # carries into the exponent where m would exceed sqrt(2)
    exponent = shifted & (-1 << fmt.mantissa)
    base = magic(fmt)
    k = (shifted.op("shift_right_logical", fmt.mantissa) + fmt.bits(base)).as_float(fmt.dtype) - (base + fmt.bias)
    m = (bits - exponent + one).as_float(fmt.dtype)
    inverse = (exponent.full(2 * one) - exponent).op("maximum", 0).as_float(fmt.dtype)
    return k, m, inverse


def _rest(u: Lane, coefficients: tuple) -> Lane:
    """``u - log(1 + u)``. The quotient ``s`` has several users, and XLA computes such a one in a kernel of its own."""
    s = u * (1.0 / (u + 2.0))
    z = s * s
    half = u * u * 0.5
    return half - s * (half + z * polynomial(z, coefficients))


def _assembled(k: Lane, u: Lane, rest: Lane) -> Lane:
    high, low = _LN2[u.dtype]
    return k * high - ((rest - k * low) - u)


def _with_ends(x: Lane, out: Lane) -> Lane:
    """``out``, a logarithm of ``x``, where there is one; a number too small to be normal counts as 0."""
    small = x < float(2.0 ** (1 - x.format.bias))
    out = small.where((x < 0.0).where(_NAN, x.full(-_INF)), out)
    return (x < _INF).where(out, x)


def log(x: Lane) -> Lane:
    k, m, _ = split(x)
    u = m - 1.0
    return _with_ends(x, _assembled(k, u, _rest(u, _SERIES[x.dtype])))


def log2(x: Lane) -> Lane:
    """Exact at powers of two. The product with log2(e) is one of parts with half of the bits each."""
    k, m, _ = split(x)
    u = m - 1.0
    rest = _rest(u, _SERIES[x.dtype])
    high, low = _LOG2_E[x.dtype]
    upper = (u.bits() & (-1 << (27 if x.double else 12))).as_float(x.dtype)
    lower = (u - upper) - rest
    return _with_ends(x, k + (upper * high + (lower * (high + low) + upper * low)))


def log1p(x: Lane) -> Lane:
    """What the sum ``1 + x`` rounds off is added to ``m - 1``. It is computed of scaled numbers, as XLA takes ``(1 + x) - 1`` for x."""
    y = 1.0 + x
    k, m, inverse = split(y)
    scaled = x * inverse
    below = (x < 2.0 ** 64).where(inverse - (m - scaled), 0.0)
    u = (m - 1.0) + (x < 1.0).where(scaled - (m - inverse), below)
    out = _with_ends(y, _assembled(k, u, _rest(u, _SERIES[x.dtype])))
    return (abs(x) < 2.0 ** (-x.format.mantissa - 2)).where(x, out)


def _far(x: Lane) -> Lane:
    """Whether the square of ``x`` may overflow, and 1 be nothing beside ``x``."""
    return x > (1e150 if x.double else 1e18)


def asinh(x: Lane) -> Lane:
    size = abs(x)
    far, square = _far(size), size * size
    near = size + square / (1.0 + (1.0 + square).op("sqrt"))
    return (log1p(far.where(size, near)) + far.where(math.log(2), x.full(0.0))).with_sign_of(x)


def acosh(x: Lane) -> Lane:
    far, t = _far(x), x - 1.0
    out = log1p(far.where(x, t + (t * (t + 2.0)).op("sqrt"))) + far.where(math.log(2), x.full(0.0))
    return (x < 1.0).where(_NAN, out)


def atanh(x: Lane) -> Lane:
    size = abs(x)
    twice = size + size
    out = (log1p(twice + twice * size / (1.0 - size)) * 0.5).with_sign_of(x)
    return (size > 1.0).where(_NAN, out)
