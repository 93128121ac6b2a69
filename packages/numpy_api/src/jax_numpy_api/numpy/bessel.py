"""The modified Bessel functions I0 and I1 of real arrays, for `jax.numpy.i0` and `jax.scipy.special`.

Each has its own derivative, as that of ``exp(|x|) * i0e(x)`` is wrong at 0, where both factors have a kink. ``I1(x)/x`` is a
power series up to 1, so that further derivatives lose no digits there.

Sources: DLMF 10.25.2, 10.29.1, 10.29.2.
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from jax_core.transformations.custom_jvp import custom_jvp

from .. import lax
from .arithmetic import clip, where
from .ufuncs import abs as absolute, exp

if TYPE_CHECKING:
    from jax_core.representation.array import Array

_OVERFLOWS = 1e4  # beyond this both functions are infinite in any dtype
_RATIO = tuple(0.5 / (4 ** k * math.factorial(k) * math.factorial(k + 1)) for k in range(9))  # of I1(x)/x in x**2, up to 1


def _unscaled(scaled, x):
    half = exp(0.5 * absolute(x))  # in two factors, as exp(x) overflows before the function does
    return half * scaled * half


@custom_jvp
def i0(x: Array) -> Any:
    """The modified Bessel function of order 0, of a floating-point array."""
    x = clip(x, -_OVERFLOWS, _OVERFLOWS)
    return _unscaled(lax.bessel_i0e(x), x)


@i0.defjvp
def _i0_jvp(primals, tangents):
    (x,), (t,) = primals, tangents
    return i0(x), t * i1(x)


@custom_jvp
def i1(x: Array) -> Any:
    """The modified Bessel function of order 1, of a floating-point array."""
    x = clip(x, -_OVERFLOWS, _OVERFLOWS)
    return _unscaled(lax.bessel_i1e(x), x)


@i1.defjvp
def _i1_jvp(primals, tangents):
    """``I0 - I1/x``: scaled where both may overflow, and by the series near 0."""
    (x,), (t,) = primals, tangents
    y = clip(x, -_OVERFLOWS, _OVERFLOWS)
    far = absolute(y) > 1
    large, small = where(far, y, 2.0), where(far, 0.0, y)
    ratio, square = 0.0, small * small
    for c in reversed(_RATIO):
        ratio = ratio * square + c
    scaled = lax.bessel_i0e(large) - lax.bessel_i1e(large) / large
    return i1(x), t * where(far, _unscaled(scaled, large), i0(small) - ratio)
