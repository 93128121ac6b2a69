"""The logarithm of the gamma function and its slope for the CPU.

Between 1/2 and 8 the logarithm is ``(z - 1)(z - 2)`` times a quotient of polynomials, the slope between 1 and 8 the distance to its zero times
one. Beyond are their asymptotic series, of the logarithm with ``log(z) - 1`` as a factor, so that nothing cancels. Below, the recurrence
leads to ``z + 1``, and negative numbers are reflected. The polynomials in ``z`` have positive coefficients, so that no rounding error grows.

The logarithm in float32, where such a quotient is off by one unit more, is ``(z - 1)(z - 2)`` times one polynomial up to 5/2. From 8 the
recurrence leads there, with one logarithm of the product of the steps.

Sources: DLMF 5.5.1 to 5.5.4, 5.11.1, 5.11.2; the numbers: `benchmarks/accuracy/rational.py` and `benchmarks/accuracy/minimax.py` (float32, sine).
"""
from __future__ import annotations

import math

from .lanes import FLOAT32, FLOAT64, Format, Lane, polynomial
from .logarithmic import log as logarithm

_REST = (  # of log gamma(z) / ((z - 1) (z - 2)) in z - 3/2, z from 1/2 to 5/2
    0.48312893509864807, -0.14595983922481537, 0.06291267275810242, -0.03131137415766716, 0.01677139475941658,
    -0.009386811405420303, 0.005642023868858814, -0.0034435868728905916, 0.0012051769299432635, -0.0004455976886674762,
    0.0020988902542740107, -0.0016644529532641172, -0.00112747005186975, 0.0009505286579951644, 0.0007335653644986451,
    -0.0005269158282317221)
_LGAMMA = (  # of the same in z, z from 1/2 to 8: above the line and below
    (2.755621275257315, 117.48904440260222, 1101.072329754487, 3621.793051456678, 4977.250868346857, 3049.7840393811384, 842.332757564582,
     100.41458543458131, 4.56004087743279, 0.057385066172432685, 3.9375815697528526e-05),
    (1.0, 69.41708771972527, 939.5402635249656, 4295.0460362143185, 8142.614051194592, 7030.017852780531, 2866.3986361889592, 546.8218244451155,
     45.8834165327056, 1.4587397886562656, 0.012024448494706654))
_DIGAMMA = {  # of digamma(z) / (z - root) in z, z from 1 to 8
    FLOAT32: (
        (503.1319274902344, 1179.376953125, 463.421142578125, 32.261497497558594, 0.09227057546377182),
        (1.0, 728.516357421875, 820.7349853515625, 184.40419006347656, 7.441768646240234)),
    FLOAT64: (
        (75044189.66892287, 253124675.96311498, 256867931.8439119, 109640091.2051095, 21458538.775000177, 1884448.4253092771, 65639.16171291795,
         653.1724165652556, 0.3220359290661033),
        (1.0, 109686989.05854052, 231617977.7004704, 169055925.3078569, 54950508.50588467, 8390020.191775039, 577264.5435544618, 15489.145367175088,
         110.73963945132382))}
ROOT = (1.4616321449683622, 9.549995429965697e-17)  # of digamma, and what the float leaves
_COT = {  # of pi r cot(pi r) / (1 - 4 r**2) in r**2, r up to 1/2
    FLOAT32: (
        (1.0, -0.49216943979263306, 0.024585571140050888),
        (1.0, -1.202301263809204, 0.20249463617801666)),
    FLOAT64: (
        (1.0, -0.6460066814529463, 0.09672446985614074, -0.0031728471008530316),
        (1.0, -1.3561385477564964, 0.3838806699489739, -0.028028336093831648, 0.0002862219950815372))}
_SINE = {  # of sin(pi r) / (pi r) in r**2, r up to 1/2
    FLOAT32: (1.0, -1.644934058189392, 0.8117420077323914, -0.19074538350105286, 0.026104742661118507, -0.0022154799662530422),
    FLOAT64: tuple([(-1) ** k * math.pi ** (2 * k) / math.factorial(2 * k + 1) for k in range(11)])}
_STIRLING = {FLOAT32: (1 / 12, -1 / 360), FLOAT64: (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400)}
_BERNOULLI = {  # B_2k / 2k
    FLOAT32: (1 / 12, -1 / 120, 1 / 252),
    FLOAT64: (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12, -3617 / 8160, 43867 / 14364)}
_FAR = 8.0
SMALL = 128
"""Elements up to which the time to compile counts more: the compiler's logarithm of the gamma function takes 20 ns for each."""


def lgamma(x: Lane) -> Lane:
    size = abs(x)
    tiny, far = size < 0.5, size >= _FAR
    z = tiny.where(1.0 + x, far.where(2.0, size))
    log_of, lowest = _normal(size)
    if x.double:
        above, below = (_by_halves(z, table) for table in _LGAMMA)
        rest = above / below
    else:
        log_of = tiny.where(log_of, x.full(1.0))
        for _ in range(6):
            high = z >= 2.5
            z = high.where(z - 1.0, z)
            log_of = high.where(log_of * z, log_of)
        rest, log_of = polynomial(z - 1.5, _REST), far.where(size, log_of)
    near, log = (z - 1.0) * (z - 2.0) * rest + lowest, _log(log_of)
    inverse = 1.0 / far.where(size, _FAR)
    beyond = inverse * polynomial(inverse * inverse, _STIRLING[x.dtype]) + (math.log(2 * math.pi) - 1) / 2
    beyond = (size - 0.5) * (log - 1.0) + beyond
    right = tiny.where(near - log, far.where(beyond, near if x.double else near + log))
    left = -_log(size * _sine(abs(x - x.round()))) - right  # the logarithm of pi / (x sin(pi x)), less that of gamma(-x)
    out = (x <= -0.5).where(left, right)
    return (right < float("inf")).where(out, right)  # whole numbers beyond that, poles, would be inf - inf


def _normal(size):
    """The number of which a logarithm is taken, and what is to be subtracted from that: of subnormal numbers, which arithmetic takes for 0,
    the bits are counted. Elsewhere 0, which also makes -0 a 0."""
    fmt, bits = size.format, size.bits()
    subnormal = bits < 1 << fmt.mantissa
    lowest = (fmt.mantissa + fmt.bias - 1) * math.log(2)  # of the reciprocal of the smallest number
    return subnormal.where(_count(bits, fmt), size), subnormal.where(lowest, size.full(0.0))


def digamma(x: Lane) -> Lane:
    size = abs(x)
    negative, low = x < 0.0, x < 1.0
    y = low.where(1.0 + size, size)
    far = y >= _FAR
    z = far.where(2.0, y)
    root = float(x.dtype.type(ROOT[0]))
    above, below = (_by_halves(z, table) for table in _DIGAMMA[x.dtype])
    near = ((z - root) * above - above * (ROOT[0] - root + ROOT[1])) / below  # not (z - root - rest), where XLA adds up the constants
    inverse = 1.0 / far.where(y, _FAR)
    square = inverse * inverse
    value = far.where(_log(y) - inverse * 0.5 - square * polynomial(square, _BERNOULLI[x.dtype]), near)
    distance = x - x.round()
    cot = (distance.equals(0.0)).where(float("nan"), _cot(distance))  # NaN at the poles
    return low.where(value - negative.where(cot, 1.0 / size), value)


def _by_halves(z, coefficients):
    """A polynomial of many terms, with half of the rounding errors of Horner's rule."""
    square = z * z
    return polynomial(square, coefficients[::2]) + z * polynomial(square, coefficients[1::2])


def _is_small(x):
    """Whether the compiler's functions serve, which are shorter and no vector code."""
    return x.value.aval.size <= SMALL


def _log(x: Lane) -> Lane:
    """The compiler's of float32 is vector code."""
    return logarithm(x) if x.double and not _is_small(x) else x.op("log")


def _sine(r: Lane) -> Lane:
    """``sin(pi r) / pi``, r from 0 to 1/2."""
    if _is_small(r):
        return (r * math.pi).op("sine") * (1 / math.pi)
    return r * polynomial(r * r, _SINE[r.dtype])


def _cot(r: Lane) -> Lane:
    """``pi cot(pi r)``, r from -1/2 to 1/2."""
    square = r * r
    above, below = _COT[r.dtype]
    return (1.0 - square * 4.0) * polynomial(square, above) / (r * polynomial(square, below))


def _count(bits: Lane, fmt: Format) -> Lane:
    """``bits`` that fit into the mantissa, as a float."""
    unit = 2.0 ** fmt.mantissa
    return (bits | fmt.bits(unit)).as_float(fmt.dtype) - unit
