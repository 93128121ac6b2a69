"""The logarithm of the gamma function for the CPU.

Between 1/2 and 5/2 it is ``(z - 1)(z - 2)`` times a polynomial. Up to 8 the recurrence leads there, with one logarithm of the product of the
steps; beyond, Stirling's formula, with ``log(z) - 1`` as a factor, so that nothing cancels. Below 1/2 it is that of ``z + 1`` less
a logarithm, of negative numbers by reflection.

Sources: DLMF 5.5.1, 5.5.3, 5.11.1; the numbers: `benchmarks/accuracy/minimax.py` and, of float64 and as powers for float32, `LGAMMA` of
`benchmarks/accuracy/fit.py`.
"""
from __future__ import annotations

import math

from ..series import halves
from .lanes import FLOAT32, FLOAT64, Format, Lane, polynomial
from .logarithmic import log as logarithm

_REST = (  # of log gamma(z) / ((z - 1) (z - 2)) in z - 3/2, z from 1/2 to 5/2
    0.48312893509864807, -0.14595983922481537, 0.06291267275810242, -0.03131137415766716, 0.01677139475941658,
    -0.009386811405420303, 0.005642023868858814, -0.0034435868728905916, 0.0012051769299432635, -0.0004455976886674762,
    0.0020988902542740107, -0.0016644529532641172, -0.00112747005186975, 0.0009505286579951644, 0.0007335653644986451,
    -0.0005269158282317221)
SERIES = (  # Chebyshev's, of log gamma(z) / ((z - 1) (z - 2)) from 1/2 to 5/2
    0.5233830675936226, -0.17797233729529863, 0.043707765509376, -0.012436054693716324, 0.0038166273622453444,
    -0.0012248310110168689, 0.0004046307309337695, -0.0001363999286478383, 4.6669854564403646e-05, -1.6152571568530024e-05,
    5.641861294289138e-06, -1.985468608994096e-06, 7.031292350156658e-07, -2.503431672683324e-07, 8.954655195462511e-08,
    -3.216038816813161e-08, 1.1591674196198932e-08, -4.191331343092517e-09, 1.5198287942838018e-09, -5.525248244354367e-10,
    2.0133461407895695e-10, -7.351973399346738e-11, 2.6898575436827364e-11, -9.85882886617758e-12, 3.619354400654772e-12,
    -1.3307382122555227e-12, 4.899613435234918e-13, -1.8063242404502505e-13, 6.667388160934133e-14, -2.4638096705345538e-14,
    9.114199669747885e-15, -3.3749037208856614e-15, 1.2508630658961872e-15, -4.640235454740319e-16, 1.7227826138316332e-16,
    -6.401198458457187e-17, 2.3802040365336956e-17, -8.85670810564711e-18, 3.2977685786612905e-18, -1.2286928418849807e-18)
_SINE = {  # of sin(pi r) / (pi r) in r**2, r up to 1/2
    FLOAT32: (1.0, -1.644934058189392, 0.8117420077323914, -0.19074538350105286, 0.026104742661118507, -0.0022154799662530422),
    FLOAT64: tuple([(-1) ** k * math.pi ** (2 * k) / math.factorial(2 * k + 1) for k in range(11)])}
_STIRLING = {FLOAT32: (1 / 12, -1 / 360), FLOAT64: (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400)}
_FAR = 8.0


def lgamma(x: Lane) -> Lane:
    fmt = x.format
    size = abs(x)
    tiny, far = size < 0.5, size >= _FAR
    z = tiny.where(1.0 + x, far.where(2.0, size))
    bits = size.bits()
    subnormal = bits < 1 << fmt.mantissa  # arithmetic takes these for 0, so their bits are counted
    lowest = (fmt.mantissa + fmt.bias - 1) * math.log(2)  # of the reciprocal of the smallest number
    product = tiny.where(subnormal.where(_count(bits, fmt), size), x.full(1.0))
    for _ in range(6):
        high = z >= 2.5
        z = high.where(z - 1.0, z)
        product = high.where(product * z, product)
    near = (z - 1.0) * (z - 2.0) * _rest(z - 1.5) + subnormal.where(lowest, x.full(0.0))
    log = _log(far.where(size, product))
    inverse = 1.0 / far.where(size, _FAR)
    rest = inverse * polynomial(inverse * inverse, _STIRLING[x.dtype]) + (math.log(2 * math.pi) - 1) / 2
    right = tiny.where(near - log, far.where((size - 0.5) * (log - 1.0) + rest, near + log))
    whole = x.round()
    distance = abs(x - whole)
    sine = distance * polynomial(distance * distance, _SINE[x.dtype])
    left = -_log(size * sine) - right  # the logarithm of pi / (x sin(pi x)), less that of gamma(-x)
    out = (x <= -0.5).where(left, right)
    return (size < float("inf")).where(out, size)


def _count(bits: Lane, fmt: Format) -> Lane:
    """``bits`` that fit into the mantissa, as a float."""
    unit = 2.0 ** fmt.mantissa
    return (bits | fmt.bits(unit)).as_float(fmt.dtype) - unit


def _log(x: Lane) -> Lane:
    """The compiler's of float32 is vector code."""
    return logarithm(x) if x.double else x.op("log")


def _rest(t: Lane) -> Lane:
    """``log gamma(z) / ((z - 1)(z - 2))`` at ``z = t + 3/2``."""
    if not t.double:
        return polynomial(t, _REST)
    even, odd = halves(SERIES[:38])
    s = (t + t) * t - 1.0
    return polynomial(s, odd) * t + polynomial(s, even)
