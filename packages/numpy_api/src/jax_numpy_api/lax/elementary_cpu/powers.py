"""Powers and cube roots for the CPU.

A power is ``2^(y log2(x))``, of float32 only: in float64 arithmetic the product has digits enough. A cube root is ``x y^2`` with an
approximate ``y`` of ``x^(-1/3)``, whose error ``h = 1 - x y^3`` says what is missing. As that counts the rounding of ``x y^2`` too, a
third of it is left.

Sources: Abramowitz & Stegun, 3.6 and 4.2; the numbers: `benchmarks/accuracy/minimax.py`.
"""
from __future__ import annotations

from .lanes import FLOAT32, FLOAT64, Lane, polynomial, two_to
from .logarithmic import split

_INF, _NAN = float("inf"), float("nan")
_LOG2 = (2.885390081777927, 0.9617966939243184, 0.5770780172527195, 0.4121984011222612, 0.32061644879256057,
         0.2614424177003345, 0.24293682640262956)  # of log2((1 + s)/(1 - s)) / s in s**2
_EXP2 = (0.9999999999594821, 0.6931471805349841, 0.24022651214220128, 0.055504109762481005, 0.009618025520285388,
         0.0013333422530974481, 0.00015469758325280933, 1.531648859381451e-05)  # of 2**r, r up to 1/2
_ROOT = (2.015110492706299, -2.3866500854492188, 2.3059046268463135, -1.2354164123535156, 0.3344661295413971,
         -0.03567814081907272)  # of x**(-1/3), x from 8**-0.5 to 8**0.5


def cbrt(x: Lane) -> Lane:
    size = abs(x).to(FLOAT64)
    k, m, _ = split(size)
    third = (k * (1 / 3)).round()
    m = m * two_to(k - third * 3.0)
    y = polynomial(m, _ROOT)
    h = 1.0 - m * (y * y * y)
    y = y + y * (h * (1 / 3 + h * (2 / 9 + h * (14 / 81))))
    if x.double:
        y = (y.bits() & (-1 << 30)).as_float(FLOAT64)  # its square is exact
    root = m * (y * y)
    if x.double:
        h = 1.0 - root * y
        root = root + root * (h * (2 / 3 + h * (5 / 9)))
    root = (root * two_to(third)).to(x.dtype)
    size = abs(x)
    itself = size.equals(0.0) | (size < _INF).op("not")
    return itself.where(size, root).with_sign_of(x)


def pow(x: Lane, y: Lane) -> Lane:
    size = abs(x)
    k, m, _ = split(size.to(FLOAT64))
    s = (m - 1.0) * (1.0 / (m + 1.0))
    logarithm = k + s * polynomial(s * s, _LOG2)
    wide = size.to(FLOAT64)
    logarithm = wide.equals(0.0).where(-_INF, (wide < _INF).where(logarithm, wide))
    exponent = y.to(FLOAT64)
    none = logarithm.equals(0.0) | exponent.equals(0.0)
    product = none.where(0.0, exponent * logarithm).clamp(-1000.0, 1000.0)
    n = product.round()
    out = (polynomial(product - n, _EXP2) * two_to(n)).to(FLOAT32)
    half = y * 0.5
    whole, odd = y.round().equals(y), half.round().differs(half)
    undefined = (x < 0.0) & (x > -_INF) & whole.op("not")
    sign = (whole & odd).where(x.sign_bit(), x.bits().full(0))
    return undefined.where(_NAN, (out.bits() ^ sign).as_float(FLOAT32))
