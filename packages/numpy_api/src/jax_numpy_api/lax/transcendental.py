"""Exponential, logarithmic, trigonometric and hyperbolic functions, of floats and complex numbers.

Each is a row: name, op, derivative, NumPy reference. The derivatives avoid cancellation: ``1 - tanh(x)**2`` is computed as
``(1 - t)(1 + t)``, the derivative of `expm1` as ``exp(x)``, and that of `atan2` does not overflow before its result does.

Source: StableHLO and CHLO specifications; derivatives: Abramowitz & Stegun, chapter 4.
"""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from .accuracy import accuracy_text
from .arithmetic import (add_p, div_p, max_p, mul_p, neg_p, one_minus_square_p, rsqrt_p, square_p, sub_p,
                         with_accuracy)
from .compare import eq_p
from .complex import abs_p
from .nary import INEXACT, apply, constant, elementwise, emit, op
from .select import select_n_p

_LN2 = math.log(2)


def _times(g, factor):
    return mul_p.bind(g, factor)


def _one_plus(x):
    return add_p.bind(x, constant(1, x))


def _log2_lower(b, x, accuracy=None):
    log = b.emit(f"stablehlo.log {x}", x, out=b.out_avals[0], attrs=accuracy_text(accuracy))
    return emit(b, "stablehlo.divide", log, b.full(_LN2, x.aval))


def _exp2_lower(b, x, accuracy=None):
    scaled = emit(b, "stablehlo.multiply", x, b.full(_LN2, x.aval))
    return b.emit(f"stablehlo.exponential {scaled}", scaled, out=b.out_avals[0], attrs=accuracy_text(accuracy))




def _logistic_reference(x):
    return 1 / (1 + np.exp(-x))


_WITH_ACCURACY = {
    name: elementwise(name, lower if callable(lower) else op(lower), accepts=INEXACT, reference=reference,
                      jvp=(lambda g, out, x, accuracy=None, tangent=tangent: tangent(g, out, x),))
    for name, lower, tangent, reference in [
        ("exp", "stablehlo.exponential", lambda g, y, x: _times(g, y), np.exp),
        ("exp2", _exp2_lower, lambda g, y, x: _times(g, mul_p.bind(y, constant(_LN2, y))), np.exp2),
        ("expm1", "stablehlo.exponential_minus_one", lambda g, y, x: _times(g, exp_p.bind(x)), np.expm1),
        ("log", "stablehlo.log", lambda g, y, x: div_p.bind(g, x), np.log),
        ("log2", _log2_lower, lambda g, y, x: div_p.bind(g, mul_p.bind(x, constant(_LN2, x))), np.log2),
        ("log1p", "stablehlo.log_plus_one", lambda g, y, x: div_p.bind(g, _one_plus(x)), np.log1p),
        ("sin", "stablehlo.sine", lambda g, y, x: _times(g, cos_p.bind(x)), np.sin),
        ("cos", "stablehlo.cosine", lambda g, y, x: _times(g, neg_p.bind(sin_p.bind(x))), np.cos),
        ("tan", "stablehlo.tan", lambda g, y, x: _times(g, _one_plus(square_p.bind(y))), np.tan),
        ("tanh", "stablehlo.tanh", lambda g, y, x: _times(g, one_minus_square_p.bind(y)), np.tanh),
        ("logistic", "stablehlo.logistic", lambda g, y, x: _times(g, mul_p.bind(y, sub_p.bind(constant(1, y), y))),
         _logistic_reference),
    ]}
exp_p, exp2_p, expm1_p, log_p, log2_p, log1p_p, sin_p, cos_p, tan_p, tanh_p, logistic_p = _WITH_ACCURACY.values()

_PLAIN = {
    name: elementwise(name, f"chlo.{name}", accepts=INEXACT, jvp=(tangent,), reference=reference)
    for name, tangent, reference in [
        ("sinh", lambda g, y, x: _times(g, cosh_p.bind(x)), np.sinh),
        ("cosh", lambda g, y, x: _times(g, sinh_p.bind(x)), np.cosh),
        ("asin", lambda g, y, x: _times(g, rsqrt_p.bind(one_minus_square_p.bind(x))), np.arcsin),
        ("acos", lambda g, y, x: _times(g, neg_p.bind(rsqrt_p.bind(one_minus_square_p.bind(x)))), np.arccos),
        ("atan", lambda g, y, x: div_p.bind(g, _one_plus(square_p.bind(x))), np.arctan),
        ("asinh", lambda g, y, x: _times(g, rsqrt_p.bind(_one_plus(square_p.bind(x)))), np.arcsinh),
        ("acosh", lambda g, y, x: _times(g, mul_p.bind(rsqrt_p.bind(sub_p.bind(x, constant(1, x))),
                                                      rsqrt_p.bind(_one_plus(x)))), np.arccosh),
        ("atanh", lambda g, y, x: div_p.bind(g, one_minus_square_p.bind(x)), np.arctanh),
    ]}
sinh_p, cosh_p, asin_p, acos_p, atan_p, asinh_p, acosh_p, atanh_p = _PLAIN.values()


# -- atan2 ---------------------------------------------------------------------------------------------------------------

def _over_radius_squared(part, x, y):
    """``part / (x^2 + y^2)``, where ``part`` is ``x`` or ``y``; scaled by the larger, so that no square overflows; 0 at
    infinity."""
    size = max_p.bind(abs_p.bind(x), abs_p.bind(y))
    infinite = eq_p.bind(size, constant(np.inf, size))
    part, size = (select_n_p.bind(infinite, v, constant(c, v)) for v, c in ((part, 0), (size, 1)))
    x, y = (select_n_p.bind(infinite, v, constant(1, v)) for v in (x, y))
    u, v = div_p.bind(x, size), div_p.bind(y, size)
    return div_p.bind(div_p.bind(div_p.bind(part, size), add_p.bind(square_p.bind(u), square_p.bind(v))), size)


atan2_p = elementwise("atan2", "stablehlo.atan2", accepts=INEXACT, reference=np.arctan2,
                      jvp=(lambda g, out, y, x: _times(g, _over_radius_squared(x, x, y)),
                           lambda g, out, y, x: _times(g, neg_p.bind(_over_radius_squared(y, x, y)))))

# -- public functions ----------------------------------------------------------------------------------------------------


def exp(x: Any, *, accuracy: Any = None) -> Any:
    """Elementwise exponential. Raises TypeError unless ``x`` is floating or complex."""
    return with_accuracy(exp_p, x, accuracy)


def exp2(x: Any, *, accuracy: Any = None) -> Any:
    """Elementwise ``2 ** x``. Raises TypeError unless ``x`` is floating or complex."""
    return with_accuracy(exp2_p, x, accuracy)


def expm1(x: Any, *, accuracy: Any = None) -> Any:
    """Elementwise ``exp(x) - 1``, accurate near 0. Raises TypeError unless ``x`` is floating or complex."""
    return with_accuracy(expm1_p, x, accuracy)


def log(x: Any, *, accuracy: Any = None) -> Any:
    """Elementwise natural logarithm. Raises TypeError unless ``x`` is floating or complex."""
    return with_accuracy(log_p, x, accuracy)


def log2(x: Any, *, accuracy: Any = None) -> Any:
    """Elementwise logarithm to base 2. Raises TypeError unless ``x`` is floating or complex."""
    return with_accuracy(log2_p, x, accuracy)


def log1p(x: Any, *, accuracy: Any = None) -> Any:
    """Elementwise ``log(1 + x)``, accurate near 0. Raises TypeError unless ``x`` is floating or complex."""
    return with_accuracy(log1p_p, x, accuracy)


def sin(x: Any, *, accuracy: Any = None) -> Any:
    """Elementwise sine. Raises TypeError unless ``x`` is floating or complex."""
    return with_accuracy(sin_p, x, accuracy)


def cos(x: Any, *, accuracy: Any = None) -> Any:
    """Elementwise cosine. Raises TypeError unless ``x`` is floating or complex."""
    return with_accuracy(cos_p, x, accuracy)


def tan(x: Any, *, accuracy: Any = None) -> Any:
    """Elementwise tangent. Raises TypeError unless ``x`` is floating or complex."""
    return with_accuracy(tan_p, x, accuracy)


def tanh(x: Any, *, accuracy: Any = None) -> Any:
    """Elementwise hyperbolic tangent. Raises TypeError unless ``x`` is floating or complex."""
    return with_accuracy(tanh_p, x, accuracy)


def logistic(x: Any, *, accuracy: Any = None) -> Any:
    """Elementwise ``1 / (1 + exp(-x))``. Raises TypeError unless ``x`` is floating or complex."""
    return with_accuracy(logistic_p, x, accuracy)


def sinh(x: Any) -> Any:
    """Elementwise hyperbolic sine. Raises TypeError unless ``x`` is floating or complex."""
    return apply(sinh_p, x)


def cosh(x: Any) -> Any:
    """Elementwise hyperbolic cosine. Raises TypeError unless ``x`` is floating or complex."""
    return apply(cosh_p, x)


def asin(x: Any) -> Any:
    """Elementwise inverse sine. Raises TypeError unless ``x`` is floating or complex."""
    return apply(asin_p, x)


def acos(x: Any) -> Any:
    """Elementwise inverse cosine. Raises TypeError unless ``x`` is floating or complex."""
    return apply(acos_p, x)


def atan(x: Any) -> Any:
    """Elementwise inverse tangent. Raises TypeError unless ``x`` is floating or complex."""
    return apply(atan_p, x)


def atan2(x: Any, y: Any) -> Any:
    """Elementwise angle of the point whose ordinate is ``x`` and whose abscissa is ``y``, in (-pi, pi]."""
    return apply(atan2_p, x, y)


def asinh(x: Any) -> Any:
    """Elementwise inverse hyperbolic sine. Raises TypeError unless ``x`` is floating or complex."""
    return apply(asinh_p, x)


def acosh(x: Any) -> Any:
    """Elementwise inverse hyperbolic cosine. Raises TypeError unless ``x`` is floating or complex."""
    return apply(acosh_p, x)


def atanh(x: Any) -> Any:
    """Elementwise inverse hyperbolic tangent. Raises TypeError unless ``x`` is floating or complex."""
    return apply(atanh_p, x)
