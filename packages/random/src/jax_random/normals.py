"""The normal distribution and those made from it directly: truncated, log-normal, and complex normal numbers.

A draw is the quantile function applied to one uniform number, so a result depends on its own random bits alone.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from jax_core.representation import dtypes
from jax_core.representation.array import Array
from jax_core.representation.tracebacks import api_boundary
from jax_core.representation.typing import ArrayLike, DTypeLike, Placement, Shape
from jax_numpy_api import lax

from .checks import broadcast_shape, check_array, check_dtype, check_shape, key_words, run, sampler
from .impls import PRNGImpl, is_partitionable
from .uniforms import aligned, broadcast_to, convert, draw_uniform, draw_unit, split_words


def root_two(dtype: DTypeLike) -> Any:
    """sqrt(2), rounded to ``dtype``."""
    return np.array(np.sqrt(2), dtype)[()]


def draw_normal(words: Array, impl: PRNGImpl, shape: tuple[int, ...], dtype: DTypeLike, centred: bool = False) -> Any:
    """Standard normal numbers; complex ones have independent parts of variance 1/2. ``centred``: see `_draw_symmetric`, of real ones only."""
    dtype = np.dtype(dtype)
    if not dtypes.issubdtype(dtype, np.complexfloating):
        return _draw_real(words, impl, shape, dtype, centred)
    part = np.dtype(f"f{dtype.itemsize // 2}")
    first, second = split_words(words, impl)
    real, imaginary = (_draw_real(k, impl, shape, part, False) for k in (first, second))
    return lax.div(lax.complex(real, imaginary), dtype.type(root_two(part)))


def _draw_real(words, impl, shape, dtype, centred):
    return lax.mul(root_two(dtype), lax.erf_inv(_draw_symmetric(words, impl, shape, dtype, centred)))


def _draw_symmetric(words, impl, shape, dtype, centred):
    """Uniform numbers in (-1, 1): ``2 u - 1`` moved up by half of an ulp of 1, so that -1 is not among them.

    With ``centred``, float32 in the original layout is not moved (only -1 is): the values that the specification prints for
    `normal` are of this kind. They differ by 2**-24. Of other dtypes it prints none; bfloat16, with its 128 values, is less biased if moved.
    """
    low = np.nextafter(np.array(-1, dtype), np.array(0, dtype), dtype=dtype)[()]
    if not centred or dtype != np.float32 or is_partitionable():
        return draw_uniform(words, impl, shape, dtype, low, dtype.type(1))
    unit = draw_unit(words, impl, shape, dtype)
    return lax.max(low, lax.sub(lax.mul(unit, dtype.type(2)), dtype.type(1)))


@sampler
def _normal(words, *, impl, shape, dtype):
    return draw_normal(words, impl, shape, dtype, centred=True)


@api_boundary
def normal(key: ArrayLike, shape: Shape = (), dtype: DTypeLike | None = None, *,
           out_sharding: Placement | None = None) -> Array:
    """Independent samples of the standard normal distribution.

    Args:
      key: one key.
      shape: of the result.
      dtype: float or complex; default float32, or float64 where x64 is enabled. Complex numbers have E|z|^2 = 1.
      out_sharding: placement of the result.

    Raises:
      ValueError: another dtype; key is an array of keys.

    Source: inversion of the distribution function: Devroye, "Non-uniform random variate generation", 1986, II.2.

    >>> jax.random.normal(jax.random.key(0), (2, 3)).shape
    (2, 3)
    >>> bool(jnp.abs(jax.random.normal(jax.random.key(1), (10_000,)).mean()) < 0.05)
    True
    """
    words, impl = key_words("normal", key)
    dtype = check_dtype("normal", dtype, "inexact")
    return run(_normal, out_sharding, words, impl=impl, shape=check_shape("normal", shape), dtype=dtype)


# -- truncated ---------------------------------------------------------------------------------------------------------

_TAIL = 4.0  # beyond, the distribution function in float32 is too coarse to be inverted


@sampler
def _truncated_normal(words, lower, upper, *, impl, shape, dtype):
    """The quantile function between the quantiles of the ends; rounding is kept inside the open interval."""
    lower, upper = (aligned(convert(x, dtype), shape) for x in (lower, upper))
    scale = root_two(dtype)
    a, b = lax.erf(lax.div(lower, scale)), lax.erf(lax.div(upper, scale))
    drawn = lax.mul(scale, lax.erf_inv(draw_uniform(words, impl, shape, dtype, a, b)))
    drawn = _with_tails(words, impl, broadcast_to(lower, shape), broadcast_to(upper, shape), drawn)
    inf = dtype.type(np.inf)
    low = lax.nextafter(lax.stop_gradient(lower), _full_like(lower, inf))
    high = lax.nextafter(lax.stop_gradient(upper), _full_like(upper, -inf))
    return lax.min(lax.max(drawn, low), high)


def _with_tails(words, impl, lower, upper, drawn):
    """``drawn``, replaced where the whole interval lies in one tail."""
    f = drawn.dtype.type
    right, left = lax.gt(lower, f(_TAIL)), lax.lt(upper, f(-_TAIL))
    one = lax.full_like(drawn, 1)
    # The left tail is the mirror image of the right one.
    a = lax.select(right, lower, lax.select(left, lax.neg(upper), lax.mul(one, f(5))))
    b = lax.select(right, upper, lax.select(left, lax.neg(lower), lax.mul(one, f(6))))
    u = draw_unit(words, impl, drawn.shape, drawn.dtype)
    u = lax.select(left, lax.sub(one, u), u)
    if drawn.dtype.itemsize < 4:
        tail = convert(_draw_tail(*(convert(x, np.dtype(np.float32)) for x in (u, a, b))), drawn.dtype)
    else:
        tail = _draw_tail(u, a, b)
    return lax.select(right, tail, lax.select(left, lax.neg(tail), drawn))


def _draw_tail(u, a, b):
    """The quantile ``u`` of the normal distribution between ``a`` and ``b``, both beyond `_TAIL`.

    With ``Q`` the upper tail and ``R`` Mills' ratio (``Q = density * R``), ``x = a + step`` solves
    ``log Q(a) - log Q(x) = e``, where ``e = -log(1 - u (1 - Q(b) / Q(a)))``; the derivative of the left side is ``1 / R(x)``.
    """
    f = u.dtype.type
    half = f(0.5)
    at_a = _mills_ratio(a)
    ratio = lax.mul(lax.exp(lax.mul(half, lax.mul(lax.sub(a, b), lax.add(a, b)))), lax.div(_mills_ratio(b), at_a))
    e = lax.neg(lax.log1p(lax.neg(lax.mul(u, lax.sub(f(1), ratio)))))
    e = lax.min(e, f(1e4))  # infinite for u = 1 without an upper end; the step is clipped by the caller
    step = lax.div(lax.mul(f(2), e), lax.add(a, lax.sqrt(lax.add(lax.mul(a, a), lax.mul(f(2), e)))))
    for _ in range(3):
        at_x = _mills_ratio(lax.add(a, step))
        gone = lax.sub(lax.mul(lax.mul(half, step), lax.add(lax.add(a, a), step)), lax.log(lax.div(at_x, at_a)))
        step = lax.sub(step, lax.mul(lax.sub(gone, e), at_x))
    return lax.add(a, step)


def _mills_ratio(x):
    """``Q(x) / density(x)`` for x above `_TAIL`, by its continued fraction."""
    f = x.dtype.type
    x = lax.min(x, f(1e4))
    out = x
    for n in range(12, 0, -1):
        out = lax.add(x, lax.div(f(n), out))
    return lax.div(f(1), out)


def _full_like(x, value):
    return lax.full_like(x, value) if np.ndim(x) else value


@api_boundary
def truncated_normal(key: ArrayLike, lower: ArrayLike, upper: ArrayLike, shape: Shape | None = None,
                     dtype: DTypeLike | None = None, *, out_sharding: Placement | None = None) -> Array:
    """Independent samples of the standard normal distribution, given that they lie between ``lower`` and ``upper``.

    Args:
      key: one key.
      lower, upper: ends of the interval, broadcast against each other.
      shape: of the result, default that of the ends together.
      dtype: float; default float32, or float64 where x64 is enabled.
      out_sharding: placement of the result.

    Raises:
      ValueError: dtype is not a float; the ends do not broadcast to ``shape``.

    Source: inversion of the distribution function: Devroye, "Non-uniform random variate generation", 1986, II.2.

    >>> x = jax.random.truncated_normal(jax.random.key(0), -1., 1., (50,))
    >>> bool((jnp.abs(x) <= 1).all())
    True
    """
    words, impl = key_words("truncated_normal", key)
    dtype = check_dtype("truncated_normal", dtype)
    lower, upper = (check_array("truncated_normal", n, x) for n, x in (("lower", lower), ("upper", upper)))
    shape = broadcast_shape("truncated_normal", shape, lower, upper)
    return run(_truncated_normal, out_sharding, words, lower, upper, impl=impl, shape=shape, dtype=dtype)


# -- log-normal --------------------------------------------------------------------------------------------------------

@sampler
def _lognormal(words, sigma, *, impl, shape, dtype):
    return lax.exp(lax.mul(draw_normal(words, impl, shape, dtype), aligned(convert(sigma, dtype), shape)))


@api_boundary
def lognormal(key: ArrayLike, sigma: ArrayLike = 1.0, shape: Shape | None = None, dtype: DTypeLike | None = None, *,
              out_sharding: Placement | None = None) -> Array:
    """Independent samples of the log-normal distribution: ``exp(sigma * normal)``.

    Args:
      key: one key.
      sigma: standard deviations of the logarithm.
      shape: of the result, default that of ``sigma``.
      dtype: float; default float32, or float64 where x64 is enabled.
      out_sharding: placement of the result.

    Raises:
      ValueError: dtype is not a float; ``sigma`` does not broadcast to ``shape``.

    >>> bool((jax.random.lognormal(jax.random.key(0), shape=(20,)) > 0).all())
    True
    """
    words, impl = key_words("lognormal", key)
    dtype = check_dtype("lognormal", dtype)
    sigma = check_array("lognormal", "sigma", sigma)
    shape = broadcast_shape("lognormal", shape, sigma)
    return run(_lognormal, out_sharding, words, sigma, impl=impl, shape=shape, dtype=dtype)
