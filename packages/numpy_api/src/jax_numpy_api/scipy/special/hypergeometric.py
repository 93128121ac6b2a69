"""Hypergeometric functions of real arguments.

Both are sums of a power series, after a transformation that brings the argument to where the series converges fast and
loses no digits. Series are summed until the last element of the array has converged.

Sources: DLMF 13.2.2, 13.2.39, 13.7.2, 15.2.1, 15.8.1, 15.8.4; Pearson, Olver, Porter, "Numerical methods for the computation
of the confluent and Gauss hypergeometric functions", Numer. Algorithms 74 (2017).
"""
from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import numpy as np

from jax_core.representation import dtypes
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike
from jax_core.transformations.autodiff import jvp

from ... import lax, numpy as jnp
from ...lax.incomplete import _lgamma_gap
from ...numpy.creation import of_list
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


def _is_far(p, excess, y, finite):
    """Whether the series in 1/y serves: there the other solution is nothing beside it (DLMF 13.7.2), and the terms fall."""
    gap = jnp.abs(excess)
    other = _logs(gap, finite) + _logs(jnp.maximum(-p, 0), finite) - finite  # logarithm of the other solution's share
    return (y > 60) & (other < math.log(float(dtypes.finfo(y.dtype).eps)) - 3) & (y > 2 * jnp.abs(p - 1) * gap)


@differentiable
def _hyp1f1(a, b, x):
    ended = _ends(a)
    flip = (x < 0) & ~ended  # Kummer: M(a, b, x) = exp(x) M(b - a, b, -x)
    p, y, excess = jnp.where(flip, b - a, a), jnp.where(flip, -x, x), jnp.where(flip, -a, a - b)
    ends = _ends(p)
    finite = jnp.minimum(y, float(dtypes.finfo(x.dtype).max))
    far = _is_far(p, excess, y, finite) & ~ends
    z = jnp.where(far | ~jnp.isfinite(y), 1.0, y)
    series = _kummer_sum(p, b, z, jnp.where(flip & ~far, x, 0.0))
    top = jnp.where(flip, y, finite)  # infinity as a number, which is beyond its powers
    at_infinity = _m_asymptotic(jnp.where(far, p, 1.0), b, excess, jnp.where(far, top, 100.0), jnp.where(flip, 0.0, top))
    value = jnp.where(far, at_infinity, series)
    value = jnp.where(ended & jnp.isinf(x), _last_sign(a, b, x) * np.inf, value)
    pole = _ends(b) & ~(ended & (a >= b))
    value = jnp.where(pole, np.inf, jnp.where((a == 0) | (x == 0), 1.0, value))
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
    differences = jnp.sum(shifted * _WEIGHTS.astype(found.dtype).reshape(1, 4, *[1] * (shifted.ndim - 2)), axis=1)  # slices would each compute f again
    tangent = sum([tangents[i] * (differences[k] / h[i]) for k, i in enumerate(moved)])
    return found[-2], tangent + tangents[-1] * first * found[-1] if dx else tangent


def _kummer_slopes(p, b, y, flipped, log_factor):
    """The derivatives of the series ``S`` of ``1F1(p; b; y)`` by ``p`` and ``b``, and the series of the slope by its argument, ``(p / b) 1F1(p + 1; b + 1; y)``
    or, where ``flipped``, ``((b - p) / b) 1F1(p; b + 1; y)``; all times ``exp(log_factor)``. NaN as in `_kummer_sum`.

    Their terms are those of ``S`` times a factor; where ``S`` ends, the derivative by ``p`` does not.
    """
    eps, step = float(dtypes.finfo(y.dtype).eps) / 4, 32.0

    def going(state: PyTree):
        return jnp.any(state[1]) & (state[0] < _STEPS)

    def advance(state: PyTree):
        n, active, (term, by_p, by_b), sums, rest, peak = state
        k = n.astype(y.dtype)
        ratio = _term((p + k) * y, (b + k) * (k + 1))
        following, next_p, next_b = [jnp.where(t == 0, 0.0, ratio * t) for t in (term, by_p, by_b)]  # what has ended stays so beyond a pole of b
        terms = following, next_p + _term(term * y, (b + k) * (k + 1)), next_b - _term(following, b + k)
        along = _term(term * jnp.where(flipped, b - p, p + k), b + k)
        added = *terms[1:], along
        new = [total + more for total, more in zip(sums, added)]
        unsettled = [jnp.abs(more) > eps * jnp.abs(total) for more, total in zip(added, new)]
        down = jnp.where(jnp.abs(following) > math.exp(step), math.exp(-step), 1.0)
        keep = functools.partial(jnp.where, active)
        peak = keep(jnp.maximum(peak, jnp.abs(following)) * down, peak)
        return (n + 1, active & functools.reduce(lax.bitwise_or, unsettled), tuple(keep(t * down, old) for t, old in zip(terms, (term, by_p, by_b))),
                tuple(keep(t * down, old) for t, old in zip(new, sums)), keep(jnp.where(down < 1, rest + step, rest), rest), peak)

    one, zero = jnp.ones_like(y), jnp.zeros_like(y)
    start = jnp.int32(0), jnp.ones(y.shape, bool), (one, zero, zero), (zero, zero, zero), log_factor, one
    _, active, _, sums, rest, peak = lax.while_loop(going, advance, start)
    grown = (rest > log_factor) | (peak > eps ** -0.5)
    return [jnp.where(active | grown & (jnp.abs(s) < 1024 * eps * peak), np.nan, s * jnp.exp(rest)) for s in sums]


def _asymptotic_slopes(p, b, excess, x, shifted):
    """The derivatives of `_m_asymptotic` by ``p``, by ``b`` and by ``excess``, each with the others fixed, and by ``x``, where ``shifted`` is 0 or ``x``.

    Where ``1 / gamma(p)`` is 0, at whole numbers, only the first one is not: the derivative of that factor, ``(-1)**n n!`` at ``-n``, is left.
    """
    def shrinks(state: PyTree):
        return jnp.any(state[4] != 0) & (state[0] < 30)

    def advance(state: PyTree):
        n, term, by_p, by_excess, last, sums = state
        k = n.astype(x.dtype)
        u, v = (1 - p + k) / (k + 1), (k - excess) / x
        new = term * u * v
        by_p, by_excess = by_p * u * v - term * v / (k + 1), by_excess * u * v - term * u / x
        size = jnp.abs(new) + jnp.abs(by_p) + jnp.abs(by_excess)  # the first of them may end alone
        shrinking = size < last
        terms = [jnp.where(shrinking, t, 0.0) for t in (new, by_p, by_excess, -(k + 1) * new / x)]
        return n + 1, *terms[:3], jnp.where(shrinking, size, 0.0), tuple(total + t for total, t in zip(sums, terms))

    one, zero = jnp.ones_like(x), jnp.zeros_like(x)
    total, by_p, by_excess, by_x = lax.while_loop(shrinks, advance, (jnp.int32(0), one, zero, zero, jnp.full_like(x, np.inf), (one, zero, zero, zero)))[-1]
    ends = _ends(p)
    alike = (p >= 20) & (b >= 20)
    plain = lax.lgamma(b) + jnp.where(ends, 1.0, -1.0) * lax.lgamma(jnp.where(ends, 1 - p, p))
    quotient = jnp.where(alike, _lgamma_gap(jnp.where(alike, excess, 0.0), jnp.where(alike, b, 20.0)), plain)
    log = jnp.log(x)
    sign = gammasgn(b) * jnp.where(ends, jnp.where(p % 2 == 0, 1.0, -1.0), gammasgn(p))
    size = sign * jnp.exp(quotient + shifted + jnp.where(excess == 0, 0.0, excess * log))
    slopes = by_p - lax.digamma(p) * total, lax.digamma(b) * total, by_excess + log * total, by_x + (excess / x + jnp.where(shifted == 0, 0.0, 1.0)) * total
    at_end = total, zero, zero, zero
    return [jnp.where(size == 0, 0.0, size * jnp.where(ends, e, s)) for e, s in zip(at_end, slopes)]


@differentiable
def _hyp1f1_slopes(a, b, x):
    """The derivatives by ``a``, ``b`` and ``x``, along a new first axis."""
    flip = (x < 0) & ~_ends(b)
    p, y, excess = jnp.where(flip, b - a, a), jnp.where(flip, -x, x), jnp.where(flip, -a, a - b)
    finite = jnp.minimum(y, float(dtypes.finfo(x.dtype).max))
    beyond = _is_far(p, excess, y, finite)
    far = beyond & ~_ends(p)
    z = jnp.where(far | ~jnp.isfinite(y), 1.0, y)
    near = [jnp.where(jnp.isfinite(y), slope, 0.0) for slope in _kummer_slopes(p, b, z, flip, jnp.where(flip & ~far, x, 0.0))]
    top = jnp.where(beyond, jnp.where(flip, y, finite), 100.0)
    by_p, by_b, by_excess, by_y = _asymptotic_slopes(jnp.where(beyond, p, 1.0), b, excess, top, jnp.where(flip, 0.0, top))
    by_p, by_b = jnp.where(beyond, by_p, near[0]), jnp.where(far, by_b, near[1])
    by_excess = jnp.where(far, by_excess, 0.0)
    by_a = jnp.where(flip, -by_p - by_excess, by_p + by_excess)
    by_b = jnp.where(flip, by_b + by_p, by_b - by_excess)
    by_x = jnp.where(far, jnp.where(flip, -by_y, by_y), near[2])
    lost, polynomial = jnp.isinf(x) & (_ends(a) | ~far & ~(flip & _ends(p))), _ends(a) & (a >= b)
    at_infinity = jnp.where(_ends(a), a / b * jnp.where(a == -1, 1.0, _last_sign(a + 1, b + 1, x) * np.inf), np.nan)
    by_x = jnp.where(_ends(b) & ~polynomial, a / b * np.inf, jnp.where(lost, at_infinity, by_x))
    by_b = jnp.where(a == 0, 0.0, jnp.where(lost | _ends(b) & ~polynomial, np.nan, by_b))
    found = jnp.stack([jnp.where(lost | _ends(b), np.nan, by_a), by_b, jnp.where(a == 0, 0.0, by_x)])
    return jnp.where(jnp.isnan(a) | jnp.isnan(b) | jnp.isnan(x), np.nan, found)


@_hyp1f1_slopes.defjvp
def _hyp1f1_slopes_jvp(primals, tangents):
    """By differences of `_hyp1f1`, whose own slopes these are."""
    def slopes(a, b, x):
        basis = [[float(i == j) for j in range(3)] for i in range(3)]
        return jnp.stack([_value_and_tangent(_hyp1f1, (a, b, x), [HELD if t == 0 else jnp.ones_like(x) for t in row], a / b)[1] for row in basis])
    whole = tuple(jnp.zeros_like(p) if t is HELD else t for p, t in zip(primals, tangents))
    return _hyp1f1_slopes(*primals), jvp(slopes, primals, whole)[1]


@_hyp1f1.defjvp
def _hyp1f1_jvp(primals, tangents):
    a, b, x = primals
    if tangents[0] is HELD and tangents[1] is HELD:
        return _value_and_tangent(_hyp1f1, primals, tangents, a / b)
    by_a, by_b, by_x = _hyp1f1_slopes(a, b, x)
    return _hyp1f1(a, b, x), tangents[0] * by_a + tangents[1] * by_b + tangents[2] * by_x


@inlined
def hyp1f1(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array:
    """Kummer's confluent function ``1F1(a; b; x)``, real; infinite where ``b`` is a whole number not above 0.

    Its derivatives are exact: sums of the series' differentiated terms. Second ones by ``a`` and ``b`` are difference quotients of the first.

    Source: `scipy.special.hyp1f1`.

    >>> jsp.special.hyp1f1(1., 1., 0.5)
    Array(1.6487213, dtype=float32)
    """
    args, dtype = wide("hyp1f1", *map(of_list, (a, b, x)))
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
    value = jnp.where(c_pole & ~(_ends(a) & (a >= c) | _ends(b) & (b >= c)), np.inf, value)  # unless the series ends before it
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
    args, dtype = wide("hyp2f1", *map(of_list, (a, b, c, x)))
    return _hyp2f1(*jnp.broadcast_arrays(*args)).astype(dtype)
