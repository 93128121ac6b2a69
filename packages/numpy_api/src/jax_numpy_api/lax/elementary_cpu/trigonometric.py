"""Sine, cosine and tangent for the CPU, in float64 arithmetic, whatever the argument's size.

An argument ``x`` is brought near zero in steps ``x - k M``, each with a multiple ``M`` of 2 pi but for a known tiny rest, for
``x`` large enough (else ``k`` is 0); then by multiples of pi or pi/2, in three parts (Cody and Waite). ``k`` has at most 35 bits, the
parts of ``M`` have 17 to 20, so the products are exact. There is no slow path: any branch would cost the vectors.

Sources: W. J. Cody and W. Waite, "Software Manual for the Elementary Functions", 1980; the numbers: `benchmarks/accuracy/minimax.py`.
"""
from __future__ import annotations

from .lanes import FLOAT32, FLOAT64, Lane, itself_where_subnormal, magic, polynomial

_FOLDS = (  # 1/M, two parts whose sum is M, M less a multiple of 2 pi
    (7.072107549417136e-29, 1.4140049733395058e+28, 6.720955911105614e+21, 2.5277626970124422e-12),
    (1.030963695695831e-18, 9.699660682798039e+17, 191613632512.0, 4.694123977264018e-12),
    (7.952368967462072e-09, 125748736.0, -43.491943359375, -1.9262675998459248e-13))
_PI = 3.1415926814079285, -2.7818135128754307e-08, -9.957992501029599e-17
_SIN = (0.9999999999435009, -0.16666666536341995, 0.00833332834987578, -0.00019840562632666932, 2.7511455135632986e-06,
        -2.36661776130631e-08)  # of sin(r)/r in r**2, r up to 1.7
_HALF_PI = 1.5707963407039642, -1.3909067564377153e-08, -4.9789962505147994e-17
_SIN_NEAR = (0.9999999999920574, -0.16666666610170158, 0.00833332685735044, -0.00019838660261919502,
             2.712653311788776e-06)  # of sin(r)/r in r**2, r up to 0.83
_COS_NEAR = 1.0, -0.49999999518842, 0.04166660168725311, -0.0013886125456002, 2.433413561269502e-05  # of cos(r)


def _folded(x: Lane) -> tuple[Lane, Lane]:
    """Up to 2**26 in size, and what must be added to it in the end."""
    def step(x: Lane, inverse: float, high: float, low: float, more: float) -> tuple[Lane, Lane]:
        k = (x * inverse).round()
        return x - k * high - k * low, k * more
    first, *others = _FOLDS
    x, rest = step(x, *first)
    for fold in others:
        x, more = step(x, *fold)
        rest = rest + more
    return x, rest


def _near_zero(x: Lane, rest: Lane, k: Lane, parts: tuple) -> Lane:
    for part in parts:
        x = x - k * part
    return x + rest


def _parity(k: Lane) -> Lane:
    """The sign bit where the integer ``k`` is odd, else 0."""
    return (k + magic(k.format)).bits() << 63


def _odd(k: Lane, r: Lane) -> Lane:
    """``r`` with the other sign where the integer ``k`` is odd."""
    return (_parity(k) ^ r.bits()).as_float(FLOAT64)


def sin(x: Lane) -> Lane:
    size = abs(x)
    y, rest = _folded(size.to(FLOAT64))
    k = (y * 0.3183098861837907).round()
    r = _near_zero(y, rest, k, _PI)
    out = _odd(k, r * polynomial(r * r, _SIN)).to(FLOAT32)
    return itself_where_subnormal(x, (out.bits() ^ x.sign_bit()).as_float(FLOAT32))


def cos(x: Lane) -> Lane:
    y, rest = _folded(abs(x).to(FLOAT64))
    k = (y * 0.3183098861837907 + 0.5).round()
    r = _near_zero(y, rest, k - 0.5, _PI)
    return _odd(k, r * polynomial(r * r, _SIN)).to(FLOAT32)


def tan(x: Lane) -> Lane:
    y, rest = _folded(abs(x).to(FLOAT64))
    k = (y * 0.6366197723675814).round()
    r = _near_zero(y, rest, k, _HALF_PI)
    square = r * r
    sine, cosine = r * polynomial(square, _SIN_NEAR), polynomial(square, _COS_NEAR)
    parity = _parity(k)
    odd = parity.differs(0)
    out = odd.where(cosine, sine) / odd.where(sine, cosine)
    out = (out.bits() ^ parity).as_float(FLOAT64).to(FLOAT32)
    return itself_where_subnormal(x, (out.bits() ^ x.sign_bit()).as_float(FLOAT32))
