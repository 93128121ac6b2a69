"""Continuous distributions that are a formula of uniform or normal numbers.

Each is the quantile function of the distribution applied to one uniform number, unless its docstring says otherwise.
Those that need gamma variates are in `gammas.py`.
"""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from jax_core.configuration import flags
from jax_core.programs.jit import inlined
from jax_core.representation import dtypes
from jax_core.representation.array import Array
from jax_core.representation.tracebacks import api_boundary
from jax_core.representation.typing import ArrayLike, DTypeLike, Placement, Shape
from jax_numpy_api import lax, numpy as jnp

from .api import draw_bits
from .checks import broadcast_shape, check_call, check_shape, key_words, run, sampler
from .impls import PRNGImpl
from .normals import draw_normal
from .uniforms import aligned, bits_drawn, broadcast_to, convert, draw_bernoulli, draw_uniform, draw_unit, split_words


def _tiny(dtype: Any) -> Any:
    """The smallest normal number."""
    return dtype.type(dtypes.finfo(dtype).tiny)


def _eps(dtype: Any) -> Any:
    return dtype.type(dtypes.finfo(dtype).eps)


# -- exponential and relatives -----------------------------------------------------------------------------------------

def draw_exponential(words: Array, impl: PRNGImpl, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
    """``-log(1 - u)``: u is never 1, so the result is finite."""
    return lax.neg(lax.log1p(lax.neg(draw_unit(words, impl, shape, dtype))))


@sampler
def _exponential(words, *, impl, shape, dtype):
    return draw_exponential(words, impl, shape, dtype)


@api_boundary
def exponential(key: ArrayLike, shape: Shape = (), dtype: DTypeLike | None = None, *,
                out_sharding: Placement | None = None) -> Array:
    """Independent samples of the exponential distribution of rate 1, with density ``exp(-x)`` for ``x >= 0``.

    Args:
      key: one key.
      shape: of the result.
      dtype: float; default float32, or float64 where x64 is enabled.
      out_sharding: placement of the result.

    Raises:
      ValueError: dtype is not a float; key is an array of keys.

    Source: inversion of the distribution function: Devroye, "Non-uniform random variate generation", 1986, II.2.

    >>> bool((jax.random.exponential(jax.random.key(0), (50,)) > 0).all())
    True
    """
    words, impl, shape, dtype = check_call("exponential", key, shape, dtype)
    return run(_exponential, out_sharding, words, impl=impl, shape=shape, dtype=dtype)


@sampler
def _pareto(words, b, *, impl, shape, dtype):
    return lax.exp(lax.div(draw_exponential(words, impl, shape, dtype), broadcast_to(convert(b, dtype), shape)))


@api_boundary
def pareto(key: ArrayLike, b: ArrayLike, shape: Shape | None = None, dtype: DTypeLike | None = None, *,
           out_sharding: Placement | None = None) -> Array:
    """Independent samples of the Pareto distribution, with density ``b / x**(b + 1)`` for ``x >= 1``.

    Args:
      key: one key.
      b: shape parameters, positive.
      shape: of the result, default that of ``b``.
      dtype: float; default float32, or float64 where x64 is enabled.
      out_sharding: placement of the result.

    Raises:
      ValueError: dtype is not a float; ``b`` does not broadcast to ``shape``.

    Source: inversion of the distribution function: Devroye, "Non-uniform random variate generation", 1986, II.2.

    >>> bool((jax.random.pareto(jax.random.key(0), 3., (20,)) >= 1).all())
    True
    """
    words, impl, shape, dtype, b = check_call("pareto", key, shape, dtype, b=b)
    return run(_pareto, out_sharding, words, b, impl=impl, shape=shape, dtype=dtype)


@sampler
def _weibull_min(words, scale, concentration, *, impl, shape, dtype):
    power = convert(lax.div(dtype.type(1), convert(concentration, dtype)), dtype)
    drawn = lax.pow(draw_exponential(words, impl, shape, dtype), broadcast_to(power, shape))
    return lax.mul(drawn, aligned(convert(scale, dtype), shape))


@api_boundary
def weibull_min(key: ArrayLike, scale: ArrayLike, concentration: ArrayLike, shape: Shape = (),
                dtype: DTypeLike | None = None) -> Array:
    """Independent samples of the Weibull distribution of minima: ``scale * exponential ** (1 / concentration)``.

    Args:
      key: one key.
      scale, concentration: positive parameters; they broadcast to ``shape``.
      shape: of the result.
      dtype: float; default float32, or float64 where x64 is enabled.

    Raises:
      ValueError: dtype is not a float; parameters do not broadcast to ``shape``.

    Source: inversion of the distribution function: Devroye, "Non-uniform random variate generation", 1986, II.2.

    >>> bool((jax.random.weibull_min(jax.random.key(0), 1., 2., (20,)) >= 0).all())
    True
    """
    words, impl, shape, dtype, scale, concentration = check_call(
        "weibull_min", key, shape, dtype, scale=scale, concentration=concentration)
    return _weibull_min(words, scale, concentration, impl=impl, shape=shape, dtype=dtype)


@sampler
def _rayleigh(words, scale, *, impl, shape, dtype):
    log = lax.log(draw_unit(words, impl, shape, dtype))
    return lax.mul(broadcast_to(convert(scale, dtype), shape), lax.sqrt(lax.mul(log, dtype.type(-2))))


@api_boundary
def rayleigh(key: ArrayLike, scale: ArrayLike, shape: Shape | None = None, dtype: DTypeLike | None = None, *,
             out_sharding: Placement | None = None) -> Array:
    """Independent samples of the Rayleigh distribution: the length of a vector of two normal numbers, times ``scale``.

    Args:
      key: one key.
      scale: positive.
      shape: of the result, default that of ``scale``.
      dtype: float; default float32, or float64 where x64 is enabled.
      out_sharding: placement of the result.

    Raises:
      ValueError: dtype is not a float; ``scale`` does not broadcast to ``shape``.

    Source: inversion of the distribution function: Devroye, "Non-uniform random variate generation", 1986, II.2.

    >>> bool((jax.random.rayleigh(jax.random.key(0), 2., (20,)) >= 0).all())
    True
    """
    words, impl, shape, dtype, scale = check_call("rayleigh", key, shape, dtype, scale=scale)
    return run(_rayleigh, out_sharding, words, scale, impl=impl, shape=shape, dtype=dtype)


# -- two-sided ---------------------------------------------------------------------------------------------------------

@sampler
def _laplace(words, *, impl, shape, dtype):
    low = lax.add(dtype.type(-1), dtype.type(dtypes.finfo(dtype).epsneg))
    u = draw_uniform(words, impl, shape, dtype, low, dtype.type(1))
    return lax.mul(lax.sign(u), lax.log1p(lax.neg(lax.abs(u))))


@api_boundary
def laplace(key: ArrayLike, shape: Shape = (), dtype: DTypeLike | None = None, *,
            out_sharding: Placement | None = None) -> Array:
    """Independent samples of the Laplace distribution, with density ``exp(-|x|) / 2``.

    Args:
      key: one key.
      shape: of the result.
      dtype: float; default float32, or float64 where x64 is enabled.
      out_sharding: placement of the result.

    Raises:
      ValueError: dtype is not a float; key is an array of keys.

    Source: inversion of the distribution function: Devroye, "Non-uniform random variate generation", 1986, II.2.

    >>> jax.random.laplace(jax.random.key(0), (4,)).shape
    (4,)
    """
    words, impl, shape, dtype = check_call("laplace", key, shape, dtype)
    return run(_laplace, out_sharding, words, impl=impl, shape=shape, dtype=dtype)


@sampler
def _logistic(words, *, impl, shape, dtype):
    u = draw_uniform(words, impl, shape, dtype, _tiny(dtype), dtype.type(1))
    return lax.sub(lax.log(u), lax.log1p(lax.neg(u)))


@api_boundary
def logistic(key: ArrayLike, shape: Shape = (), dtype: DTypeLike | None = None, *,
             out_sharding: Placement | None = None) -> Array:
    """Independent samples of the logistic distribution, whose distribution function is ``1 / (1 + exp(-x))``.

    Args:
      key: one key.
      shape: of the result.
      dtype: float; default float32, or float64 where x64 is enabled.
      out_sharding: placement of the result.

    Raises:
      ValueError: dtype is not a float; key is an array of keys.

    Source: inversion of the distribution function: Devroye, "Non-uniform random variate generation", 1986, II.2.

    >>> jax.random.logistic(jax.random.key(0), (4,)).shape
    (4,)
    """
    words, impl, shape, dtype = check_call("logistic", key, shape, dtype)
    return run(_logistic, out_sharding, words, impl=impl, shape=shape, dtype=dtype)


@sampler
def _cauchy(words, *, impl, shape, dtype):
    u = draw_uniform(words, impl, shape, dtype, _eps(dtype), dtype.type(1))
    return lax.tan(lax.mul(dtype.type(math.pi), lax.sub(u, dtype.type(0.5))))


@api_boundary
def cauchy(key: ArrayLike, shape: Shape = (), dtype: DTypeLike | None = None, *,
           out_sharding: Placement | None = None) -> Array:
    """Independent samples of the Cauchy distribution, with density ``1 / (pi * (1 + x**2))``.

    Args:
      key: one key.
      shape: of the result.
      dtype: float; default float32, or float64 where x64 is enabled.
      out_sharding: placement of the result.

    Raises:
      ValueError: dtype is not a float; key is an array of keys.

    Source: inversion of the distribution function: Devroye, "Non-uniform random variate generation", 1986, II.2.

    >>> jax.random.cauchy(jax.random.key(0), (4,)).shape
    (4,)
    """
    words, impl, shape, dtype = check_call("cauchy", key, shape, dtype)
    return run(_cauchy, out_sharding, words, impl=impl, shape=shape, dtype=dtype)


# -- Gumbel ------------------------------------------------------------------------------------------------------------

def draw_gumbel(words: Array, impl: PRNGImpl, shape: tuple[int, ...], dtype: np.dtype, mode: str) -> Any:
    """``-log(-log(u))``; mode "high" adds a second uniform number below the last bit of the first, "highest" uses all bits."""
    if mode == "highest" and dtype.itemsize >= 4:  # the exponents of half precision do not reach further than "high"
        return _gumbel_of_all_bits(words, impl, shape, dtype)
    if mode == "low":
        u = draw_uniform(words, impl, shape, dtype, _tiny(dtype), dtype.type(1))
        return lax.neg(lax.log(lax.neg(lax.log(u))))
    coarse, fine = lax.unstack(draw_unit(words, impl, (2, *shape), dtype), 0)
    eps = _eps(dtype)
    # Above one half the second number would be rounded away, and is not needed: there 1 - u is exact.
    sharp = lax.add(lax.add(coarse, lax.mul(eps, fine)), dtype.type(float(eps) ** 2 / 2))
    u = lax.select(lax.ge(coarse, dtype.type(0.5)), coarse, sharp)
    return lax.neg(lax.log(lax.neg(lax.log1p(lax.neg(u)))))


def _gumbel_of_all_bits(words: Any, impl: PRNGImpl, shape: tuple[int, ...], dtype: Any) -> Any:
    """Two words are an integer of the unit interval, measured from the nearer end, where floats are dense: both tails are
    exact."""
    width = bits_drawn(dtype)
    high, low = lax.unstack(draw_bits(words, impl, width, (2, *shape)), 0)
    reflected = lax.ge(high, lax.full_like(high, 1 << width - 1))
    high, low = (lax.convert_element_type(lax.select(reflected, lax.bitwise_not(x), x), dtype) for x in (high, low))
    fine = lax.mul(lax.add(low, dtype.type(0.5)), dtype.type(2.0**(-2 * width)))  # the half: never 0
    u = lax.add(lax.mul(high, dtype.type(2.0**-width)), fine)  # at most one half
    return lax.neg(lax.log(lax.neg(lax.select(reflected, lax.log(u), lax.log1p(lax.neg(u))))))


def gumbel_mode(name: str, mode: str | None) -> str:
    """The mode that is meant; None is "high" where `jax_high_dynamic_range_gumbel` is set.

    Raises:
      ValueError: none of "low", "high", "highest" and None.
    """
    if mode is None:
        return "high" if flags.high_dynamic_range_gumbel.value else "low"
    if mode not in ("low", "high", "highest"):
        raise ValueError(f"{name}: got mode={mode!r}, expected 'low', 'high' or 'highest'")
    return mode


@inlined(static_argnames=("impl", "shape", "dtype", "mode"))
def _gumbel(words, *, impl, shape, dtype, mode):
    return draw_gumbel(words, impl, shape, dtype, mode)


@api_boundary
def gumbel(key: ArrayLike, shape: Shape = (), dtype: DTypeLike | None = None, mode: str | None = None, *,
           out_sharding: Placement | None = None) -> Array:
    """Independent samples of the Gumbel distribution, whose distribution function is ``exp(-exp(-x))``.

    Args:
      key: one key.
      shape: of the result.
      dtype: float; default float32, or float64 where x64 is enabled.
      mode: "low" (default) uses one uniform number; "high" uses two, which makes the right tail exact; "highest" all of their
        bits, which makes both tails exact.
      out_sharding: placement of the result.

    Raises:
      ValueError: dtype is not a float; another mode; key is an array of keys.

    Source: inversion of the distribution function: Devroye, "Non-uniform random variate generation", 1986, II.2.

    >>> jax.random.gumbel(jax.random.key(0), (4,)).shape
    (4,)
    """
    words, impl, shape, dtype = check_call("gumbel", key, shape, dtype)
    return run(_gumbel, out_sharding, words, impl=impl, shape=shape, dtype=dtype, mode=gumbel_mode("gumbel", mode))


# -- Maxwell -----------------------------------------------------------------------------------------------------------

def draw_maxwell(words: Array, impl: PRNGImpl, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
    """The length of a vector of three normal numbers."""
    x = draw_normal(words, impl, (*shape, 3), dtype)
    return lax.sqrt(jnp.sum(lax.mul(x, x), len(shape)))


@sampler
def _maxwell(words, *, impl, shape, dtype):
    return draw_maxwell(words, impl, shape, dtype)


@api_boundary
def maxwell(key: ArrayLike, shape: Shape = (), dtype: DTypeLike | None = None, *,
            out_sharding: Placement | None = None) -> Array:
    """Independent samples of the Maxwell distribution: the length of a vector of three normal numbers.

    Args:
      key: one key.
      shape: of the result.
      dtype: float; default float32, or float64 where x64 is enabled.
      out_sharding: placement of the result.

    Raises:
      ValueError: dtype is not a float; key is an array of keys.

    >>> bool((jax.random.maxwell(jax.random.key(0), (20,)) >= 0).all())
    True
    """
    words, impl, shape, dtype = check_call("maxwell", key, shape, dtype)
    return run(_maxwell, out_sharding, words, impl=impl, shape=shape, dtype=dtype)


@sampler
def _double_sided_maxwell(words, loc, scale, *, impl, shape, dtype):
    first, second = split_words(words, impl)
    length = draw_maxwell(first, impl, shape, dtype)
    signs = draw_signs(second, impl, shape, dtype)
    drawn = lax.mul(lax.mul(signs, length), aligned(convert(scale, dtype), shape))
    return lax.add(drawn, aligned(convert(loc, dtype), shape))


@api_boundary
def double_sided_maxwell(key: ArrayLike, loc: ArrayLike, scale: ArrayLike, shape: Shape = (),
                         dtype: DTypeLike | None = None) -> Array:
    """Independent samples of the Maxwell distribution with a random sign, times ``scale``, plus ``loc``.

    Args:
      key: one key.
      loc, scale: broadcast against each other; their shape comes after ``shape`` in the result.
      shape: of the samples for each pair of parameters.
      dtype: float; default float32, or float64 where x64 is enabled.

    Raises:
      ValueError: dtype is not a float; parameters do not broadcast.

    >>> jax.random.double_sided_maxwell(jax.random.key(0), 0., 1., (4,)).shape
    (4,)
    """
    words, impl, params, dtype, loc, scale = check_call("double_sided_maxwell", key, None, dtype, loc=loc, scale=scale)
    shape = check_shape("double_sided_maxwell", shape) + params
    broadcast_shape("double_sided_maxwell", shape, loc, scale)
    return _double_sided_maxwell(words, loc, scale, impl=impl, shape=shape, dtype=dtype)


# -- signs -------------------------------------------------------------------------------------------------------------

def draw_signs(words: Array, impl: PRNGImpl, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    """1 or -1 with equal probability."""
    heads = draw_bernoulli(words, impl, shape, np.asarray(0.5, dtypes.default_float_dtype())[()])
    one, minus = (lax.full(np.shape(heads), np.asarray(x).astype(dtype)[()]) for x in (1, -1))
    return lax.select(heads, one, minus)


@sampler
def _rademacher(words, *, impl, shape, dtype):
    return draw_signs(words, impl, shape, dtype)


@api_boundary
def rademacher(key: ArrayLike, shape: Shape = (), dtype: DTypeLike | None = None, *,
               out_sharding: Placement | None = None) -> Array:
    """Independent samples that are 1 or -1 with equal probability.

    Args:
      key: one key.
      shape: of the result.
      dtype: any number type; default int32, or int64 where x64 is enabled.
      out_sharding: placement of the result.

    Raises:
      ValueError: key is an array of keys. TypeError: not a dtype.

    >>> sorted(set(jax.random.rademacher(jax.random.key(0), (50,)).tolist()))
    [-1, 1]
    """
    words, impl = key_words("rademacher", key)
    dtype = dtypes.default_int_dtype() if dtype is None else dtypes.canonicalize_user_dtype(dtype, "rademacher")
    return run(_rademacher, out_sharding, words, impl=impl, shape=check_shape("rademacher", shape), dtype=dtype)


# -- Wald, triangular --------------------------------------------------------------------------------------------------

_LARGE_MEAN = 1000.0


@sampler
def _wald(words, mean, *, impl, shape, dtype):
    """Michael, Schucany, Haas 1976: the smaller root of a quadratic in a squared normal number, or its mirror image."""
    first, second = split_words(words, impl)
    mean = broadcast_to(convert(mean, dtype), shape)
    v = draw_normal(first, impl, shape, dtype)
    z = draw_unit(second, impl, shape, dtype)
    y = lax.mul(v, v)
    squared = lax.mul(mean, mean)
    two, four = dtype.type(2), dtype.type(4)
    root = lax.sqrt(lax.add(lax.mul(lax.mul(four, mean), y), lax.mul(squared, lax.mul(y, y))))
    x = lax.sub(lax.add(mean, lax.div(lax.mul(squared, y), two)), lax.mul(lax.div(mean, two), root))
    # The difference above cancels for large means. The product of the roots is mean**2, so there divide by the larger one.
    part = lax.mul(y, dtype.type(0.5))
    larger = lax.add(part, lax.sqrt(lax.add(lax.div(y, mean), lax.mul(part, part))))
    x = lax.select(lax.gt(mean, dtype.type(_LARGE_MEAN)), lax.div(dtype.type(1), lax.add(lax.div(dtype.type(1), mean), larger)), x)
    is_smaller = lax.le(z, lax.div(dtype.type(1), lax.add(dtype.type(1), lax.div(x, mean))))
    is_smaller = lax.select(lax.gt(mean, dtype.type(_LARGE_MEAN)), is_smaller, lax.le(z, lax.div(mean, lax.add(mean, x))))
    drawn = lax.select(is_smaller, x, lax.div(squared, x))
    return lax.select(lax.eq(mean, dtype.type(0)), mean, drawn)


@api_boundary
def wald(key: ArrayLike, mean: ArrayLike, shape: Shape | None = None, dtype: DTypeLike | None = None, *,
         out_sharding: Placement | None = None) -> Array:
    """Independent samples of the Wald (inverse Gaussian) distribution of scale 1.

    Args:
      key: one key.
      mean: positive.
      shape: of the result, default that of ``mean``.
      dtype: float; default float32, or float64 where x64 is enabled.
      out_sharding: placement of the result.

    Raises:
      ValueError: dtype is not a float; ``mean`` does not broadcast to ``shape``.

    Source: Michael, Schucany, Haas, The American Statistician 30 (1976).

    >>> bool((jax.random.wald(jax.random.key(0), 1., (20,)) > 0).all())
    True
    """
    words, impl, shape, dtype, mean = check_call("wald", key, shape, dtype, mean=mean)
    return run(_wald, out_sharding, words, mean, impl=impl, shape=shape, dtype=dtype)


@sampler
def _triangular(words, left, mode, right, *, impl, shape, dtype):
    left, mode, right = (broadcast_to(convert(x, dtype), shape) for x in (left, mode, right))
    at_mode = lax.div(lax.sub(mode, left), lax.sub(right, left))
    u = draw_unit(words, impl, shape, dtype)
    width = lax.sub(right, left)
    rising = lax.add(left, lax.sqrt(lax.mul(lax.mul(u, width), lax.sub(mode, left))))
    falling = lax.sub(right, lax.sqrt(lax.mul(lax.mul(lax.sub(dtype.type(1), u), width), lax.sub(right, mode))))
    return lax.select(lax.lt(u, at_mode), rising, falling)


@api_boundary
def triangular(key: ArrayLike, left: ArrayLike, mode: ArrayLike, right: ArrayLike, shape: Shape | None = None,
               dtype: DTypeLike | None = None, *, out_sharding: Placement | None = None) -> Array:
    """Independent samples of the triangular distribution on ``[left, right]`` with its peak at ``mode``.

    Args:
      key: one key.
      left, mode, right: ``left <= mode <= right``, broadcast against each other.
      shape: of the result, default that of the parameters together.
      dtype: float; default float32, or float64 where x64 is enabled.
      out_sharding: placement of the result.

    Raises:
      ValueError: dtype is not a float; parameters do not broadcast to ``shape``.

    Source: inversion of the distribution function: Devroye, "Non-uniform random variate generation", 1986, II.2.

    >>> x = jax.random.triangular(jax.random.key(0), 0., 1., 2., (20,))
    >>> bool(((x >= 0) & (x <= 2)).all())
    True
    """
    words, impl, shape, dtype, left, mode, right = check_call(
        "triangular", key, shape, dtype, left=left, mode=mode, right=right)
    return run(_triangular, out_sharding, words, left, mode, right, impl=impl, shape=shape, dtype=dtype)
