"""The gamma function and its relatives: beta, incomplete gamma and beta, digamma, binomials.

The gamma function is computed from ``1 / gamma`` on [1, 2], the recurrence, Stirling's formula, and reflection, and not as
``exp(log gamma)``, which multiplies the error of the logarithm by its size.

Sources: DLMF 5.5.1, 5.5.3, 5.11.1, 5.11.3; Chebyshev coefficients: `benchmarks/accuracy/fit.py`.
"""
from __future__ import annotations

import math

import numpy as np

from jax_core.configuration import flags
from jax_core.representation import dtypes
from jax_core.representation.arguments import integer
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike
from jax_core.traces.structural import convert_element_type_p
from jax_core.transformations.autodiff import jvp

from ... import lax, numpy as jnp
from ...lax.incomplete import _lgamma_gap
from ...lax.quotient_cpu import shared_quotient
from ...numpy.promotion import convert, narrowed, promote_args_inexact, strong
from ._series import chebyshev, differentiable, inlined, log1p, wide

_RGAMMA = (
    1.063773007805262, -0.004985587286840036, -0.06419254361091582, 0.005065798640286087, 0.0004166091387096889,
    -8.048141249784711e-05, 2.960011775188017e-06, 2.6897599644059546e-07, -3.3396463068683694e-08, 1.0896538645441867e-09,
    5.13850186324227e-11, -6.600741004112952e-12, 2.4769163034825414e-13, 2.2003907817225954e-15, -6.707186064779082e-16,
    3.1317345823123396e-17)
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)  # DLMF 5.11.1

# -- gamma -------------------------------------------------------------------------------------------------------------


def _stirling_sum(x):
    """``log gamma(x) - (x - 1/2) log(x) + x - log(2 pi)/2`` for large ``x``."""
    return _odd_powers(_STIRLING, 1 / x)


def _stirling_slope(x):
    """Less the derivative of `_stirling_sum`."""
    inverse = 1 / x
    return inverse * _odd_powers([(2 * k + 1) * c for k, c in enumerate(_STIRLING)], inverse)


def _odd_powers(coefficients, x):
    z, total = x * x, 0.0
    for c in reversed(coefficients):
        total = total * z + c
    return total * x


def _gamma_from_half(x):
    """gamma(x) for x >= 1/2 as a product of two, neither of which overflows where its reciprocal counts."""
    steps = 12
    near = x < steps
    z, factor = jnp.where(near, x, 1.5), jnp.ones_like(x)
    low = z < 1
    factor = jnp.where(low, 1 / z, factor)
    z = jnp.where(low, z + 1, z)
    for _ in range(steps - 2):
        high = z >= 2
        z = jnp.where(high, z - 1, z)
        factor = jnp.where(high, factor * z, factor)
    by_recurrence = factor / chebyshev(_RGAMMA, 1, 2, z)
    top = 190.0 if x.dtype == np.float64 else 44.0  # where the reciprocal is 0, also beside a pole
    y = jnp.where(near, float(steps), jnp.minimum(x, top))
    half_power = jnp.power(y, 0.5 * y - 0.25)  # in two factors, as the power alone would overflow
    rest = half_power * (math.sqrt(2 * math.pi) * jnp.exp(_stirling_sum(y)))
    return jnp.where(near, by_recurrence, half_power * jnp.exp(-y)), jnp.where(near, 1.0, rest)


def _sin_pi(x):
    """sin(pi x), exact at whole numbers."""
    whole = jnp.round(x)
    r = jnp.sin(np.pi * (x - whole))
    return jnp.where(jnp.mod(whole, 2) == 1, -r, r)


@differentiable
def _gamma(x):
    reflect = x < 0.5
    first, rest = _gamma_from_half(jnp.where(reflect, 1 - x, x))
    value = jnp.where(reflect, np.pi / (_sin_pi(jnp.where(reflect, x, 0.5)) * first) / rest, first * rest)
    pole = (x < 0) & (x == jnp.floor(x))
    return jnp.where(x == 0, jnp.copysign(np.inf, x), jnp.where(pole, np.nan, value))


@_gamma.defjvp
def _gamma_jvp(primals, tangents):
    (x,), (t,) = primals, tangents
    y = _gamma(x)
    return y, t * y * lax.digamma(x)


@inlined
def gamma(x: ArrayLike) -> Array:
    """The gamma function, also of complex numbers: infinite at 0, NaN at negative whole numbers.

    Source: `scipy.special.gamma`.

    >>> jsp.special.gamma(jnp.array([5., 0.5]))
    Array([24.       ,  1.7724538], dtype=float32)
    """
    if dtypes.issubdtype(jnp.result_type(x), np.complexfloating):
        return jnp.exp(_complex_loggamma(strong(jnp.asarray(x))))
    (x,), dtype = wide("gamma", x)
    return _gamma(x).astype(dtype)


@inlined
def gammaln(x: ArrayLike) -> Array:
    """Logarithm of the magnitude of the gamma function: infinite at 0 and at negative whole numbers.

    Source: `scipy.special.gammaln`.

    >>> jsp.special.gammaln(10.)
    Array(12.80183, dtype=float32, weak_type=True)
    """
    (x,), dtype = wide("gammaln", x, kept=True)
    return convert(lax.lgamma(x), dtype)


def _complex_loggamma(z):
    """Stirling's series after moving the real part above 8; reflection (DLMF 5.5.3) on the left half. NaN at the poles."""
    x, reflect = jnp.real(z), jnp.real(z) < 0.5
    pole = (jnp.imag(z) == 0) & (x <= 0) & (x == jnp.floor(x))
    y = jnp.where(reflect, 1 - z, z)
    shift = jnp.zeros_like(z)
    for _ in range(8):
        small = jnp.real(y) < 8
        shift = jnp.where(small, shift + jnp.log(jnp.where(small, y, 1)), shift)
        y = jnp.where(small, y + 1, y)
    right = (y - 0.5) * jnp.log(y) - y + 0.5 * math.log(2 * math.pi) + _stirling_sum(y) - shift
    upper = jnp.imag(z) >= 0
    w = jnp.where(upper, z, jnp.conj(z))
    turn = 2j * np.pi * (w - jnp.round(jnp.real(w)).astype(w.dtype))  # near 0 beside the poles, where 1 - exp(turn) has no digits
    log_sine = jnp.log(-jnp.expm1(turn)) + (1j * np.pi * (0.5 - w) - math.log(2))
    log_sine = jnp.where(upper, log_sine, jnp.conj(log_sine))
    return jnp.where(pole, complex(np.nan, np.nan), jnp.where(reflect, math.log(math.pi) - log_sine - right, right))


@inlined
def loggamma(x: ArrayLike) -> Array:
    """The logarithm of gamma, continued from the positive axis; for real ``x`` below 0 it is NaN, as for complex ``x`` at the poles.

    Source: `scipy.special.loggamma`.

    >>> jax.scipy.special.loggamma(5.0)
    Array(3.1780548, dtype=float32, weak_type=True)
    """
    (x,) = promote_args_inexact("loggamma", x)
    if dtypes.issubdtype(jnp.asarray(x).dtype, np.complexfloating):
        return _complex_loggamma(strong(jnp.asarray(x)))
    return jnp.where(x < 0, np.nan, gammaln(x))


@inlined
def gammasgn(x: ArrayLike) -> Array:
    """Sign of the gamma function: that of the zero at 0, NaN at negative whole numbers and at -inf.

    Source: `scipy.special.gammasgn`.

    >>> jsp.special.gammasgn(jnp.array([-0.5, 0.5]))
    Array([-1.,  1.], dtype=float32)
    """
    (x,), dtype = wide("gammasgn", x)
    floor = jnp.floor(x)
    negative = jnp.where(x == floor, np.nan, jnp.where(jnp.mod(floor, 2) == 0, 1.0, -1.0))
    return jnp.where(jnp.isnan(x), np.nan, jnp.where(x < 0, negative, jnp.where(jnp.signbit(x), -1.0, 1.0))).astype(dtype)


@differentiable
def _digamma(x):
    return jnp.where(x == 0, convert(-jnp.copysign(np.inf, x), x.dtype), lax.digamma(x))


@_digamma.defjvp
def _digamma_jvp(primals, tangents):
    (x,), (t,) = primals, tangents
    return _digamma(x), jvp(lax.digamma, (x,), (t,))[1]


def _digamma_gap(p, q):
    """``digamma(q) - digamma(p + q)``; where both are large, by the difference of their logarithms (DLMF 5.11.2)."""
    large = (q >= 20) & (p + q >= 20) & (p + q < np.inf)
    q0 = jnp.where(q < 20, 20.0, q)  # not a maximum, whose slope is a half at 20
    p0 = jnp.where(p < 20 - q0, 20 - q0, p)

    def rest(x: Array):
        square = 1 / (x * x)
        return 0.5 / x + square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square * (1 / 240 - square / 132))))
    eps = float(dtypes.finfo(q.dtype).eps)
    near = (jnp.abs(p) < eps ** (1 / 3) * q) & (q < 1 / eps)  # the difference would cancel; beyond, rests do not count
    far = jnp.where(large, rest(p0 + q0) - rest(q0) - log1p(shared_quotient(p0, q0)), lax.digamma(q) - lax.digamma(p + q))
    return jnp.where(near, -p * _trigamma(jnp.where(near, q + p / 2, 1.0)), far)


def _trigamma(x):
    """The derivative of `digamma` for positive ``x``, by recurrence from where its asymptotic series holds (DLMF 5.15.5, 5.15.8)."""
    product, total = x * (x + 11), 0.0
    for k in range(6):  # 1/a^2 + 1/b^2 of a = x + k, b = x + 11 - k, which are 11 - 2k apart
        inverse = 1 / (product + k * (11 - k))
        total = total + inverse * (2 + (11 - 2 * k) ** 2 * inverse)
    y = x + 12
    z = 1 / (y * y)
    return total + 1 / y + z / 2 + z / y * (1 / 6 - z * (1 / 30 - z * (1 / 42 - z * (1 / 30 - z * (5 / 66)))))


@inlined
def digamma(x: ArrayLike) -> Array:
    """Derivative of `gammaln`; -inf at 0, inf at -0, NaN at other poles. Source: `scipy.special.digamma`.

    >>> jsp.special.digamma(1.)
    Array(-0.5772157, dtype=float32, weak_type=True)
    """
    (x,), dtype = wide("digamma", x, kept=True)
    return convert(_digamma(x), dtype)


def multigammaln(a: ArrayLike, d: int) -> Array:
    """Logarithm of the multivariate gamma function of dimension ``d``: ``d (d-1)/4 log(pi) + sum gammaln(a - k/2)``,
    k from 0 to d - 1.

    Source: `scipy.special.multigammaln`.

    >>> jsp.special.multigammaln(3., 2)
    Array(1.5501953, dtype=float32)
    """
    return _multigammaln(a, integer("multigammaln: d", d))


@inlined(static_argnums=(1,))
def _multigammaln(a, d):
    (a,) = promote_args_inexact("multigammaln", a)
    a = jnp.broadcast_to(jnp.expand_dims(a, -1), (*jnp.shape(a), d))
    terms = gammaln(a - lax.broadcasted_iota(a.dtype, a.shape, a.ndim - 1) / 2)
    return jnp.sum(terms, -1) + d * (d - 1) / 4 * math.log(math.pi)


@inlined
def gammainc(a: ArrayLike, x: ArrayLike) -> Array:
    """Regularised lower incomplete gamma function P(a, x). Source: `scipy.special.gammainc`.

    >>> jsp.special.gammainc(1., 2.)
    Array(0.86466473, dtype=float32, weak_type=True)
    """
    return lax.igamma(*jnp.broadcast_arrays(*promote_args_inexact("gammainc", a, x)))


@inlined
def gammaincc(a: ArrayLike, x: ArrayLike) -> Array:
    """Regularised upper incomplete gamma function Q(a, x) = 1 - P(a, x). Source: `scipy.special.gammaincc`.

    >>> jsp.special.gammaincc(1., 2.)
    Array(0.13533528, dtype=float32, weak_type=True)
    """
    return lax.igammac(*jnp.broadcast_arrays(*promote_args_inexact("gammaincc", a, x)))


# -- beta --------------------------------------------------------------------------------------------------------------

def _of_each(function, *xs):
    """``function``, whose code is long, of arrays of one shape: one kernel for all where they have some hundred numbers. Of more, runs are
    longer so, as the results are kept in memory."""
    size = math.prod(jnp.shape(xs[0]))
    if isinstance(size, int) and 64 < size <= 1024 and not flags.one_form.value:
        return lax.optimization_barrier(function(lax.optimization_barrier(jnp.stack(xs))))
    return [function(x) for x in xs]


def _pole(x):
    return (x <= 0) & (x == jnp.floor(x))


def _off_pole(a, b):
    """``a``, or ``1 - a - b`` where gamma has poles at ``a`` and ``a + b`` whose quotient is finite as ``b`` is whole: there beta is that of
    ``1 - a - b`` and ``b``, times ``(-1)**b`` (DLMF 5.5.3). Also where that is."""
    moved = _pole(a) & (b > 0) & (b == jnp.floor(b)) & (a + b <= 0) & (a > -np.inf)
    return jnp.where(moved, 1 - (a + b), a), moved


@differentiable
def _betaln(a, b):
    p, q = jnp.minimum(a, b), jnp.maximum(a, b)
    twice = _pole(q) & _pole(p)
    p, moved = _off_pole(p, q)
    p, q = jnp.where(moved, jnp.minimum(p, q), p), jnp.where(moved, jnp.maximum(p, q), q)
    total = p + q
    large = (q >= 20) & (total >= 20) & (q < np.inf)
    first, second, both = _of_each(lax.lgamma, p, q, total)
    by_gap = first + _lgamma_gap(p, q)
    other = jnp.where(twice, np.inf, first + second - both)
    return jnp.where((p > 0) & (total == np.inf), -np.inf, jnp.where(large, by_gap, other))


@_betaln.defjvp
def _betaln_jvp(primals, tangents):
    (a, b), (da, db) = primals, tangents
    return _betaln(a, b), da * _betaln_slope(a, b) + db * _betaln_slope(b, a)


def _betaln_slope(a, b):
    """The derivative of `_betaln` in ``a``: NaN where it is finite only at whole ``a``."""
    at, moved = _off_pole(a, b)
    slope = _digamma_gap(b, at)
    return jnp.where(_off_pole(b, a)[1], np.nan, jnp.where(moved, -slope, slope))


@inlined
def betaln(a: ArrayLike, b: ArrayLike) -> Array:
    """Logarithm of the magnitude of the beta function, without cancellation for large arguments; at poles as `beta`.

    Args:
      a, b: real numbers, which broadcast.

    Source: `scipy.special.betaln`.

    >>> jsp.special.betaln(2., 3.)
    Array(-2.4849074, dtype=float32, weak_type=True)
    """
    (a, b), dtype = wide("betaln", a, b)
    return convert(_betaln(*jnp.broadcast_arrays(a, b)), dtype, a.weak_type and b.weak_type)


@differentiable
def _beta(a, b):
    p, q = jnp.minimum(a, b), jnp.maximum(a, b)
    at, moved = _off_pole(p, q)
    sign = jnp.where(p > 0, 1.0, gammasgn(p) * gammasgn(q) * gammasgn(a + b))
    small = (jnp.abs(at) < 10) & (jnp.abs(q) < 10)
    x, y = jnp.where(small, at, 1.0), jnp.where(small, q, 1.0)
    of_x, of_y, of_both = _of_each(_gamma, x, y, x + y)
    sign = jnp.where(moved, jnp.where(jnp.mod(q, 2) == 1, -1.0, 1.0), sign)
    size = jnp.where(small, jnp.where(moved, sign, 1) * (of_x * (of_y / of_both)), sign * jnp.exp(_betaln(a, b)))
    size = jnp.where((jnp.abs(p) < 1e-9) & (jnp.abs(q) < 1e-9), 1 / p + 1 / q, size)  # gamma is the reciprocal there, and of zeros their quotient would be NaN
    return jnp.where(_zero_of_beta(p, q), 0.0, size).astype(a.dtype)


def _zero_of_beta(a, b):
    """Where ``a + b`` is a pole of gamma, but neither of the two is."""
    return _pole(a + b) & ~_pole(a) & ~_pole(b)


@_beta.defjvp
def _beta_jvp(primals, tangents):
    (a, b), (da, db) = primals, tangents
    y, zero = _beta(a, b), _zero_of_beta(a, b)
    at_zero = jnp.where(zero, a, -0.5), jnp.where(zero, b, 0.5)
    elsewhere = jnp.where(zero, 1.0, a), jnp.where(zero, 1.0, b)
    slope = lambda order: jnp.where(zero, _slope_by_reflection(*at_zero[::order]), y * _betaln_slope(*elsewhere[::order]))
    return y, da * slope(1) + db * slope(-1)


def _slope_by_reflection(a, b):
    """The derivative in ``a`` of ``gamma(a) gamma(b) gamma(1 - a - b) sin(pi (a + b)) / pi`` (DLMF 5.5.3), which is beta: at its
    zeros, those of the sine, it has all its derivatives."""
    total = a + b
    whole = lax.stop_gradient(jnp.round(total))
    turn = np.pi * (total - whole)
    sign = jnp.where(jnp.mod(whole, 2) == 0, 1.0, -1.0) * gammasgn(a) * gammasgn(b)
    size = jnp.exp(lax.lgamma(a) + lax.lgamma(b) + lax.lgamma(1 - total))
    return sign * size * (jnp.cos(turn) + jnp.sin(turn) / np.pi * (lax.digamma(a) - lax.digamma(1 - total)))


@inlined
def beta(a: ArrayLike, b: ArrayLike) -> Array:
    """``gamma(a) gamma(b) / gamma(a + b)``; where both parts have a pole, but their quotient is finite, that, for the other argument fixed.

    Source: `scipy.special.beta`.

    >>> jsp.special.beta(2., 3.)
    Array(0.08333334, dtype=float32)
    """
    (a, b), dtype = wide("beta", a, b)
    return _beta(*jnp.broadcast_arrays(a, b)).astype(dtype)


@inlined
def betainc(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array:
    """Regularised incomplete beta function I_x(a, b).

    Args:
      a, b: positive.
      x: in [0, 1].

    Source: `scipy.special.betainc`.

    >>> jsp.special.betainc(1., 1., 0.25)
    Array(0.24999976, dtype=float32, weak_type=True)
    """
    return lax.betainc(*jnp.broadcast_arrays(*promote_args_inexact("betainc", a, b, x)))


# -- factorials --------------------------------------------------------------------------------------------------------

def factorial(n: ArrayLike, exact: bool = False) -> Array:
    """``gamma(n + 1)``, and 0 for negative ``n``, as floating-point numbers.

    Raises:
      NotImplementedError: ``exact=True``, which needs integers of any length; use `math.factorial`.
      TypeError: complex numbers.

    Source: `scipy.special.factorial`.

    >>> jsp.special.factorial(5)
    Array(120., dtype=float32, weak_type=True)
    """
    if exact:
        raise NotImplementedError("factorial: exact=True needs integers of any length; use math.factorial")
    return _factorial(n)


@inlined
def _factorial(n):
    n = jnp.asarray(narrowed(*promote_args_inexact("factorial", n)))
    if dtypes.issubdtype(n.dtype, np.complexfloating):
        raise TypeError(f"factorial does not support complex-valued inputs, got {n.dtype}; gamma(n + 1) does")
    x = n.astype(np.float32) if n.dtype.itemsize < 4 else n  # where x + 1 has all digits
    out = jnp.where(x < 0, 0, gamma(jnp.where(x < 0, 1, x + 1)))  # gamma has poles there, and a product of 0 and their slopes is NaN
    return convert_element_type_p.bind(out, new_dtype=n.dtype, weak_type=n.weak_type, sharding=None)


@inlined
def poch(z: ArrayLike, m: ArrayLike) -> Array:
    """Pochhammer symbol ``gamma(z + m) / gamma(z)``. Source: `scipy.special.poch`.

    >>> jsp.special.poch(3., 2.)
    Array(12., dtype=float32)
    """
    args, dtype = wide("poch", z, m)
    return _poch(*jnp.broadcast_arrays(*args)).astype(dtype)


@differentiable
def _poch(start, m):
    pole, whole = _poch_poles(start, m)
    mirrored = whole & (start + m < 1)
    z = jnp.where(mirrored, 1 - start - m, start)
    end = z + m
    large, endless = (z >= 20) & (end >= 20) & (end < np.inf), (end == np.inf) & (z > 0) & (m > 0)
    log_value = jnp.where(large, -_lgamma_gap(m, z), jnp.where(endless, np.inf, lax.lgamma(end) - lax.lgamma(z)))
    value = gammasgn(z) * gammasgn(end) * jnp.exp(log_value)
    small = (jnp.abs(z) < 12) & (jnp.abs(end) < 12) & (z != 0)
    above, below = _gamma(lax.optimization_barrier(jnp.stack([end, z])))  # one kernel for both, which is a long one
    value = jnp.where(small, above / below, value)
    value = jnp.where(mirrored, jnp.where(jnp.mod(m, 2) == 0, value, -value), jnp.where(pole & jnp.isfinite(m), 0.0, value))
    return jnp.where(m == 0, 1.0, value)


def _poch_poles(z, m):
    """Where ``gamma(z)`` has a pole, and where that and ``m`` are whole: there ``(-1)**m poch(1 - z - m, m)`` is it, or 0 (DLMF 5.5.3)."""
    pole = (z <= 0) & (z == jnp.floor(z)) & (z > -np.inf)
    return pole, pole & (m == jnp.floor(m)) & jnp.isfinite(m)


@_poch.defjvp
def _poch_jvp(primals, tangents):
    (z, m), (dz, dm) = primals, tangents
    y = _poch(z, m)
    mirrored = _poch_poles(z, m)[1] & (z + m < 1)
    whole = jnp.round(z)
    near = (z < 0.5) & (jnp.abs(z - whole) < 1e-15) & (z + m > 0) & ~mirrored & (m != 0)  # the poles of gamma(z), by DLMF 5.5.3: nothing infinite is left
    gap = _digamma_gap(m, jnp.where(near, 0.5, jnp.where(mirrored, 1 - z - m, z)))
    u = jnp.where(near, z, 0.0)
    end = jnp.where(near, z + m, 1.0)
    factor = jnp.where(whole % 2 == 0, 1.0, -1.0) * gammasgn(end) * jnp.exp(lax.lgamma(end) + lax.lgamma(1 - u))
    by_z = jnp.where(near, y * (_digamma(end) - _digamma(1 - u)) + factor * jnp.cos(np.pi * (u - jnp.where(near, whole, 0.0))),
                     y * jnp.where(mirrored, gap, -gap))
    return y, dz * by_z + dm * y * _digamma(z + m)


@inlined(static_argnames=("repetition",))
def comb(N: ArrayLike, k: ArrayLike, *, repetition: bool = False) -> Array:
    """Number of ways to choose ``k`` of ``N`` things; with ``repetition``, ``k`` of ``N`` with replacement.

    0 where ``k`` is negative or, without repetition, larger than ``N``; for real arguments ``1 / ((N + 1) B(N-k+1, k+1))``.

    Source: `scipy.special.comb`.

    >>> jax.scipy.special.comb(5, 2)
    Array(10., dtype=float32, weak_type=True)
    """
    args, dtype = wide("comb", N, k)
    things, chosen = jnp.broadcast_arrays(*args)
    if repetition:
        edge = (things == 0) & (chosen == 0)
        things = jnp.where(edge, 0.0, things + chosen - 1)
    inside = (things >= 0) & (chosen >= 0) & (chosen <= things)
    n, j = jnp.where(inside, things, -0.5), jnp.where(inside, chosen, 0.0)
    value = jnp.exp(-log1p(n) - _betaln(n - j + 1, j + 1))
    whole = (n == jnp.round(n)) & (j == jnp.round(j)) & (value < 0.05 / float(dtypes.finfo(n.dtype).eps) ** 0.9)
    value = value + lax.stop_gradient(jnp.where(whole, jnp.round(value) - value, 0))
    # n says where: a second mask beside those of _betaln, in memory, costs jaxlib 0.12 twenty seconds of compilation in float64.
    return convert(jnp.where(n >= 0, value, 0.0), dtype, args[0].weak_type and args[1].weak_type)
