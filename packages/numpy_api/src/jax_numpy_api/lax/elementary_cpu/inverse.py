"""Arc sine, arc cosine and arc tangent for the CPU, by polynomials near 0.

Beyond 1/2 the arc sine comes from that of ``sqrt((1 - |x|)/2)``. The arc tangent of ``u/v`` with ``u`` up to ``v`` is, beyond pi/8, pi/4
more than that of ``(u - v)/(u + v)``, so one division serves all. What is added in the end has two parts, of which the
smaller goes to the polynomial first.

Source: Abramowitz & Stegun, 4.4; the numbers: `benchmarks/accuracy/minimax.py`.
"""
from __future__ import annotations

from .lanes import FLOAT32, FLOAT64, Lane, polynomial

_ASIN = {  # of (asin(r)/r - 1) / r**2 in r**2, r up to 1/2
    FLOAT32: (0.16666753590106964, 0.07495252043008804, 0.0454760417342186, 0.024152088910341263, 0.04221181571483612),
    FLOAT64: (0.16666666666665383, 0.07500000000342946, 0.04464285682354348, 0.030381959329211613, 0.022371753565119386,
              0.017359770550473982, 0.013884603412679438, 0.012173249802812702, 0.0065109704828141554, 0.019573609155771804,
              -0.01629363796828417, 0.031958684226754255)}
_ATAN = {  # of (atan(r)/r - 1) / r**2 in r**2, r up to tan(pi/8)
    FLOAT32: (-0.33333316445350647, 0.1999853104352951, -0.1424446851015091, 0.1059979647397995, -0.06091666594147682),
    FLOAT64: (-0.333333333333332, 0.1999999999995382, -0.14285714280223494, 0.11111110785039086, -0.09090897809731686,
              0.07692061243305395, -0.06663117089946759, 0.05847998228193894, -0.05039886393523519, 0.03808243177347012,
              -0.01793099048535655)}
_ATAN_ONE = {  # the same, r up to 1
    FLOAT32: (-0.33333301544189453, 0.1999862641096115, -0.14265091717243195, 0.1095665842294693, -0.08416468650102615,
              0.05817835405468941, -0.031394898891448975, 0.011029260233044624, -0.00181878253351897),
    FLOAT64: (-0.33333333333333093, 0.19999999999955462, -0.14285714282803444, 0.11111111013680978, -0.09090907119717383,
              0.07692281191520076, -0.06666415032477103, 0.05880592745482875, -0.05253806346859645, 0.04723295907788406,
              -0.04221724164875031, 0.03669365005365775, -0.02998575525690521, 0.022085367863931567, -0.013995185502678333,
              0.007263496752827925, -0.0029194137141006745, 0.0008435102708573358, -0.00015480271187891652,
              1.348985811588766e-05)}
_HALF_PI = {FLOAT32: (1.5707963705062866, -4.371138828673793e-08), FLOAT64: (1.5707963267948966, 6.123233995736766e-17)}
_TAN_EIGHTH = 0.4142135623730951


def _arc_sine(x: Lane) -> tuple[Lane, Lane, Lane, Lane]:
    """``|x|``, whether it is beyond 1/2, and the arc sine of ``|x|`` or of ``sqrt((1 - |x|)/2)`` in two parts."""
    size = abs(x)
    beyond = size > 0.5
    half = (1.0 - size) * 0.5
    square = beyond.where(half, size * size)
    r = beyond.where(half.op("sqrt"), size)
    return size, beyond, r, r * (square * polynomial(square, _ASIN[x.dtype]))


def asin(x: Lane) -> Lane:
    _, beyond, r, rest = _arc_sine(x)
    high, low = _HALF_PI[x.dtype]
    outer = high / 2 + ((high / 2 - r * 2.0) - (rest * 2.0 - low))
    return beyond.where(outer, r + rest).with_sign_of(x)


def acos(x: Lane) -> Lane:
    _, beyond, r, rest = _arc_sine(x)
    high, low = _HALF_PI[x.dtype]
    negative = x < 0.0
    twice = (r + rest) * 2.0
    outer = negative.where(2 * high - (twice - 2 * low), twice)
    inner = high - (negative.where(-r, r) + (negative.where(-rest, rest) - low))
    return beyond.where(outer, inner)


def _arc_tangent(u: Lane, v: Lane, quarters: Lane, turned: Lane) -> Lane:
    """``quarters pi/2 + atan(u/v)``, or the same with a minus where ``turned``; ``0 <= u <= v``, and 0 where both are.

    It is selected behind the division, as XLA computes a quotient with several users in a kernel of its own.
    """
    high, low = _HALF_PI[u.dtype]
    beyond = u > v * _TAN_EIGHTH
    r = v.equals(0.0).where(u, beyond.where(u - v, u) / beyond.where(u + v, v))
    square = r * r
    rest = r * (square * polynomial(square, _ATAN[u.dtype]))
    eighth = beyond.where(0.5, u.full(0.0))
    quarters = quarters + turned.where(-eighth, eighth)
    return quarters * high + (turned.where(-r, r) + (turned.where(-rest, rest) + quarters * low))


def atan(x: Lane) -> Lane:
    size = abs(x)
    inverse = size > 1.0
    r = inverse.where(1.0 / size, size)
    square = r * r
    high, low = _HALF_PI[x.dtype]
    rest = r * (square * polynomial(square, _ATAN_ONE[x.dtype]))
    return inverse.where(high - (r + (rest - low)), r + rest).with_sign_of(x)


def atan2(y: Lane, x: Lane) -> Lane:
    """The quotient of float32 numbers is one of float64, which neither overflows nor rounds as they do."""
    a, b = abs(y), abs(x)
    inverse = a > b
    u, v = inverse.where(b, a), inverse.where(a, b)
    infinite = u.equals(float("inf")) & v.equals(float("inf"))
    u, v = infinite.where(1.0, u), infinite.where(1.0, v)
    if x.double:
        for far, factor in ((v > 1e300, 2.0 ** -60), (v < 1e-280, 2.0 ** 100)):
            scale = far.where(factor, v.full(1.0))
            u, v = u * scale, v * scale
    negative = x.bits() < 0
    quarters = inverse.where(1.0, negative.where(2.0, u.full(0.0)))
    out = _arc_tangent(u.to(FLOAT64), v.to(FLOAT64), quarters.to(FLOAT64), inverse ^ negative)
    return out.to(x.dtype).with_sign_of(y)
