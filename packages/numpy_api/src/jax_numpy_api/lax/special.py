"""Special functions: error functions, gamma functions and their relatives, Bessel i0e and i1e.

Where CHLO has the function, the op is used. The incomplete gamma and beta functions are in `incomplete`.

Sources: NIST Digital Library of Mathematical Functions, 10.32.1. Chebyshev coefficients: `benchmarks/accuracy/fit.py`.
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from jax_core.representation import dtypes
from jax_core.representation.array import Array
from jax_core.representation.aval import get_aval
from jax_core.representation.primitive import Primitive
from jax_core.representation.typing import ArrayLike

from .accuracy import Accuracy
from .arithmetic import add, div, max as maximum, min as minimum, mul, neg, round, sqrt, square, sub
from .bits import bitwise_and
from .compare import eq, gt, le, lt
from .complex import abs as absolute, sign
from .convert import bitcast_convert_type, convert_element_type
from .elementary_cpu import gamma
from .elementary_cpu.lanes import FLOAT32, FLOAT64, Formulation, in_one_loop, is_short
from .nary import FLOAT, apply, constant, elementwise, full_operands, like, op
from .select import select_n_p
from .series import chebyshev
from .transcendental import exp, log, sin

if TYPE_CHECKING:
    from jax_core.interfaces import Builder



def _k(value, x):
    return constant(value, x)


def _where(condition, x, y):
    return select_n_p.bind(condition, y, x)


def _unsupported(message):
    def rule(g: Array, out: Array, *primals):
        raise ValueError(message)
    return rule


def _missing(name, argument):
    def rule(g: Array, out: Array, *primals):
        raise NotImplementedError(f"lax.{name} has no derivative with respect to {argument}")
    return rule


def _vectorized(function):
    """A reference of Python's `math`, element by element."""
    return np.vectorize(function, otypes=[np.float64])


def _log_gamma_of_number(x):
    """Infinite at the poles, where Python raises."""
    return math.inf if x <= 0 and (math.isinf(x) or x == math.floor(x)) else math.lgamma(x)

_DIGAMMA_REST = (
    0.983570260441567, -0.2270640863346444, 0.03336889902393011, -0.005320077271596548, 0.0008788656937820505,
    -0.00014773492650606044, 2.5060543468359146e-05, -4.2721034029993324e-06, 7.302769272465923e-07, -1.2502886813559594e-07,
    2.1425009322359472e-08, -3.673295918565179e-09, 6.299717236108931e-10, -1.080593028883266e-10, 1.853735192053638e-11,
    -3.18023536582553e-12, 5.456147570322795e-13, -9.360993131036438e-14, 1.606064636295075e-14, -2.7555431377438815e-15,
    4.727736178601912e-16, -8.11148420346509e-17, 1.391707769474154e-17, -2.3877901082188625e-18)
LGAMMA_REST = (  # Chebyshev's, of log gamma(z) / ((z - 1) (z - 2)) from 1/2 to 5/2
    0.5233830675936226, -0.17797233729529863, 0.043707765509376, -0.012436054693716324, 0.0038166273622453444,
    -0.0012248310110168689, 0.0004046307309337695, -0.0001363999286478383, 4.6669854564403646e-05, -1.6152571568530024e-05,
    5.641861294289138e-06, -1.985468608994096e-06, 7.031292350156658e-07, -2.503431672683324e-07, 8.954655195462511e-08,
    -3.216038816813161e-08, 1.1591674196198932e-08, -4.191331343092517e-09, 1.5198287942838018e-09, -5.525248244354367e-10,
    2.0133461407895695e-10, -7.351973399346738e-11, 2.6898575436827364e-11, -9.85882886617758e-12, 3.619354400654772e-12,
    -1.3307382122555227e-12, 4.899613435234918e-13, -1.8063242404502505e-13, 6.667388160934133e-14, -2.4638096705345538e-14,
    9.114199669747885e-15, -3.3749037208856614e-15, 1.2508630658961872e-15, -4.640235454740319e-16, 1.7227826138316332e-16,
    -6.401198458457187e-17, 2.3802040365336956e-17, -8.85670810564711e-18, 3.2977685786612905e-18, -1.2286928418849807e-18)


def _lgamma_plain(b, x):
    """CHLO's; in its place the series where that loses its digits, around the zeros at 1 and 2, and the logarithm of subnormal numbers
    by their bits, as XLA's arithmetic may take them for 0. CHLO's of float32 is off by dozens of units elsewhere; where doubles are as
    fast it is taken of them."""
    doubled = x.aval.dtype == np.float32 and b.platform == "cpu"
    found = _in_double(b, "chlo.lgamma", x) if doubled else op("chlo.lgamma")(b, x)
    if x.aval.dtype not in (np.float32, np.float64):
        return found

    mantissa, integer = (52, np.int64) if x.aval.dtype == np.float64 else (23, np.int32)
    lowest = (mantissa + (1022 if mantissa == 52 else 126)) * math.log(2)  # of the reciprocal of the smallest number

    def joined(x: Array, found: Array):
        bits = bitcast_convert_type(absolute(x), integer)
        count = convert_element_type(bits, get_aval(x).dtype)
        found = _where(lt(bits, _k(1 << mantissa, bits)), sub(_k(lowest, x), log(count)), found)
        from_middle = sub(x, _k(1.5, x))
        if doubled:
            return [_where(eq(absolute(from_middle), _k(0.5, x)), _k(0, x), found)]  # 0 at 1 and 2, not a rounding error
        near = lt(absolute(from_middle), _k(1, x))
        t = _where(near, from_middle, like(_k(0.25, x), x))
        half = _k(0.5, x)
        series = mul(mul(add(t, half), sub(t, half)), chebyshev(LGAMMA_REST, t))
        return [_where(near, _where(eq(t, neg(half)), _k(0, x), series), found)]  # 0 at 1, not -0
    return b.fun(joined, x, found)[0]


def _in_double(b, operation, x):
    """An operation of one operand, computed in float64."""
    wide = x.aval.update(dtype=np.dtype(np.float64))
    double = b.emit(f"stablehlo.convert {x}", x, out=wide)
    found = b.emit(f"{operation} {double}", double, out=wide)
    return b.emit(f"stablehlo.convert {found}", found, out=x.aval)


def _digamma_plain(b, x):
    """CHLO's; on (0, 2) by the distance to the root times a series, as CHLO's keeps few digits where the result is small."""
    found = op("chlo.digamma")(b, x)
    if x.aval.dtype not in (np.float32, np.float64):
        return found

    def joined(x: Array, found: Array):
        one, low = _k(1, x), lt(x, _k(1, x))
        inside = bitwise_and(gt(x, _k(0, x)), lt(x, _k(2, x)))
        z = _where(inside, _where(low, add(x, one), x), like(_k(1.5, x), x))
        root = float(x.dtype.type(gamma.ROOT[0]))
        slope = chebyshev(_DIGAMMA_REST, sub(add(z, z), _k(3, x)))
        # not (z - root - rest) * slope, where the compiler adds up the constants
        near = sub(mul(sub(z, _k(root, x)), slope), mul(slope, _k(gamma.ROOT[0] - root + gamma.ROOT[1], x)))
        return [_where(inside, _where(low, sub(near, div(one, x)), near), found)]
    return b.fun(joined, x, found)[0]


def _trigamma(x):
    """The slope of `digamma`; that of large numbers is 1/x, which CHLO's sum of inverse squares loses to underflow. Of negative
    ones, from which that sum does not reach the positive ones, by reflection (DLMF 5.15.6)."""
    large, negative = _k(min(1e17, float(dtypes.finfo(get_aval(x).dtype).max)), x), lt(x, _k(0, x))
    point = _where(negative, sub(_k(1, x), x), x)
    value = _where(le(point, large), polygamma_p.bind(_k(1, x), minimum(point, large)), div(_k(1, x), maximum(point, large)))
    sine = sin(mul(_where(negative, sub(x, round(x)), like(_k(0.5, x), x)), _k(math.pi, x)))
    return _where(negative, sub(div(_k(math.pi ** 2, x), square(sine)), value), value)


# -- functions that CHLO has ---------------------------------------------------------------------------------------------

def _gaussian(g, x, factor):
    # beyond 30 it is 0, and so is its derivative, which would be infinity times 0; clamp would stop a NaN's derivative too
    near = _where(gt(absolute(x), _k(30, x)), like(_k(30, x), x), x)
    return mul(g, mul(exp(neg(square(near))), _k(factor, x)))


_TWO_OVER_ROOT_PI = 2 / math.sqrt(math.pi)

erf_p = elementwise("erf", "chlo.erf", accepts=FLOAT, jvp=(lambda g, y, x: _gaussian(g, x, _TWO_OVER_ROOT_PI),),
                    reference=_vectorized(math.erf), cost=1.2)
erfc_p = elementwise("erfc", "chlo.erfc", accepts=FLOAT, jvp=(lambda g, y, x: _gaussian(g, x, -_TWO_OVER_ROOT_PI),),
                     reference=_vectorized(math.erfc), cost=4.0)


def _erf_inv_lower(b, x):
    """In one loop where the last axis is short: 96,000 x 10 numbers take 17.8 ms in rows, and 1.8 so."""
    found = in_one_loop(b, x.aval, [x], lambda x: b.emit(f"chlo.erf_inv {x}", x, out=x.aval)) if is_short(x.aval) else None
    return op("chlo.erf_inv")(b, x) if found is None else found


erf_inv_p = elementwise("erf_inv", _erf_inv_lower, accepts=FLOAT,
                        jvp=(lambda g, y, x: mul(g, mul(exp(square(y)), _k(1 / _TWO_OVER_ROOT_PI, y))),), cost=3.0)
lgamma_p = elementwise("lgamma", Formulation(_lgamma_plain, narrow=gamma.lgamma, wide=gamma.lgamma, brief=(FLOAT64,), small=gamma.SMALL), accepts=FLOAT,
                       jvp=(lambda g, y, x: mul(g, digamma(x)),),
                       reference=_vectorized(_log_gamma_of_number), cost=20.0)
digamma_p = elementwise("digamma", Formulation(_digamma_plain, narrow=gamma.digamma, wide=gamma.digamma, brief=(FLOAT32, FLOAT64)), accepts=FLOAT,
                        jvp=(lambda g, y, x: mul(g, _trigamma(x)),), cost=20.0)
polygamma_p: Primitive = elementwise(
    "polygamma", "chlo.polygamma", accepts=FLOAT,
    jvp=(_unsupported("lax.polygamma has no derivative with respect to m"),
         lambda g, y, m, x: mul(g, polygamma_p.bind(add(m, _k(1, m)), x))), cost=100.0)
zeta_p: Primitive = elementwise(
    "zeta", "chlo.zeta", accepts=FLOAT,
    jvp=(_missing("zeta", "x"), lambda g, y, x, q: mul(g, mul(neg(x), zeta_p.bind(add(x, _k(1, x)), q)))), cost=50.0)

# -- Bessel functions ----------------------------------------------------------------------------------------------------

_I0E_SMALL = (
    0.33839763720473803, -0.3046826723431984, 0.17162090152220877, -0.09490109704804764, 0.04930528423967071,
    -0.02373741480589947, 0.010546460394594998, -0.004324309995050576, 0.0016394756169413357, -0.0005763755745385824,
    0.00018850288509584165, -5.754195010082104e-05, 1.6448448070728896e-05, -4.4167383584587505e-06,
    1.1173875391201037e-06, -2.670793853940612e-07, 6.046995022541919e-08, -1.300025009986248e-08,
    2.6598237246823866e-09, -5.189795601635263e-10, 9.675809035373237e-11, -1.726826291441556e-11,
    2.95505266312964e-12, -4.856446783111929e-13, 7.676185498604936e-14, -1.1685332877993451e-14,
    1.715391285555133e-15, -2.431279846547955e-16, 3.3307945188222384e-17, -4.4153416464793395e-18)  # of exp(-x) I0(x) in x/4 - 1, for x up to 8
_I0E_LARGE = (
    0.4022452055070544, 0.0033691164782556943, 6.889758346916825e-05, 2.8913705208347567e-06, 2.0489185894690638e-07,
    2.266668990498178e-08, 3.3962320257083865e-09, 4.94060238822497e-10, 1.1889147107846439e-11,
    -3.1499165279632416e-11, -1.3215811840447713e-11, -1.7941785315068062e-12, 7.180124451383666e-13,
    3.8527783827421426e-13, 1.54008621752141e-14, -4.150569347287222e-14, -9.554846698828307e-15,
    3.8116806693526224e-15, 1.7725601330565263e-15, -3.425485619677219e-16, -2.8276239805165836e-16,
    3.461222867697461e-17, 4.46562142029676e-17, -4.830504485944182e-18, -7.233180487874754e-18,
    9.921475412173699e-19, 1.193650890845982e-18)  # of sqrt(x) exp(-x) I0(x) in 16/x - 1


def _i0e(x):
    x = absolute(x)
    eight = _k(8, x)
    near = chebyshev(_I0E_SMALL, sub(mul(x, _k(0.25, x)), _k(1, x)))
    safe = maximum(x, eight)
    far = div(chebyshev(_I0E_LARGE, sub(div(_k(16, x), safe), _k(1, x))), sqrt(safe))
    return _where(le(x, eight), near, far)


def _in_float32(function):
    """The lowering of a function of arrays that is computed in float32 at least."""
    def lower(b: Builder, *operands):
        out = b.out_avals[0]
        wide = np.dtype(np.float64 if out.dtype == np.float64 else np.float32)
        result, = b.fun(lambda *xs: [function(*xs)], *(b.convert(x, wide) for x in full_operands(b, operands)))
        return b.convert(result, out.dtype)
    return lower


def _far_slope(y, x, near, series):
    """``near``, the slope of ``y`` at ``x``; for large sizes, where it is a difference of two numbers nearly alike,
    ``y`` times the ``series`` in 1/abs(x), which is negative, with the sign of ``x``."""
    edge = 4096 if get_aval(x).dtype == np.float64 else 64
    size = absolute(x)
    u = div(_k(1, x), maximum(size, _k(edge, x)))
    total = _k(0, x)
    for c in reversed(series):
        total = mul(u, add(_k(c, x), total))
    return _where(le(size, _k(edge, x)), near, mul(mul(sign(x), y), total))


def _i0e_tangent(g, y, x):
    slope = sub(bessel_i1e_p.bind(x), mul(sign(x), y))
    return mul(g, _far_slope(y, x, slope, (-1 / 2, -1 / 8, -1 / 8, -25 / 128)))  # of I1/I0 - 1


_I1_BY_X = tuple(0.5 / (4 ** k * math.factorial(k) * math.factorial(k + 1)) for k in range(9))  # in x**2, up to 1


def _i1e_tangent(g, y, x):
    """``i0e - y sign - y/x``; up to 1 the last is a series, so that further derivatives lose no digits. Source: DLMF 10.25.2."""
    near = lt(absolute(x), _k(1, x))
    small = _where(near, x, _k(0, x))
    square_of, ratio = square(small), _k(0, x)
    for c in reversed(_I1_BY_X):
        ratio = add(mul(ratio, square_of), _k(c, x))
    ratio = _where(near, mul(exp(neg(absolute(small))), ratio), div(y, _where(near, _k(1, x), x)))
    slope = sub(sub(bessel_i0e_p.bind(x), mul(y, sign(x))), ratio)
    slope = _where(eq(x, _k(0, x)), like(_k(0.5, x), x), slope)
    return mul(g, _far_slope(y, x, slope, (-1 / 2, 3 / 8, 3 / 8, 63 / 128)))  # of I0/I1 - 1 - 1/x


def _i0e_reference(x):
    """Source: DLMF 10.40.1 where NumPy's `i0` nears the largest number."""
    size = np.abs(np.asarray(x, np.float64))
    near, far = np.minimum(size, 500), np.maximum(size, 500)
    large = (1 + (1 + (9 + 75 / (8 * far)) / (16 * far)) / (8 * far)) / np.sqrt(2 * np.pi * far)
    return np.where(size < 500, np.i0(near) * np.exp(-near), large).astype(np.asarray(x).dtype)


bessel_i0e_p = elementwise("bessel_i0e", _in_float32(_i0e), accepts=FLOAT, jvp=(_i0e_tangent,),
                           reference=_i0e_reference, cost=5.0)
bessel_i1e_p = elementwise("bessel_i1e", "chlo.bessel_i1e", accepts=FLOAT, jvp=(_i1e_tangent,), cost=5.0)


# -- public functions ----------------------------------------------------------------------------------------------------


def erf(x: ArrayLike) -> Array:
    """Elementwise error function. Raises TypeError unless ``x`` is real floating. Source: CHLO `erf`.

    >>> lax.erf(0.5)
    Array(0.5204999, dtype=float32, weak_type=True)
    """
    return apply(erf_p, x)


def erfc(x: ArrayLike, *, accuracy: Accuracy | None = None) -> Array:
    """Elementwise ``1 - erf(x)``, accurate for large ``x``. ``accuracy`` is accepted and has no effect: CHLO has one erfc.

    Source: CHLO `erfc`.

    >>> lax.erfc(0.5)
    Array(0.47950017, dtype=float32, weak_type=True)
    """
    return apply(erfc_p, x)


def erf_inv(x: ArrayLike) -> Array:
    """Elementwise inverse of `erf`; infinite at -1 and 1, NaN beyond. Raises TypeError unless ``x`` is real floating.

    Source: CHLO `erf_inv`.

    >>> lax.erf_inv(0.5)
    Array(0.47693628, dtype=float32, weak_type=True)
    """
    return apply(erf_inv_p, x)


def lgamma(x: ArrayLike) -> Array:
    """Elementwise logarithm of the absolute value of the gamma function. Source: CHLO `lgamma`.

    >>> lax.lgamma(5.)
    Array(3.1780548, dtype=float32, weak_type=True)
    """
    return apply(lgamma_p, x)


def digamma(x: ArrayLike) -> Array:
    """Elementwise derivative of `lgamma`. Source: CHLO `digamma`.

    >>> lax.digamma(1.)
    Array(-0.5772154, dtype=float32, weak_type=True)
    """
    return apply(digamma_p, x)


def polygamma(m: ArrayLike, x: ArrayLike) -> Array:
    """Elementwise ``m``-th derivative of `digamma` at ``x``, for whole numbers ``m`` in the dtype of ``x``.

    Source: CHLO `polygamma`.

    >>> lax.polygamma(1., 1.)
    Array(1.644934, dtype=float32, weak_type=True)
    """
    return apply(polygamma_p, m, x)


def zeta(x: ArrayLike, q: ArrayLike) -> Array:
    """Elementwise Hurwitz zeta function: the sum of ``(k + q) ** -x`` over k = 0, 1, ... Source: CHLO `zeta`.

    >>> lax.zeta(2., 1.)
    Array(1.644934, dtype=float32, weak_type=True)
    """
    return apply(zeta_p, x, q)


def bessel_i0e(x: ArrayLike) -> Array:
    """Elementwise ``exp(-abs(x)) * I0(x)``, of the modified Bessel function of order 0.

    Source: DLMF 10.32.1, by Chebyshev series.

    >>> lax.bessel_i0e(1.)
    Array(0.4657596, dtype=float32, weak_type=True)
    """
    return apply(bessel_i0e_p, x)


def bessel_i1e(x: ArrayLike) -> Array:
    """Elementwise ``exp(-abs(x)) * I1(x)``, of the modified Bessel function of order 1. Source: CHLO `bessel_i1e`.

    >>> lax.bessel_i1e(1.)
    Array(0.20791042, dtype=float32, weak_type=True)
    """
    return apply(bessel_i1e_p, x)
