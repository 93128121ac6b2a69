"""exp2, sinh and cosh for the CPU: ``2^n`` times a polynomial; all but exp2 in float64 arithmetic.

Source: W. J. Cody and W. Waite, "Software Manual for the Elementary Functions", 1980; the numbers: `benchmarks/accuracy/minimax.py`.
"""
from __future__ import annotations

from .lanes import FLOAT32, FLOAT64, Lane, polynomial, two_to

_EXP2 = {  # in r up to 1/2
    FLOAT32: (0.9999999999190909, 0.6931472067415021, 0.24022651505747608, 0.0555032714884162, 0.00961799442388507,
              0.001340045830491093, 0.00015478048582493687),
    FLOAT64: (1.0, 0.6931471805599453, 0.2402265069591016, 0.05550410866482177, 0.00961812910758719, 0.0013333558146374144,
              0.00015403530463808528, 1.5252733871112944e-05, 1.3215432492701078e-06, 1.0178045264743796e-07,
              7.074201969710114e-09, 4.4575376894321755e-10)}
_EXPM1 = {  # of (exp(r) - 1)/r, r up to log(2)/2
    FLOAT32: (1.0000000000312714, 0.5000000046732058, 0.1666666624893733, 0.04166635409352652, 0.008333402967855551,
              0.0013941034667095563, 0.0001984125747969058),
    FLOAT64: (1.0, 0.5000000000000006, 0.16666666666666563, 0.0416666666665737, 0.008333333333397929, 0.0013888888932333619,
              0.00019841269707344093, 2.4801504507260054e-05, 2.755741480522071e-06, 2.7626302313352725e-07,
              2.5052125897722895e-08)}
_LN2 = 0.6931471803691238, 1.9082149292705877e-10
_LOG2_E = 1.4426950408889634


def exp2(x: Lane) -> Lane:
    """The power of two is made of two factors, as one may overflow, or be subnormal, where the result does not."""
    bound = 2.0 * (x.format.bias - 1)
    x = x.clamp(-bound, bound)
    n = x.round()
    half = (n * 0.5).round()
    return polynomial(x - n, _EXP2[x.dtype]) * two_to(half) * two_to(n - half)


def _reduced(x: Lane) -> tuple[Lane, Lane]:
    """``n`` and ``r`` with ``x = n log(2) + r``, of float64."""
    n = (x * _LOG2_E).round()
    return n, (x - n * _LN2[0]) - n * _LN2[1]


def _half_expm1(x: Lane, coefficients: tuple) -> Lane:
    """``(exp(x) - 1)/2``. With a quarter of ``2^n``, as that may overflow where the result does not."""
    n, r = _reduced(x.clamp(-40.0, 710.5))
    near = r * polynomial(r, coefficients)
    quarter = two_to(n - 2.0)
    return n.equals(0.0).where(near * 0.5, (near * quarter + (quarter - 0.25)) * 2.0)


def sinh(x: Lane) -> Lane:
    """With ``m = exp(|x|) - 1`` it is ``(m + m/(m + 1))/2``."""
    half = _half_expm1(abs(x).to(FLOAT64), _EXPM1[x.dtype])
    out = half + (half < 1e30).where(half / (half * 2.0 + 1.0), 0.5)
    return out.to(x.dtype).with_sign_of(x)


def cosh(x: Lane) -> Lane:
    n, r = _reduced(abs(x).to(FLOAT64).clamp(0.0, 710.5))
    half = (1.0 + r * polynomial(r, _EXPM1[x.dtype])) * two_to(n - 2.0) * 2.0
    return (half + 0.25 / half).to(x.dtype)
