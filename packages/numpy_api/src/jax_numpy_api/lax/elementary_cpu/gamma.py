"""The logarithm of the gamma function for the CPU, in float32.

Between 1/2 and 5/2 it is ``(z - 1)(z - 2)`` times a polynomial. Up to 8 the recurrence leads there, with one logarithm of the product of the
steps; beyond, Stirling's formula, with ``log(z) - 1`` as a factor, so that nothing cancels. Below 1/2 it is that of ``z + 1`` less
a logarithm, of negative numbers by reflection.

Sources: DLMF 5.5.1, 5.5.3, 5.11.1; the numbers: `benchmarks/accuracy/minimax.py` and, as powers, `LGAMMA` of `benchmarks/accuracy/fit.py`.
"""
from __future__ import annotations

import math

from .lanes import Lane, polynomial

_REST = (  # of log gamma(z) / ((z - 1) (z - 2)) in z - 3/2, z from 1/2 to 5/2
    0.48312893509864807, -0.14595983922481537, 0.06291267275810242, -0.03131137415766716, 0.01677139475941658,
    -0.009386811405420303, 0.005642023868858814, -0.0034435868728905916, 0.0012051769299432635, -0.0004455976886674762,
    0.0020988902542740107, -0.0016644529532641172, -0.00112747005186975, 0.0009505286579951644, 0.0007335653644986451,
    -0.0005269158282317221)
_SINE = (1.0, -1.644934058189392, 0.8117420077323914, -0.19074538350105286, 0.026104742661118507, -0.0022154799662530422)
# of sin(pi r) / (pi r) in r**2, r up to 1/2
_FAR = 8.0
_LOWEST = 149 * math.log(2)  # of the reciprocal of the smallest float32


def lgamma(x: Lane) -> Lane:
    size = abs(x)
    tiny, far = size < 0.5, size >= _FAR
    z = tiny.where(1.0 + x, far.where(2.0, size))
    bits = size.bits()
    subnormal = bits < 1 << x.format.mantissa  # arithmetic takes these for 0, so their bits are counted
    product = tiny.where(subnormal.where(bits.to(x.dtype), size), x.full(1.0))
    for _ in range(6):
        high = z >= 2.5
        z = high.where(z - 1.0, z)
        product = high.where(product * z, product)
    near = (z - 1.0) * (z - 2.0) * polynomial(z - 1.5, _REST) + subnormal.where(_LOWEST, x.full(0.0))
    log = far.where(size, product).op("log")
    inverse = 1.0 / far.where(size, _FAR)
    rest = inverse * (1 / 12 - inverse * inverse * (1 / 360)) + (math.log(2 * math.pi) - 1) / 2
    right = tiny.where(near - log, far.where((size - 0.5) * (log - 1.0) + rest, near + log))
    whole = x.round()
    distance = abs(x - whole)
    sine = distance * polynomial(distance * distance, _SINE)
    left = -((size * sine).op("log")) - right  # the logarithm of pi / (x sin(pi x)), less that of gamma(-x)
    out = (x <= -0.5).where(left, right)
    return (size < float("inf")).where(out, size)
