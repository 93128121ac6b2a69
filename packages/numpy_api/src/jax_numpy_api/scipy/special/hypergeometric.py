"""Hypergeometric functions of real arguments.

Both are sums of a power series, after a transformation that brings the argument to where the series converges fast and
loses no digits. Series are summed until the last element of the array has converged.

Sources: DLMF 13.2.2, 13.2.39, 13.7.2, 15.2.1, 15.8.1, 15.8.4; Pearson, Olver, Porter, "Numerical methods for the computation
of the confluent and Gauss hypergeometric functions", Numer. Algorithms 74 (2017).
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from jax_core.representation import dtypes
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike

from ... import lax, numpy as jnp
from ...lax.incomplete import _lgamma_gap
from ._series import HELD, differentiable, inlined, wide
from .gammas import gammasgn

if TYPE_CHECKING:
    from jax_core.representation.typing import PyTree

_STEPS = 20000  # near x = 1 the series of a whole c - a - b converges slowly


def _sum(ratio, like, first=1.0):
    """``first * (1 + r0 + r0 r1 + ...)`` with ``ratio(k)`` the quotient of neighbouring terms, to the dtype's precision."""
    eps = float(dtypes.finfo(like.dtype).eps) / 4
    start = jnp.broadcast_to(jnp.asarray(first, like.dtype), like.shape)

    def going(state: PyTree):
        k, active, _, _ = state
        return jnp.any(active) & (k < _STEPS)

    def step(state: PyTree):
        k, active, term, total = state
        term = jnp.where(active, term * ratio(k.astype(like.dtype)), term)
        new = total + term
        return k + 1, active & (jnp.abs(term) > eps * jnp.abs(new)), term, jnp.where(active, new, total)

    return lax.while_loop(going, step, (jnp.int32(0), jnp.ones(like.shape, bool), start, start))[3]


def _term(top, bottom):
    """A quotient, 0 where the numerator is (a series that ends has ended)."""
    return jnp.where(top == 0, 0.0, top / jnp.where(top == 0, 1.0, bottom))


def _ends(a):
    """Whether a series in ``a (a + 1) (a + 2) ...`` ends."""
    return (a <= 0) & (a == jnp.floor(a))


def _logs(m, y):
    """``log(y**m / m!)`` but for its powers of ``m``; beyond ``m = y`` as much as makes nothing small."""
    m = jnp.minimum(m, y)
    return jnp.where(m > 0, m * (jnp.log(y) - jnp.log(jnp.where(m > 0, m, 1.0)) + 1), 0.0)


def _kummer_sum(a, b, x, log_factor):
    """The series of ``1F1(a; b; x)`` times ``exp(log_factor)``; NaN where it has not converged, or where terms of both signs leave none of
    its digits. As neither may be a number while their product is, terms that have grown are divided by a power of e, which the factor gets."""
    eps, step = float(dtypes.finfo(x.dtype).eps) / 4, 32.0

    def going(state: PyTree):
        return jnp.any(state[1]) & (state[0] < _STEPS)

    def advance(state: PyTree):
        n, active, term, total, rest, peak = state
        k = n.astype(x.dtype)
        term = jnp.where(active, term * _term((a + k) * x, (b + k) * (k + 1)), term)
        new = total + term
        total, active = jnp.where(active, new, total), active & (jnp.abs(term) > eps * jnp.abs(new))
        grown = jnp.abs(total) > math.exp(step)
        down = jnp.where(grown, math.exp(-step), 1.0)
        return n + 1, active, term * down, total * down, jnp.where(grown, rest + step, rest), jnp.maximum(peak, jnp.abs(term)) * down

    one = jnp.ones_like(x)
    _, active, _, total, rest, peak = lax.while_loop(going, advance, (jnp.int32(0), jnp.ones(x.shape, bool), one, one, log_factor, one))
    lost = ((rest > log_factor) | (peak > eps ** -0.5)) & (jnp.abs(total) < 1024 * eps * peak)
    return jnp.where(active | lost, np.nan, total * jnp.exp(rest))


def _m_asymptotic(a, b, excess, x, shifted):
    """``gamma(b)/gamma(a) exp(shifted) x**excess`` times a series in 1/x cut at its smallest term (DLMF 13.7.2), for
    large x > 0; ``excess`` is ``a - b``."""
    def shrinks(state: PyTree):
        return jnp.any(state[1] != 0) & (state[0] < 30)

    def advance(state: PyTree):
        n, term, total, last = state
        k = n.astype(x.dtype)
        new = term * (1 - a + k) * (k - excess) / ((k + 1) * x)
        shrinking = jnp.abs(new) < last
        term = jnp.where(shrinking, new, 0.0)
        return n + 1, term, total + term, jnp.where(shrinking, jnp.abs(new), 0.0)

    one = jnp.ones_like(x)
    total = lax.while_loop(shrinks, advance, (jnp.int32(0), one, one, jnp.full_like(x, np.inf)))[2]
    alike = (a >= 20) & (b >= 20)
    quotient = jnp.where(alike, _lgamma_gap(jnp.where(alike, excess, 0.0), jnp.where(alike, b, 20.0)), lax.lgamma(b) - lax.lgamma(a))
    size = jnp.exp(quotient + shifted + jnp.where(excess == 0, 0.0, excess * jnp.log(x)))
    return gammasgn(b) * gammasgn(a) * size * total


def _last_sign(a, b, x):
    """The sign of the last term ``(a)_n x**n / ((b)_n n!)`` of the series that ends at ``n = -a > 0``."""
    negative = jnp.clip(jnp.ceil(-b), 0, -a) - jnp.where(x > 0, a, 0)  # how many factors are
    return 1 - 2 * jnp.remainder(negative, 2)


@differentiable
def _hyp1f1(a, b, x):
    ended = _ends(a)
    flip = (x < 0) & ~ended  # Kummer: M(a, b, x) = exp(x) M(b - a, b, -x)
    p, y, excess = jnp.where(flip, b - a, a), jnp.where(flip, -x, x), jnp.where(flip, -a, a - b)
    ends = _ends(p)
    gap, finite = jnp.abs(excess), jnp.minimum(y, float(dtypes.finfo(x.dtype).max))
    other = _logs(gap, finite) + _logs(jnp.maximum(-p, 0), finite) - finite  # logarithm of the other solution's share (DLMF 13.7.2)
    far = (y > 60) & (other < math.log(float(dtypes.finfo(x.dtype).eps)) - 3) & (y > 2 * jnp.abs(p - 1) * gap) & ~ends
    z = jnp.where(far | ~jnp.isfinite(y), 1.0, y)
    series = _kummer_sum(p, b, z, jnp.where(flip & ~far, x, 0.0))
    top = jnp.where(flip, y, finite)  # infinity as a number, which is beyond its powers
    at_infinity = _m_asymptotic(jnp.where(far, p, 1.0), b, excess, jnp.where(far, top, 100.0), jnp.where(flip, 0.0, top))
    value = jnp.where(far, at_infinity, series)
    value = jnp.where(ended & jnp.isinf(x), _last_sign(a, b, x) * np.inf, value)
    pole = _ends(b) & ~(ended & (a >= b))
    value = jnp.where(pole, np.inf, jnp.where(a == 0, 1.0, value))
    return jnp.where(jnp.isnan(a) | jnp.isnan(b) | jnp.isnan(x), np.nan, value)


_WEIGHTS = np.array([1, -8, 8, -1]) / 12  # of the values at the distances -2, -1, 1 and 2


def _value_and_tangent(f, args, tangents, first):
    """``f`` and its tangent; ``first`` is the factor of the series' first power, so that the slope by the last argument is ``first`` times ``f`` with
    all parameters greater by 1. Those by parameters, which are no such functions, are central differences of fourth order.

    By one call of ``f``, on stacked arguments: these are long programs, to be compiled once. For the last argument alone two calls, the
    first of which `grad` leaves out.
    """
    *parameters, x = args
    *moving, dx = [t is not HELD for t in tangents]
    following = [*[p + 1 for p in parameters], x]
    if not any(moving):
        return f(*args), tangents[-1] * first * f(*following)
    h = [float(dtypes.finfo(dtypes.dtype(p)).eps) ** 0.2 * jnp.sqrt(jnp.maximum(1.0, jnp.abs(p))) * 0.5 for p in parameters]  # 1F1 turns within a root
    moved = [i for i, moves in enumerate(moving) if moves]
    points = [[p + s * h[i] if i == j else p for j, p in enumerate(args)] for i in moved for s in (-2, -1, 1, 2)]
    found = f(*map(jnp.stack, zip(*points, args, following)))
    shifted = found[:-2].reshape(len(moved), 4, *found.shape[1:])
    differences = jnp.sum(shifted * _WEIGHTS.astype(found.dtype).reshape(4, *[1] * (found.ndim - 1)), axis=1)  # slices would each compute f again
    tangent = sum([tangents[i] * (differences[k] / h[i]) for k, i in enumerate(moved)])
    return found[-2], tangent + tangents[-1] * first * found[-1] if dx else tangent


@_hyp1f1.defjvp
def _hyp1f1_jvp(primals, tangents):
    a, b, _ = primals
    return _value_and_tangent(_hyp1f1, primals, tangents, a / b)


def _or_array(x: Any) -> Any:
    return jnp.asarray(x) if isinstance(x, (list, tuple)) else x


@inlined
def hyp1f1(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array:
    """Kummer's confluent function ``1F1(a; b; x)``, real; infinite where ``b`` is a whole number not above 0.

    The derivative in ``x`` is exact; those in ``a`` and ``b`` are difference quotients of fourth order.

    Source: `scipy.special.hyp1f1`.

    >>> jsp.special.hyp1f1(1., 1., 0.5)
    Array(1.6487213, dtype=float32)
    """
    args, dtype = wide("hyp1f1", *map(_or_array, (a, b, x)))
    return _hyp1f1(*jnp.broadcast_arrays(*args)).astype(dtype)


def _f_series(a, b, c, x):
    return _sum(lambda k: _term((a + k) * (b + k) * x, (c + k) * (k + 1)), x)


def _connection(a, b, c):
    """``gamma(c) / (gamma(a) gamma(b))``, the same times ``gamma(-s)``, and ``gamma(c) gamma(s) / (gamma(c - a) gamma(c - b))`` for
    ``s = c - a - b``. All seven gamma functions are computed in one loop, as each is a long program for the compiler."""
    s = c - a - b
    x = jnp.stack([c, s, -s, a, b, c - a, c - b])
    sign, log, pole = (list(jnp.unstack(v)) for v in (gammasgn(x), lax.lgamma(x), _ends(x)))

    def quotient(top, other, left, right):
        """0 where one below, ``left`` or ``right``, has a pole."""
        signs, size = sign[top] * sign[left] * sign[right], log[top] - log[left] - log[right]
        if other is not None:
            signs, size = signs * sign[other], size + log[other]
        return jnp.where(pole[left] | pole[right], 0.0, signs * jnp.exp(size))
    return quotient(0, None, 3, 4), quotient(0, 2, 3, 4), quotient(0, 1, 5, 6)


def _near_one(a, b, c, x, first, second):
    """DLMF 15.8.4 for 1/2 < x < 1; not where ``c - a - b`` is (nearly) whole, as two poles cancel there."""
    s, rest = c - a - b, 1 - x
    return first * _f_series(a, b, 1 - s, rest) + second * jnp.power(rest, s) * _f_series(c - a, c - b, 1 + s, rest)


def _log_near_one(a, b, x, factor):
    """DLMF 15.8.10 with ``c = a + b``, for 3/4 < x < 1: the two poles of `_near_one` leave a logarithm."""
    rest = 1 - x

    def step(k, state):
        term, psi, total = state
        n = k.astype(x.dtype)
        following = term * (a + n) * (b + n) * rest / ((n + 1) * (n + 1))
        return following, psi + 2 / (n + 1) - 1 / (a + n) - 1 / (b + n), total + term * psi
    psi = -2 * np.euler_gamma - jnp.sum(lax.digamma(jnp.stack([a, b])), axis=0) - jnp.log(rest)
    total = lax.fori_loop(0, 32, step, (jnp.ones_like(x), psi, jnp.zeros_like(x)))[2]  # 4**-32 is below float64's precision
    return factor * total


@differentiable
def _hyp2f1(a, b, c, x):
    negative = x < 0  # Pfaff: F(a, b; c; x) = (1 - x)**-a F(a, c - b; c; x/(x - 1))
    y = jnp.where(negative, x / (x - 1), x)
    swap = negative & jnp.where(_ends(a), _ends(b) & (b > a), _ends(b) | (jnp.abs(b) < jnp.abs(a)))  # the shorter one of series that end
    p, q = jnp.where(swap, b, a), jnp.where(swap, a, b)
    q, power = jnp.where(negative, c - q, q), -p
    s = c - p - q
    exact = jnp.abs(s - jnp.round(s)) <= 8 * float(dtypes.finfo(x.dtype).eps) * jnp.maximum(1.0, jnp.abs(c))
    euler = exact & (s < -0.5) & (y > 0.75) & (y < 1) & ~_ends(p)  # F(a, b; c; x) = (1 - x)**s F(c - a, c - b; c; x), which has -s
    p, q = jnp.where(euler, c - p, p), jnp.where(euler, c - q, q)
    ends = _ends(p) | _ends(q)
    whole = jnp.abs(s - jnp.round(s)) < 1e-3
    mirrored = (y > 0.75) & (y < 1) & ~ends & ~whole
    logarithmic = (y > 0.75) & (y < 1) & ~ends & exact & (jnp.round(s) == 0)
    direct = _f_series(p, q, c, jnp.where(mirrored | logarithmic | ~(jnp.abs(y) < 1) & ~ends, 0.25, y))
    one = (y == 1) & ~ends
    to_one = mirrored | logarithmic | one
    u, v, w = (jnp.where(to_one, given, other) for given, other in ((p, 0.25), (q, 0.25), (jnp.where(logarithmic, p + q, c), 1.0)))
    factor, second, first = _connection(u, v, w)
    value = jnp.where(mirrored, _near_one(u, v, w, jnp.where(mirrored, y, 0.75), first, second), direct)
    value = jnp.where(logarithmic, _log_near_one(u, v, jnp.where(logarithmic, y, 0.8), factor), value)
    value = jnp.where(euler, jnp.power(1 - jnp.where(euler, y, 0.0), s) * value, value)
    value = jnp.where(one, jnp.where(s > 0, first, np.inf), value)
    value = jnp.where(negative, jnp.power(1 - jnp.where(negative, x, 0.0), power) * value, value)
    c_pole = _ends(c)
    value = jnp.where(c_pole & ~ends, np.inf, value)
    value = jnp.where((x > 1) & ~ends, np.inf, value)
    other = jnp.where(a == c, b, a)  # F(a, b; a; x) = (1 - x)**-b, with a whole b also beyond 1
    plain = ((a == c) | (b == c)) & ~c_pole & ((x < 1) | (other == jnp.floor(other)))
    value = jnp.where(plain, jnp.power(1 - jnp.where(plain, x, 0.0), -other), value)
    nan = jnp.isnan(a) | jnp.isnan(b) | jnp.isnan(c) | jnp.isnan(x)
    return jnp.where(nan, np.nan, jnp.where(x == 0, 1.0, value))


@_hyp2f1.defjvp
def _hyp2f1_jvp(primals, tangents):
    a, b, c, _ = primals
    return _value_and_tangent(_hyp2f1, primals, tangents, a * b / c)


@inlined
def hyp2f1(a: ArrayLike, b: ArrayLike, c: ArrayLike, x: ArrayLike) -> Array:
    """Gauss' function ``2F1(a, b; c; x)``, real, for ``x <= 1``; infinite beyond, unless the series ends or the
    function is a whole power of ``1 - x``.

    The derivative in ``x`` is exact; those in ``a``, ``b`` and ``c`` are difference quotients of fourth order.

    Source: `scipy.special.hyp2f1`.

    >>> jsp.special.hyp2f1(1., 1., 2., 0.5)
    Array(1.3862946, dtype=float32)
    """
    args, dtype = wide("hyp2f1", *map(_or_array, (a, b, c, x)))
    return _hyp2f1(*jnp.broadcast_arrays(*args)).astype(dtype)
