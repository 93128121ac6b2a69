"""The incomplete gamma and beta functions, and the derivative of samples of the gamma distribution.

They are iterations: a power series and a continued fraction, each for the region where it converges fast, on all elements at
once, until the last one has converged. They are computed in float32 or float64; narrower floats are converted. Derivatives in
the order ``a`` of the incomplete gamma function come from differentiating each step of the same iterations. Near ``x = a`` either
takes some sqrt(a) steps, so from an order of 1e4 on the uniform asymptotic expansion takes their place.

Sources: NIST Digital Library of Mathematical Functions, 8.7.1, 8.9.2, 8.12.7 to 8.12.12, 8.17.22, 5.11.1; derivatives of samples:
Figurnov, Mohamed, Mnih, "Implicit reparameterization gradients", NeurIPS 2018.
"""
from __future__ import annotations

import fractions
import functools
import math
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from jax_core.representation import dtypes
from jax_core.representation.array import Array
from jax_core.representation.aval import get_aval
from jax_core.representation.primitive import Zero
from jax_core.representation.typing import ArrayLike
from jax_core.transformations.forward import jvp_flat

from .arithmetic import add, div, integer_pow, max as maximum, min as minimum, mul, neg, sqrt, square, sub
from .bits import bitwise_and, bitwise_not, bitwise_or
from .compare import eq, ge, gt, le, lt, ne
from .complex import abs as absolute
from .control_flow.while_loop import while_loop
from .convert import convert
from .nary import FLOAT, apply, elementwise, like
from .quotient_cpu import shared_quotient
from .reduce import reduce_or_p
from .special import _in_float32, _k, _unsupported, _where, digamma, erfc, lgamma
from .transcendental import exp, expm1, log, log1p

if TYPE_CHECKING:
    from jax_core.representation.typing import PyTree


_MAX_STEPS = 2000


def _stirling_error(a):
    """``lgamma(a) - ((a - 1/2) log a - a + log(2 pi)/2)`` for a >= 20."""
    inverse = integer_pow(a, -1)
    z = square(inverse)
    total = _k(1 / 1188, a)
    for c in (-1 / 1680, 1 / 1260, -1 / 360, 1 / 12):
        total = add(mul(total, z), _k(c, a))
    return mul(total, inverse)


def _log_poisson(a, x):
    """``log(x^a e^-x / gamma(a + 1))``, for a > 0, x > 0. For large ``a`` in deviations from the mode, as the three terms
    would cancel: ``-a (t - log(1 + t)) - log(2 pi a)/2 - error`` with ``t = (x - a)/a``. Far below it is ``1 + t`` that would."""
    large = _about_mode(a, x)
    a_large, a_small = _where(large, a, like(_k(20, a), a)), _where(large, like(_k(1, a), a), a)
    direct = sub(sub(mul(a_small, log(x)), x), lgamma(add(a_small, _k(1, a))))
    return _where(large, _log_poisson_by_mode(a_large, x), direct)


def _about_mode(a, x):
    return bitwise_and(ge(a, _k(20, a)), ge(x, mul(a, _k(1 / 16, a))))


def _log_poisson_by_mode(a, x):
    deviation, _ = _deviation(shared_quotient(sub(x, a), a))
    return neg(add(add(mul(a, deviation), mul(log(mul(a, _k(2 * math.pi, a))), _k(0.5, a))), _stirling_error(a)))


def _polynomial(coefficients, x):
    total = like(_k(coefficients[-1], x), x)
    for c in coefficients[-2::-1]:
        total = add(mul(total, x), _k(c, x))
    return total


def _deviation(t):
    """``t - log(1 + t)``, and its square root over ``|t|`` for small ``t``, where the two terms cancel."""
    small = lt(absolute(t), _k(0.1, t))
    near, far = minimum(maximum(t, _k(-0.1, t)), _k(0.1, t)), _where(small, like(_k(1, t), t), t)
    factor = _polynomial([(-1) ** n / (n + 2) for n in range(16)], near)
    by_logarithm = sub(far, log1p(far))
    return _where(small, mul(square(near), factor), by_logarithm), sqrt(_where(small, factor, div(by_logarithm, square(far))))


# -- large orders --------------------------------------------------------------------------------------------------------

_LARGE = 1e4
_POWERS = 4  # of 1/a that are kept


@functools.cache
def _expansion() -> tuple[tuple[float, ...], ...]:
    """The power series in eta of the coefficients ``c_k`` of DLMF 8.12.10. With ``mu = sum(m[n] eta^n)``, from
    ``mu mu' = (1 + mu) eta``, and ``eta / mu = sum(r[n] eta^n)``, 8.12.12 is a recurrence of numbers; its ``g_k`` is what makes
    the pole at 0 disappear."""
    count = 32
    m = [fractions.Fraction(0), fractions.Fraction(1)]
    for n in range(2, count):
        m.append(m[n - 1] / (n + 1) - sum((m[i] * m[n + 1 - i] for i in range(2, n)), fractions.Fraction(0)) / 2)
    r = [fractions.Fraction(1)]
    for n in range(1, count - 1):
        r.append(-sum((m[i + 1] * r[n - i] for i in range(1, n + 1)), fractions.Fraction(0)))
    rows = [r[1:]]
    for _ in range(1, _POWERS):
        last = rows[-1]
        rows.append([(n + 2) * last[n + 2] - last[1] * r[n + 1] for n in range(len(last) - 2)])
    return tuple(tuple(map(float, row[:20 - 4 * k])) for k, row in enumerate(rows))


def _large_parts(a, x):
    """For ``a >= _LARGE``: ``mu = x/a - 1``, eta, ``eta sqrt(a/2)``, and ``exp(-a eta^2/2) / sqrt(2 pi a)``, which is 0 where eta
    leaves the range of the expansion."""
    mu = minimum(maximum(div(sub(x, a), a), _k(-0.9, a)), _k(1, a))  # beyond, all is 0 or 1
    half_square, root = _deviation(mu)
    eta = mul(mul(mu, root), _k(math.sqrt(2), a))
    scaled = mul(eta, mul(sqrt(a), _k(math.sqrt(0.5), a)))
    weight = div(exp(neg(mul(a, half_square))), mul(sqrt(a), _k(math.sqrt(2 * math.pi), a)))
    return mu, minimum(maximum(eta, _k(-0.5, a)), _k(0.5, a)), scaled, weight


def _large(a, x):
    """P and Q for ``a >= _LARGE``."""
    _, eta, scaled, weight = _large_parts(a, x)
    rest = like(_k(0, a), a)
    for row in reversed(_expansion()):
        rest = add(div(rest, a), _polynomial(row, eta))
    rest, half = mul(weight, rest), _k(0.5, a)
    return sub(mul(half, erfc(neg(scaled))), rest), add(mul(half, erfc(scaled)), rest)


def _large_slope(a, x):
    """dP/da over `_large_parts`' weight, for ``a >= _LARGE``: the derivative of the expansion."""
    mu, eta, _, _ = _large_parts(a, x)
    small = lt(absolute(eta), _k(1e-6, a))
    ratio = _where(small, add(mul(_k(1 / 3, a), eta), _k(1, a)), div(mu, _where(small, like(_k(1, a), a), eta)))  # mu / eta
    log_ratio = log1p(mu)
    total = sub(mul(_k(0.5, a), eta), ratio)
    power = like(_k(1, a), a)
    for k, row in enumerate(_expansion()):
        fall = sub(log_ratio, div(_k(k + 0.5, a), a))
        bent = div(mul(_polynomial([n * c for n, c in enumerate(row)][1:], eta), ratio), a)
        total = sub(total, mul(power, sub(mul(_polynomial(row, eta), fall), bent)))
        power = div(power, a)
    return total


def _split_large(a, x):
    """Where the order is large; and ``a, x`` with other points elsewhere, that are fit for the expansion."""
    large = bitwise_and(bitwise_and(ge(a, _k(_LARGE, a)), lt(a, _k(np.inf, a))), bitwise_and(gt(x, _k(0, x)), lt(x, _k(np.inf, x))))
    point = like(_k(_LARGE, a), a)
    return large, _where(large, a, point), _where(large, x, point)


# -- orders that are not ---------------------------------------------------------------------------------------------------

def _series(a, x, active, derivative):
    """``S = sum_n x^n / ((a + 1) ... (a + n))`` and dS/da; P = x^a e^-x / gamma(a + 1) * S."""
    eps = _k(float(dtypes.finfo(a.dtype).eps), a)
    one, zero = like(_k(1, a), a), like(_k(0, a), a)

    def going(state: PyTree):
        return bitwise_and(lt(state[0], np.int32(_MAX_STEPS)), _any(state[1]))

    def step(state: PyTree):
        n, active, total, term, *slopes = state
        k = add(a, convert(n, a.dtype))
        new = mul(term, div(x, k))
        more = gt(new, mul(eps, total))
        if derivative:
            slope, dterm = slopes
            dnew = sub(mul(dterm, div(x, k)), div(new, k))
            more = bitwise_or(more, gt(absolute(dnew), mul(eps, absolute(add(slope, dnew)))))
            slopes = (_where(active, add(slope, dnew), slope), dnew)
        return (add(n, np.int32(1)), bitwise_and(active, more), _where(active, add(total, new), total), new, *slopes)

    state = (_one(), active, one, one) + ((zero, zero) if derivative else ())
    out = while_loop(going, step, state)
    return out[2], out[4] if derivative else None


def _one():
    return np.int32(1)


def _any(mask):
    return reduce_or_p.bind(mask, axes=tuple(range(np.ndim(mask))))


def _fraction(a, x, active, derivative):
    """``h = gamma(a, x) e^x x^-a`` and dh/da: the convergents ``A_k / B_k`` of the continued fraction with the partial
    denominators ``x + 2k + 1 - a`` and numerators ``-k (k - a)``. Both are scaled down together before they overflow."""
    eps = _k(float(dtypes.finfo(a.dtype).eps), a)
    big = _k(float(dtypes.finfo(a.dtype).max) ** 0.25, a)
    one, zero = like(_k(1, a), a), like(_k(0, a), a)
    b0 = add(sub(x, a), _k(1, a))

    def going(state: PyTree):
        return bitwise_and(lt(state[0], np.int32(_MAX_STEPS)), _any(state[1]))

    def step(state: PyTree):
        n, active, h, dh, A1, A2, B1, B2, *slopes = state
        k = convert(n, a.dtype)
        b = add(b0, add(k, k))
        c = mul(k, sub(a, k))
        A, B = add(mul(b, A1), mul(c, A2)), add(mul(b, B1), mul(c, B2))
        ok = ne(B, _k(0, a))
        safe = _where(ok, B, one)
        new = _where(ok, div(A, safe), h)
        more = gt(absolute(sub(new, h)), mul(eps, absolute(new)))
        values = [A, A1, B, B1]
        dnew = dh
        if derivative:
            dA1, dA2, dB1, dB2 = slopes
            dA = add(sub(mul(b, dA1), A1), add(mul(c, dA2), mul(k, A2)))
            dB = add(sub(mul(b, dB1), B1), add(mul(c, dB2), mul(k, B2)))
            dnew = _where(ok, div(sub(dA, mul(new, dB)), safe), dh)
            more = bitwise_or(more, gt(absolute(sub(dnew, dh)), mul(eps, add(absolute(dnew), absolute(new)))))
            values += [dA, dA1, dB, dB1]
        factor = _where(gt(absolute(B), big), like(integer_pow(big, -1), a), one)
        values = [mul(v, factor) for v in values]
        return (add(n, np.int32(1)), bitwise_and(active, bitwise_or(more, bitwise_not(ok))), _where(active, new, h),
                _where(active, dnew, dh), *values)

    h = integer_pow(_where(active, b0, one), -1)
    dh = square(h)
    state = (_one(), active, h, dh, h, zero, one, h) + ((zero, zero, neg(h), zero) if derivative else ())
    out = while_loop(going, step, state)
    return out[2], out[3]


def _regions(a, x):
    """Elements for the series, elements for the fraction, and operands safe for either."""
    zero, infinity = _k(0, a), _k(np.inf, a)
    proper = bitwise_and(bitwise_and(gt(a, zero), gt(x, zero)), bitwise_and(lt(a, _k(_LARGE, a)), lt(x, infinity)))
    by_series = bitwise_or(lt(x, _k(1, x)), le(x, a))
    one = like(_k(1, a), a)
    return bitwise_and(proper, by_series), bitwise_and(proper, bitwise_not(by_series)), _where(proper, a, one), _where(proper, x, one)


def _known(x):
    """Whether ``x`` is not NaN. XLA takes ``abs(x) >= 0`` for true, so that comparison does not tell."""
    return eq(x, x)


def _edges(a, x, value, at_zero, at_infinity):
    """``value``, and the limits where ``x`` or ``a`` is 0 or infinite; NaN outside of the domain."""
    zero, infinity = _k(0, a), _k(np.inf, a)
    low, high = like(_k(at_zero, a), a), like(_k(at_infinity, a), a)
    value = _where(bitwise_or(eq(x, zero), eq(a, infinity)), low, value)
    value = _where(bitwise_or(eq(x, infinity), eq(a, zero)), high, value)
    both = bitwise_or(bitwise_and(eq(x, zero), eq(a, zero)), bitwise_and(eq(x, infinity), eq(a, infinity)))
    inside = bitwise_and(bitwise_and(ge(a, zero), ge(x, zero)), _known(add(a, x)))
    return _where(bitwise_and(inside, bitwise_not(both)), value, like(_k(np.nan, a), a))


def _igamma_parts(a, x):
    """P by the series where that is used, and Q by the fraction elsewhere; and where the series is used."""
    series, fraction, a, x = _regions(a, x)
    log_poisson = _log_poisson(a, x)
    p = mul(exp(log_poisson), _series(a, x, series, False)[0])
    q = mul(mul(exp(log_poisson), a), _fraction(a, x, fraction, False)[0])
    return p, q, series


def _igamma(a, x):
    p, q, series = _igamma_parts(a, x)
    large, big_a, big_x = _split_large(a, x)
    return _edges(a, x, _where(large, _large(big_a, big_x)[0], _where(series, p, sub(_k(1, q), q))), 0, 1)


@functools.cache
def _log_gamma_series() -> tuple[float, ...]:
    """``log(gamma(1 + a)) / a`` in powers of ``a`` (DLMF 5.7.3)."""
    def zeta(k):
        return math.fsum(n ** -k for n in range(1, 40)) + 40 ** (1 - k) / (k - 1) + 40 ** -k / 2 + k * 40 ** (-k - 1) / 12 - (
            k * (k + 1) * (k + 2) * 40.0 ** (-k - 3) / 720)
    return (-0.5772156649015329, *((-1) ** k * zeta(k) / k for k in range(2, 25)))


_SMALL = 0.2


def _small_order(a, x):
    """Q for ``a < _SMALL`` and ``x < 1``, where ``1 - P`` would cancel: P is ``exp(l) (1 + a sum((-x)^n / (n! (a + n))))`` (DLMF 8.7.1)
    with ``l = a log(x) - log(gamma(1 + a))``."""
    rest = like(_k(0, a), a)
    for n in range(18, 0, -1):
        rest = add(mul(rest, x), div(_k((-1) ** n / math.factorial(n), a), add(a, _k(n, a))))
    grown = mul(a, sub(log(x), _polynomial(_log_gamma_series(), a)))
    return neg(add(expm1(grown), mul(mul(exp(grown), a), mul(rest, x))))


def _igammac(a, x):
    p, q, series = _igamma_parts(a, x)
    small = bitwise_and(series, bitwise_and(lt(a, _k(_SMALL, a)), lt(x, _k(1, x))))
    q = _where(small, _small_order(_where(small, a, like(_k(0.1, a), a)), _where(small, x, like(_k(0.5, a), a))), q)
    series = bitwise_and(series, bitwise_not(small))
    large, big_a, big_x = _split_large(a, x)
    return _edges(a, x, _where(large, _large(big_a, big_x)[1], _where(series, sub(_k(1, p), p), q)), 1, 0)


def _order_slopes(a, x):
    """dP/da over the Poisson weight, by the series and, over -a, by the fraction: both are free of overflow; with `_regions`."""
    series, fraction, a, x = _regions(a, x)
    log_x = log(x)
    s, ds = _series(a, x, series, True)
    h, dh = _fraction(a, x, fraction, True)
    by_series = add(mul(s, sub(log_x, digamma(add(a, _k(1, a))))), ds)
    return by_series, add(mul(h, sub(log_x, digamma(a))), dh), series, fraction, a, x


def _igamma_grad_a(a, x):
    a = _where(eq(a, _k(0, a)), like(_k(1e-30, a), a), a)  # the slope has a limit there
    by_series, by_fraction, series, fraction, safe_a, safe_x = _order_slopes(a, x)
    slope = mul(exp(_log_poisson(safe_a, safe_x)), _where(series, by_series, neg(mul(safe_a, by_fraction))))
    large, big_a, big_x = _split_large(a, x)
    slope = _where(large, mul(_large_slope(big_a, big_x), _large_parts(big_a, big_x)[3]), slope)
    return _edges(a, x, _where(bitwise_or(bitwise_or(series, fraction), large), slope, like(_k(0, a), a)), 0, 0)


def _random_gamma_grad(a, x):
    """``-(dP/da) / (dP/dx)``: how fast a sample moves with ``a``; the Poisson weights cancel."""
    by_series, by_fraction, series, fraction, safe_a, safe_x = _order_slopes(a, x)
    ratio = _where(series, neg(mul(div(safe_x, safe_a), by_series)), mul(safe_x, by_fraction))
    large, big_a, big_x = _split_large(a, x)
    by_expansion = mul(neg(_large_slope(big_a, big_x)), mul(div(big_x, big_a), exp(_stirling_error(big_a))))
    ratio = _where(large, by_expansion, ratio)
    return _edges(a, x, _where(bitwise_or(bitwise_or(series, fraction), large), ratio, like(_k(0, a), a)), 0, 0)


def _density(a, x):
    """The derivative of P in ``x``: ``x^(a-1) e^-x / gamma(a)``; for large ``a`` as `_log_poisson`."""
    large = _about_mode(a, x)
    info = dtypes.finfo(get_aval(a).dtype)
    most = _k(float(info.max), a)
    safe_a = _where(lt(a, _k(20, a)), like(_k(20, a), a), a)  # not a maximum, whose slope is a half at 20
    safe_x = _where(large, minimum(x, most), like(_k(1, x), x))  # near 0 the quotient's slope is infinite
    quotient = minimum(div(safe_a, safe_x), most)  # infinity by a weight of 0 is NaN
    constant = bitwise_and(eq(x, _k(0, x)), eq(a, _k(1, a)))  # there, and for infinity, the logarithm may be multiplied by 0
    finite_x = _where(constant, like(_k(1, x), x), minimum(x, most))
    logarithm = _where(large, add(_log_poisson_by_mode(safe_a, safe_x), log(quotient)),
                       sub(sub(mul(sub(a, _k(1, a)), log(finite_x)), x), lgamma(a)))
    value = exp(logarithm)
    return _where(bitwise_and(eq(a, _k(np.inf, a)), lt(x, _k(np.inf, a))), like(_k(0, a), a), value)


igamma_p = elementwise("igamma", _in_float32(_igamma), accepts=FLOAT,
                       jvp=(lambda g, y, a, x: mul(g, igamma_grad_a(a, x)), lambda g, y, a, x: mul(g, _density(a, x))),
                       cost=100.0, loops=True)


igammac_p = elementwise("igammac", _in_float32(_igammac), accepts=FLOAT,
                        jvp=(lambda g, y, a, x: mul(g, neg(igamma_grad_a(a, x))),
                             lambda g, y, a, x: mul(g, neg(_density(a, x)))), cost=100.0, loops=True)


def _by_its_slope(slope, position, at_zero=None):
    """The rule for one operand of a slope: a multiple of the derivative of its series and fractions, term by term; ``at_zero(a)`` where ``x`` is 0."""
    def rule(g, y, a, x):
        wide = [convert(like(v, y), np.float32) if dtypes.itemsize_bits(y.dtype) < 32 else like(v, y) for v in (a, x)]
        tangents = [like(_k(1, v), v) if i == position else Zero.of(v) for i, v in enumerate(wide)]
        _, (second,) = jvp_flat(lambda a, x: [slope(a, x)], wide, tangents)
        if at_zero is not None:
            order, point = wide
            at_edge = bitwise_and(eq(point, _k(0, point)), bitwise_and(gt(order, _k(0, order)), lt(order, _k(np.inf, order))))
            second = _where(at_edge, at_zero(order), second)
        return mul(g, _where(_known(y), convert(second, y.dtype), y))
    return rule


def _slope_at_zero(a):
    """That of ``x^(a-1) / gamma(a)`` in ``a``, at 0."""
    return _where(le(a, _k(1, a)), like(_k(-np.inf, a), a), like(_k(0, a), a))


igamma_grad_a_p = elementwise("igamma_grad_a", _in_float32(_igamma_grad_a), accepts=FLOAT,
                              jvp=(_by_its_slope(_igamma_grad_a, 0), _by_its_slope(_igamma_grad_a, 1, _slope_at_zero)), cost=200.0, loops=True)


random_gamma_grad_p = elementwise("random_gamma_grad", _in_float32(_random_gamma_grad), accepts=FLOAT,
                                  jvp=(_by_its_slope(_random_gamma_grad, 0), _by_its_slope(_random_gamma_grad, 1, lambda a: like(_k(np.inf, a), a))),
                                  cost=200.0, loops=True)


def _beta_fraction(a, b, x, active):
    """The continued fraction of DLMF 8.17.22 by the modified Lentz method."""
    eps = _k(float(dtypes.finfo(a.dtype).eps), a)
    tiny = like(_k(float(dtypes.finfo(a.dtype).tiny) * 1e4, a), a)
    one = like(_k(1, a), a)

    def nonzero(v: ArrayLike):
        return _where(lt(absolute(v), tiny), tiny, v)

    def advance(f, c, d, numerator):
        d = integer_pow(nonzero(add(one, mul(numerator, d))), -1)
        c = nonzero(add(one, div(numerator, c)))
        return mul(f, mul(c, d)), c, d

    def going(state: PyTree):
        return bitwise_and(lt(state[0], np.int32(_MAX_STEPS)), _any(state[1]))

    def step(state: PyTree):
        n, active, f, c, d = state
        m = convert(n, a.dtype)
        a2 = add(a, add(m, m))
        even = div(mul(mul(m, sub(b, m)), x), mul(sub(a2, one), a2))
        odd = neg(div(mul(mul(add(a, m), add(add(a, b), m)), x), mul(a2, add(a2, one))))
        new, c2, d2 = advance(f, c, d, even)
        new, c2, d2 = advance(new, c2, d2, odd)
        more = gt(absolute(sub(new, f)), mul(eps, absolute(new)))
        return add(n, np.int32(1)), bitwise_and(active, more), _where(active, new, f), c2, d2

    first = neg(div(mul(add(a, b), x), add(a, one)))
    d0 = integer_pow(nonzero(add(one, first)), -1)
    return while_loop(going, step, (_one(), active, d0, one, d0))[2]


def _lgamma_gap(p, q):
    """``lgamma(q) - lgamma(p + q)`` for q >= 20 and p + q >= 20, in Stirling's form, as the two nearly cancel."""
    total, part = add(p, q), shared_quotient(p, q)
    lost = lt(absolute(part), _k(4 * float(dtypes.finfo(get_aval(q).dtype).tiny), q))  # in a program that flushes subnormals
    grown = _where(lost, p, mul(sub(q, _k(0.5, q)), log1p(part)))
    ratio = add(sub(neg(grown), mul(p, log(total))), p)
    return add(ratio, sub(_stirling_error(q), _stirling_error(total)))


def _log_beta(a, b):
    """``log B(a, b)``."""
    p, q = minimum(a, b), maximum(a, b)
    large = ge(q, _k(20, q))
    gap = _lgamma_gap(p, _where(large, q, like(_k(20, q), q)))
    return add(lgamma(p), _where(large, gap, sub(lgamma(q), lgamma(add(p, q)))))


def _mean(p, q):
    """``p / (p + q)`` and ``q / (p + q)``, also where the sum overflows."""
    one = _k(1, p)
    return integer_pow(add(one, div(q, p)), -1), integer_pow(add(one, div(p, q)), -1)


def _log_beta_weight(p, q, y, other, log_y, log_rest):
    """``log(y^p (1-y)^q / B(p, q))``, with ``other = 1-y`` and both logarithms, as ``y`` may be rounded to 1. If both parameters are large, in
    deviations from the mean ``m = p/(p+q)``, as the terms would cancel: ``-p f((y-m)/m) - q f((m-y)/(1-m)) + log(pq / (2 pi (p+q)))/2 + errors``
    with ``f(t) = t - log(1+t)``."""
    both = ge(minimum(p, q), _k(20, p))
    twenty = like(_k(20, p), p)
    u, v = _where(both, p, twenty), _where(both, q, twenty)
    mean, rest = _mean(u, v)
    beyond = _where(gt(y, other), sub(rest, other), sub(y, mean))
    exponent = neg(add(mul(u, _deviation(shared_quotient(beyond, mean))[0]), mul(v, _deviation(shared_quotient(neg(beyond), rest))[0])))
    size = mul(log(mul(div(u, _k(2 * math.pi, p)), rest)), _k(0.5, p))
    errors = sub(sub(_stirling_error(add(u, v)), _stirling_error(u)), _stirling_error(v))
    direct = sub(add(mul(p, log_y), mul(q, log_rest)), _log_beta(p, q))
    return _where(both, add(add(exponent, size), errors), direct)


def _large_beta(a, b, x):
    """DLMF 8.18.9 with its first term, for large ``a`` and ``b``, of which the fraction would take some root of the larger one's many
    steps: ``erfc(-z)/2 + exp(-z^2) (1/(2 z) - 1/(sqrt(2) w)) / sqrt(pi)``. ``w`` counts standard deviations from the mean, and ``z^2`` is
    ``a f((x-m)/m) + b f((m-x)/(1-m))`` with ``f(t) = t - log(1+t)``, so that ``z`` is near ``w / sqrt(2)``; the poles at 0 cancel."""
    one, half = _k(1, a), _k(0.5, a)
    mean, rest = _mean(a, b)
    away = shared_quotient(sub(x, mean), mean)
    square_z = add(mul(a, _deviation(away)[0]), mul(b, _deviation(shared_quotient(sub(mean, x), rest))[0]))
    above = gt(x, mean)
    z = _where(above, sqrt(square_z), neg(sqrt(square_z)))
    w = mul(away, div(sqrt(a), sqrt(rest)))
    near = lt(absolute(w), _k(float(dtypes.finfo(a.dtype).eps) ** 0.25, a))
    far_z, far_w = _where(near, like(one, a), z), _where(near, like(one, a), w)
    direct = sub(div(half, far_z), div(_k(0.5 ** 0.5, a), far_w))
    at_mean = div(sub(rest, mean), mul(sqrt(mul(a, rest)), _k(3 * 2 ** 0.5, a)))
    correction = mul(mul(exp(neg(square_z)), _where(near, at_mean, direct)), _k(math.pi ** -0.5, a))
    return minimum(maximum(add(mul(half, erfc(neg(z))), correction), _k(0, a)), one)


def _betainc(a, b, x):
    zero, one, infinity = _k(0, a), _k(1, a), _k(np.inf, a)
    proper = bitwise_and(bitwise_and(bitwise_and(gt(a, zero), lt(a, infinity)), bitwise_and(gt(b, zero), lt(b, infinity))),
                         bitwise_and(gt(x, zero), lt(x, one)))
    many = _k(1e4 if a.dtype == np.float32 else 1e6, a)
    large = bitwise_and(proper, ge(minimum(a, b), many))
    half, ten_thousands = like(_k(0.5, a), a), like(many, a)
    by_normal = _large_beta(_where(large, a, ten_thousands), _where(large, b, ten_thousands), _where(large, x, half))
    proper = bitwise_and(proper, bitwise_not(large))
    a0, b0, x0 = (_where(proper, v, half) for v in (a, b, x))
    flip = gt(x0, div(add(a0, one), add(add(a0, b0), _k(2, a))))  # the fraction converges fast below this point
    p, q = _where(flip, b0, a0), _where(flip, a0, b0)
    y, other = _where(flip, sub(one, x0), x0), _where(flip, x0, sub(one, x0))
    logs = log(x0), log1p(neg(x0))
    weight = exp(_log_beta_weight(p, q, y, other, _where(flip, *logs[::-1]), _where(flip, *logs)))
    value = div(mul(weight, _beta_fraction(p, q, y, proper)), p)
    value = _where(eq(weight, zero), like(zero, a), value)  # whose fraction may overflow
    value = _where(large, by_normal, _where(flip, sub(one, value), value))
    low, high, nan = (like(_k(v, a), a) for v in (0, 1, np.nan))
    value = _where(bitwise_or(eq(b, zero), eq(a, infinity)), low, value)
    value = _where(bitwise_or(eq(a, zero), eq(b, infinity)), high, value)
    value = _where(eq(x, zero), low, _where(eq(x, one), high, value))
    inside = bitwise_and(bitwise_and(ge(a, zero), ge(b, zero)), bitwise_and(ge(x, zero), le(x, one)))
    inside = bitwise_and(inside, _known(add(add(a, b), x)))
    both = bitwise_or(bitwise_and(eq(a, zero), eq(b, zero)), bitwise_and(eq(a, infinity), eq(b, infinity)))
    return _where(bitwise_and(inside, bitwise_not(both)), value, nan)


def _beta_density(g, y, a, b, x):
    one, half = _k(1, x), like(_k(0.5, x), x)

    def log_power(order: Array, end: Array, logarithm: Callable):
        """Of a power, where 0 to the power 0 is 1, without a slope."""
        return mul(sub(order, one), logarithm(_where(bitwise_and(eq(order, one), end), half, x)))

    def log_rest(x: Array):
        return log1p(neg(x))
    direct = sub(add(log_power(a, eq(x, _k(0, x)), log), log_power(b, eq(x, one), log_rest)), _log_beta(a, b))
    inside = bitwise_and(ge(minimum(a, b), _k(20, x)), bitwise_and(gt(x, _k(0, x)), lt(x, one)))
    middle = _where(inside, x, half)
    logs = log(middle), log_rest(middle)
    by_mean = sub(_log_beta_weight(a, b, middle, sub(one, middle), *logs), add(*logs))
    return mul(g, exp(_where(inside, by_mean, direct)))


_BETA = "lax.betainc has no derivative with respect to a and b"
regularized_incomplete_beta_p = elementwise(
    "regularized_incomplete_beta", _in_float32(_betainc), accepts=FLOAT,
    jvp=(_unsupported(_BETA), _unsupported(_BETA), _beta_density), cost=200.0, loops=True)


def igamma(a: ArrayLike, x: ArrayLike) -> Array:
    """Elementwise regularised lower incomplete gamma function P(a, x); NaN for negative arguments.

    Source: DLMF 8.7.1, 8.9.2, 8.12.7.

    >>> lax.igamma(1., 2.)
    Array(0.86466473, dtype=float32, weak_type=True)
    """
    return apply(igamma_p, a, x)


def igammac(a: ArrayLike, x: ArrayLike) -> Array:
    """Elementwise regularised upper incomplete gamma function Q(a, x) = 1 - P(a, x); NaN for negative arguments.

    Source: DLMF 8.7.1, 8.9.2, 8.12.7.

    >>> lax.igammac(1., 2.)
    Array(0.13533528, dtype=float32, weak_type=True)
    """
    return apply(igammac_p, a, x)


def igamma_grad_a(a: ArrayLike, x: ArrayLike) -> Array:
    """Elementwise derivative of P(a, x) with respect to ``a``.

    Source: Figurnov, Mohamed, Mnih, "Implicit reparameterization gradients", 2018.

    >>> jax.lax.igamma_grad_a(2.0, 1.5)
    Array(-0.31348857, dtype=float32, weak_type=True)
    """
    return apply(igamma_grad_a_p, a, x)


def random_gamma_grad(*args: Any) -> Array:
    """Elementwise derivative, with respect to ``a``, of a sample ``x`` of the gamma distribution of shape ``a``.

    Raises:
      TypeError: not two arguments.

    Source: Figurnov, Mohamed, Mnih, "Implicit reparameterization gradients", 2018.

    >>> jax.lax.random_gamma_grad(2.0, 1.5)
    Array(0.936639, dtype=float32, weak_type=True)
    """
    if len(args) != 2:
        raise TypeError(f"lax.random_gamma_grad takes a and x, got {len(args)} arguments")
    return apply(random_gamma_grad_p, *args)


def betainc(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array:
    """Elementwise regularised incomplete beta function I_x(a, b); NaN outside of 0 <= x <= 1 and for negative a, b.

    Source: DLMF 8.17.22.

    >>> lax.betainc(1., 1., 0.25)
    Array(0.24999976, dtype=float32, weak_type=True)
    """
    return apply(regularized_incomplete_beta_p, a, b, x)
