"""Exponentials and logarithms: softmax, logistic functions, ``x log y`` and entropies, Box-Cox.

Where the obvious formula has a bad value or derivative at an edge (0 log 0, infinite summands), both are given here.
Chebyshev coefficients: `benchmarks/accuracy/fit.py`.
"""
from __future__ import annotations

import math

import numpy as np

from jax_core.representation import dtypes
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike

from ... import lax, numpy as jnp
from ...lax.quotient_cpu import shared_quotient
from ...nn.normalize import log_softmax as log_softmax_along, softmax as softmax_along
from ...numpy.promotion import in_float32, promote_args_inexact, strong
from ._series import chebyshev, differentiable, inlined, log1p

_ATANH = (  # of 2 atanh(s) / s in s**2
    2.05758423033744, 0.05907458976671974, 0.0015364804327463993, 4.767823156634062e-05, 1.6125966574705089e-06,
    5.740583918416682e-08, 2.1140918012828656e-09, 7.975969307791932e-11, 3.064038517292573e-12, 1.1937169787787715e-13,
    4.703049673047031e-15, 1.8699898677254895e-16, 7.492283892573281e-18)

# -- along axes --------------------------------------------------------------------------------------------------------

def softmax(x: ArrayLike, /, *, axis: int | tuple[int, ...] | None = None) -> Array:
    """``exp(x) / sum(exp(x))`` along ``axis``; by default over all elements. Source: `scipy.special.softmax`.

    >>> jsp.special.softmax(jnp.zeros(2))
    Array([0.5, 0.5], dtype=float32)
    """
    return softmax_along(x, axis)


def log_softmax(x: ArrayLike, /, *, axis: int | tuple[int, ...] | None = None) -> Array:
    """``x - log(sum(exp(x)))`` along ``axis``; by default over all elements. Source: `scipy.special.log_softmax`.

    >>> jsp.special.log_softmax(jnp.zeros(2))
    Array([-0.6931472, -0.6931472], dtype=float32)
    """
    return log_softmax_along(x, axis)


# -- logistic ----------------------------------------------------------------------------------------------------------

@inlined
def expit(x: ArrayLike) -> Array:
    """``1 / (1 + exp(-x))``. Source: StableHLO `logistic`.

    >>> jsp.special.expit(0.)
    Array(0.5, dtype=float32, weak_type=True)
    """
    (x,) = promote_args_inexact("expit", x)
    return lax.logistic(x)


@differentiable
@inlined
def logit(x: ArrayLike) -> Array:
    """``log(x / (1 - x))``, the inverse of `expit`: infinite at 0 and 1, NaN outside.

    Near 1/2 it is computed as ``2 atanh(2 x - 1)``, by a series, as the logarithm would lose all digits.

    Source: `scipy.special.logit`.

    >>> jsp.special.logit(0.5)
    Array(0., dtype=float32, weak_type=True)
    """
    (x,) = promote_args_inexact("logit", x)
    if jnp.issubdtype(x.dtype, np.complexfloating):
        return jnp.log(x / (1 - x))
    s = 2 * x - 1
    middle = jnp.abs(s) <= 0.4
    return jnp.where(middle, s * chebyshev(_ATANH, 0, 0.16, s * s), jnp.log(x / (1 - x)))


@logit.defjvp
def _logit_jvp(primals, tangents):
    (x,), (t,) = primals, tangents
    return logit(x), t / x + t / (1 - x)  # not over their product, whose slope at an end is 0 times infinity


# -- x log y and entropies ---------------------------------------------------------------------------------------------

def _times_log(name, log, slope):
    """``x * log(y)`` that is 0 where ``x`` is 0, whatever ``y``; ``slope`` is the derivative of ``log``.

    The derivative in ``y`` is 0 too where ``x`` is 0.
    """
    @differentiable
    def of_one_dtype(x: Array, y: Array):
        zero = (x == 0) & ~jnp.isnan(y)
        return jnp.where(zero, jnp.zeros_like(x), x * log(y))

    @of_one_dtype.defjvp
    def _(primals, tangents):
        (x, y), (dx, dy) = primals, tangents
        singular = (x == 0) & jnp.isinf(slope(y))
        out = of_one_dtype(x, y)
        by_y = jnp.where(singular, jnp.zeros_like(x), x * slope(jnp.where(singular, jnp.ones_like(y), y)))
        return out, (dx * log(y) + dy * by_y).astype(out.dtype)

    @inlined
    def product(x: ArrayLike, y: ArrayLike) -> Array:
        return of_one_dtype(*promote_args_inexact(name, x, y))  # before: an integer has no tangent

    product.__name__ = product.__qualname__ = name
    return product


xlogy = _times_log("xlogy", jnp.log, jnp.reciprocal)
xlogy.__doc__ = """``x * log(y)``, and 0 where ``x`` is 0 (NaN where ``y`` is NaN).

The derivatives are ``log(y)`` and ``x / y``, the latter 0 where ``x`` is 0. Source: `scipy.special.xlogy`.

>>> jax.scipy.special.xlogy(jnp.array([0.0, 2.0]), jnp.array([0.0, 3.0]))
Array([0.       , 2.1972246], dtype=float32)
"""
xlog1py = _times_log("xlog1py", log1p, lambda y: jnp.reciprocal(1 + y))
xlog1py.__doc__ = """``x * log(1 + y)``, and 0 where ``x`` is 0 (NaN where ``y`` is NaN).

The derivatives are ``log(1 + y)`` and ``x / (1 + y)``, the latter 0 where ``x`` is 0. Source: `scipy.special.xlog1py`.

>>> jax.scipy.special.xlog1py(jnp.array([0.0, 2.0]), jnp.array([-1.0, 2.0]))
Array([0.       , 2.1972246], dtype=float32)
"""


def _real(name, *args):
    """Promoted to one inexact dtype, which must be real."""
    args = promote_args_inexact(name, *args)
    if dtypes.issubdtype(dtypes.dtype(args[0]), np.complexfloating):
        raise ValueError(f"{name} does not support complex-valued inputs, got {dtypes.dtype(args[0])}")
    return args


def _joint(fun, name, *args):
    """``fun`` of broadcast real arguments; not weak where the first is not, whose terms it adds up."""
    value = in_float32(fun, *jnp.broadcast_arrays(*_real(name, *args)))
    return value if dtypes.is_weakly_typed(args[0]) else strong(value)


@differentiable
def _entr(x):
    return jnp.where(x < 0, -np.inf, -xlogy(x, x))


@_entr.defjvp
def _entr_jvp(primals, tangents):
    (x,), (t,) = primals, tangents
    return _entr(x), t * (-1 - jnp.log(x))


@inlined
def entr(x: ArrayLike) -> Array:
    """``-x log(x)``: 0 at 0, -inf below, where the derivative is NaN. Source: `scipy.special.entr`.

    >>> jsp.special.entr(jnp.array([0., 0.5]))
    Array([-0.       ,  0.3465736], dtype=float32)
    """
    return _entr(*_real("entr", x))


def _log_ratio(p, q):
    """``log(p / q)`` for positive ``p``, ``q``, with all digits where they are nearly equal and without overflow."""
    near = jnp.abs(p - q) <= 0.5 * q
    return jnp.where(near & (q < np.inf), log1p(jnp.where(near, (p - q) / q, 0)), jnp.log(p) - jnp.log(q))


def _deviance(p, q):
    """``p log(p / q) - p + q`` for positive ``p``, ``q``: where they are nearly equal, and terms cancel, by the series of
    ``2 atanh((p - q) / (p + q)) = log(p / q)``."""
    gap = p - q
    near = jnp.abs(gap) <= 0.5 * q
    v = shared_quotient(jnp.where(near, 0.5 * gap, 0), 0.5 * p + 0.5 * q)
    square = v * v
    rest: Array | float = 0.0
    for k in range(33 if p.dtype.itemsize == 8 else 13, 1, -2):
        rest = rest * square + 1 / k
    return jnp.where(near & (q < np.inf), gap * v + p * (2 * v * square * rest), p * (jnp.log(p) - jnp.log(q)) - gap)


def _divergence(extra):
    """``p log(p / q)``, and with ``extra`` also ``- p + q``. The derivatives on the edges and outside are 0, or that of ``q``."""
    def parts(p: Array, q: Array):
        nan = jnp.isnan(p) | jnp.isnan(q)
        inside = (p > 0) & (q > 0)
        safe_p, safe_q = jnp.where(inside, p, 1), jnp.where(inside, q, 1)
        return nan, inside, safe_p, safe_q, (p == 0) & (q >= 0)

    @differentiable
    def divergence(p: Array, q: Array):
        nan, inside, safe_p, safe_q, edge = parts(p, q)
        value = _deviance(safe_p, safe_q) if extra else safe_p * _log_ratio(safe_p, safe_q)
        value = jnp.where(inside & (q == np.inf), np.inf if extra else -np.inf, value)
        value = jnp.where(inside, value, jnp.where(edge, q if extra else 0, np.inf))
        return jnp.where(nan | (p == np.inf) & (q == np.inf), np.nan, value)

    @divergence.defjvp
    def _(primals, tangents):
        (p, q), (dp, dq) = primals, tangents
        nan, inside, safe_p, safe_q, edge = parts(p, q)
        by_p = jnp.where(inside, _log_ratio(safe_p, safe_q) + (0 if extra else 1), 0)
        by_q = jnp.where(inside, (1 if extra else 0) - safe_p / safe_q, jnp.where(edge & extra, 1, 0))
        slope = dp * jnp.where(nan, np.nan, by_p) + dq * jnp.where(nan, np.nan, by_q)
        return divergence(p, q), slope.astype(p.dtype)
    return divergence


_rel_entr, _kl_div = _divergence(False), _divergence(True)


@inlined
def rel_entr(p: ArrayLike, q: ArrayLike) -> Array:
    """``p log(p / q)`` for positive ``p``, ``q``; 0 where ``p`` is 0 and ``q`` not negative; inf elsewhere.

    Source: `scipy.special.rel_entr`.

    >>> jsp.special.rel_entr(0.5, 0.25)
    Array(0.3465736, dtype=float32, weak_type=True)
    """
    return _joint(_rel_entr, "rel_entr", p, q)


@inlined
def kl_div(p: ArrayLike, q: ArrayLike) -> Array:
    """``p log(p / q) - p + q`` for positive ``p``, ``q``; ``q`` where ``p`` is 0 and ``q`` not negative; inf elsewhere.

    Source: `scipy.special.kl_div`.

    >>> jsp.special.kl_div(0.5, 0.25)
    Array(0.09657359, dtype=float32, weak_type=True)
    """
    return _joint(_kl_div, "kl_div", p, q)


# -- Box-Cox -----------------------------------------------------------------------------------------------------------

def _power_transform(log_x, lmbda):
    """``(exp(lmbda log_x) - 1) / lmbda``, and its limit ``log_x`` where ``lmbda`` is (nearly) 0."""
    z = lmbda * log_x
    small = (jnp.abs(lmbda) < 1e-19) & ((jnp.abs(log_x) < jnp.inf) | (lmbda == 0))
    safe = jnp.where(small, 1, lmbda)
    regular = jnp.expm1(jnp.where(small, 0, z)) / safe
    return jnp.where(small | ((log_x == 0) & (lmbda == 0)), log_x + 0 * lmbda, regular)


def _slope_by_order(log_x, lmbda):
    """``log_x**2 g(z)`` with ``g = (z e^z - e^z + 1) / z**2 = sum(z^k / (k! (k + 2)))`` and ``z = lmbda log_x``."""
    end = jnp.isinf(log_x)
    z = lmbda * jnp.where(end, 1, log_x)
    near = (jnp.abs(z) < 0.5) & ~end
    inside, outside = jnp.where(near, z, 0), jnp.where(near, 1, lmbda)
    series = 0
    for k in range(15, -1, -1):
        series = series * inside + 1 / (math.factorial(k) * (k + 2))
    beyond = jnp.where((lmbda < 0) == (log_x < 0), np.inf, 1)
    far = jnp.where(end, beyond, jnp.where(z == -np.inf, 0, (z - 1) * jnp.exp(z)) + 1)
    return jnp.where(near, log_x * log_x * series, far / outside / outside)


def _power1p(x, exponent):
    """``(1 + x)**exponent``, also where 1 + x is rounded."""
    small = jnp.abs(x) < 0.5
    return jnp.where(small, jnp.exp(exponent * log1p(jnp.where(small, x, 0))), jnp.power(jnp.where(small, 1, 1 + x), exponent))


def _transform_of(log, power):
    """The power transform of what ``log`` is the logarithm of, and ``power`` the power."""
    @differentiable
    def transform(x, lmbda):
        return _power_transform(log(x), lmbda)

    @transform.defjvp
    def slope(primals, tangents):
        (x, lmbda), (dx, dl) = primals, tangents
        x = x + jnp.where(jnp.isnan(log(x)), np.nan, 0)  # below its ends the power goes on, the logarithm does not
        return transform(x, lmbda), dx * power(x, lmbda - 1) + dl * _slope_by_order(log(x), lmbda)
    return transform


_boxcox, _boxcox1p = _transform_of(jnp.log, jnp.power), _transform_of(log1p, _power1p)


@inlined
def boxcox(x: ArrayLike, lmbda: ArrayLike) -> Array:
    """``(x**lmbda - 1) / lmbda``, and ``log(x)`` where ``lmbda`` is 0; NaN for negative ``x``.

    Source: `scipy.special.boxcox`.

    >>> jax.scipy.special.boxcox(2.0, 0.5)
    Array(0.8284271, dtype=float32, weak_type=True)
    """
    return in_float32(_boxcox, *promote_args_inexact("boxcox", x, lmbda))


@inlined
def boxcox1p(x: ArrayLike, lmbda: ArrayLike) -> Array:
    """``((1 + x)**lmbda - 1) / lmbda``, and ``log(1 + x)`` where ``lmbda`` is 0; NaN for ``x`` below -1.

    Source: `scipy.special.boxcox1p`.

    >>> jax.scipy.special.boxcox1p(1.0, 0.5)
    Array(0.8284271, dtype=float32, weak_type=True)
    """
    return in_float32(_boxcox1p, *promote_args_inexact("boxcox1p", x, lmbda))
