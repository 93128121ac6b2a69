"""Discrete distributions: categorical, geometric, Poisson, binomial, multinomial.

Poisson and binomial numbers are drawn by rejection where the mean is 10 or more, and by counting steps below; both
algorithms run as one loop over the whole array until all elements are accepted.

Sources: Hörmann, "The transformed rejection method for generating Poisson random variables", 1993, and "The generation
of binomial random variates", 1993 (algorithm BTRS); Knuth, "The Art of Computer Programming", vol. 2, section 3.4.1.
"""
from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.exceptions import AxisError

from jax_core.configuration import flags
from jax_core.programs.jit import inlined
from jax_core.representation import dtypes
from jax_core.representation.arguments import joint_shape
from jax_core.representation.array import Array
from jax_core.representation.aval import get_aval
from jax_core.representation.tracebacks import api_boundary
from jax_core.representation.typing import ArrayLike, DTypeLike, Placement, Shape
from jax_numpy_api import lax, numpy as jnp
from jax_numpy_api.numpy.promotion import narrowed

from .checks import broadcast_shape, check_array, check_call, check_dtype, check_shape, key_words, run, sampler
from .continuous import draw_gumbel, gumbel_mode
from .impls import PRNGImpl, is_partitionable, threefry_prng_impl
from .normals import draw_normal
from .primitives import random_split_p
from .uniforms import broadcast_to, convert, draw_unit, split_words

if TYPE_CHECKING:
    from jax_core.representation.typing import PyTree


# -- categorical -------------------------------------------------------------------------------------------------------

@inlined(static_argnames=("impl", "axis", "shape", "prefix", "replace", "mode"))
def _categorical(words, logits, *, impl, axis, shape, prefix, replace, mode):
    if not replace:
        noisy = lax.add(logits, draw_gumbel(words, impl, logits.shape, logits.dtype, mode))
        chosen = lax.top_k(noisy, math.prod(prefix), axis=axis)[1]
        return lax.reshape(jnp.moveaxis(chosen, axis, 0), shape)
    batch = list(shape[len(prefix):])
    batch.insert(axis, logits.shape[axis])
    noise = draw_gumbel(words, impl, (*prefix, *batch), logits.dtype, mode)
    return jnp.argmax(lax.add(noise, broadcast_to(logits, noise.shape)), axis=axis + len(prefix))


@api_boundary
def categorical(key: ArrayLike, logits: ArrayLike, axis: int = -1, shape: Shape | None = None, replace: bool = True,
                mode: str | None = None, *, out_sharding: Placement | None = None) -> Array:
    """Random indices along an axis, with probabilities ``softmax(logits, axis)``.

    Args:
      key: one key.
      logits: logarithms of weights; need not be normalised.
      axis: the axis of the categories.
      shape: of the result; ends with the shape of ``logits`` without ``axis`` (its default). Axes in front of that are more
        samples for the same logits.
      replace: whether these further samples may repeat.
      mode: "low", "high" or "highest", precision of the Gumbel noise.
      out_sharding: placement of the result.

    Raises:
      ValueError: ``shape`` does not end with the batch shape; more samples than categories without replacement; logits that are no floats.
      TypeError: logits are no array.

    Source: the Gumbel maximum: Vieira, "Gumbel-max trick and weighted reservoir sampling", 2014.

    >>> jax.random.categorical(jax.random.key(0), jnp.array([-jnp.inf, 0., -jnp.inf]), shape=(3,))
    Array([1, 1, 1], dtype=int32)
    """
    words, impl = key_words("categorical", key)
    logits = check_array("categorical", "logits", logits, sequences=False)
    logits_shape = np.shape(logits)
    axis = operator.index(axis)
    if not -len(logits_shape) <= axis < len(logits_shape):
        raise AxisError(f"categorical: axis {axis} is out of bounds for logits of shape {logits_shape}")
    axis %= len(logits_shape)
    batch = logits_shape[:axis] + logits_shape[axis + 1:]
    dtype = get_aval(logits).dtype
    if not dtypes.issubdtype(dtype, np.floating):
        raise ValueError(f"categorical: logits must be floats, got dtype {dtype}")
    if isinstance(logits, np.ndarray):
        logits = jnp.asarray(logits, dtype)
    logits = narrowed(logits)
    shape = batch if shape is None else check_shape("categorical", shape)
    try:
        fits = joint_shape(shape, batch) == shape
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"categorical: shape={shape} must end with the shape of logits without the axis of categories, "
                         f"{batch}, or broadcast with it")
    prefix = shape[:len(shape) - len(batch)]
    if not replace and math.prod(prefix) > logits_shape[axis]:
        raise ValueError(f"categorical: Number of samples without replacement ({math.prod(prefix)}) cannot exceed number of "
                         f"categories ({logits_shape[axis]}).")
    return run(_categorical, out_sharding, words, logits, impl=impl, axis=axis, shape=shape, prefix=prefix,
               replace=bool(replace), mode=gumbel_mode("categorical", mode))


# -- geometric ---------------------------------------------------------------------------------------------------------

@inlined(static_argnames=("impl", "shape", "dtype", "real"))
def _geometric(words, p, *, impl, shape, dtype, real):
    p = convert(p, real)
    p = lax.select(lax.eq(p, real.type(0)), lax.full_like(p, 0), p)  # -0.0 is 0
    u = draw_unit(words, impl, shape, real)
    u = lax.select(lax.eq(u, real.type(0)), lax.full_like(u, 1), u)
    failures = lax.floor(lax.div(lax.log(u), broadcast_to(lax.log1p(lax.neg(p)), shape)))
    return lax.convert_element_type(lax.add(failures, real.type(1)), dtype)


@api_boundary
def geometric(key: ArrayLike, p: ArrayLike, shape: Shape | None = None, dtype: DTypeLike | None = None, *,
              out_sharding: Placement | None = None) -> Array:
    """Independent samples of the geometric distribution: the number of trials up to the first success, from 1 on.

    Args:
      key: one key.
      p: probability of success.
      shape: of the result, default that of ``p``.
      dtype: integer dtype; default int32, or int64 where x64 is enabled.
      out_sharding: placement of the result.

    Raises:
      ValueError: dtype is not an integer; ``p`` does not broadcast to ``shape``.

    Source: inversion of the distribution function: Devroye, "Non-uniform random variate generation", 1986, II.2.

    >>> bool((jax.random.geometric(jax.random.key(0), 0.5, (20,)) >= 1).all())
    True
    """
    words, impl, shape, dtype, p = check_call("geometric", key, shape, dtype, "int", p=p)
    real = dtypes.to_inexact_dtype(get_aval(p).dtype)
    return run(_geometric, out_sharding, words, p, impl=impl, shape=shape, dtype=dtype, real=real)


# -- Poisson -----------------------------------------------------------------------------------------------------------

_COUNTING_BELOW = 10  # mean from which rejection is faster than counting


def _split3(words, impl):
    return split_words(words, impl, 3)


def _poisson_by_counting(words, impl, lam, shape, dtype):
    """Knuth: the number of uniform factors until their product falls below exp(-lam)."""
    limit = dtypes.iinfo(dtype).max

    def unfinished(carry: PyTree):
        i, _, _, log_product = carry
        return lax.bitwise_and(jnp.any(lax.gt(log_product, lax.neg(lam))), lax.lt(i, np.int32(min(limit, 2**31 - 1))))

    def step(carry: PyTree):
        i, k, words, log_product = carry
        words, used = split_words(words, impl)
        k = lax.select(lax.gt(log_product, lax.neg(lam)), lax.add(k, dtype.type(1)), k)
        u = draw_unit(used, impl, shape, np.dtype(np.float32))
        return lax.add(i, np.int32(1)), k, words, lax.add(log_product, lax.log(u))

    start = (np.int32(0), lax.full_like(lam, 0, dtype), words, lax.full_like(lam, 0))
    return lax.sub(lax.while_loop(unfinished, step, start)[1], dtype.type(1))


def _poisson_trial(lam):
    """Hörmann 1993, algorithm PTRS; its constants: a function of two uniform numbers that gives a candidate and whether it is accepted.

    The logarithm of P(k) is made of ``log(k / lam)``: terms as large as the mean would leave the rounding of a large one to decide."""
    f = np.float32
    log_height = lax.mul(f(0.5), lax.log(lax.mul(f(2 * math.pi), lam)))
    b = lax.add(f(0.931), lax.mul(f(2.53), lax.sqrt(lam)))
    a = lax.add(f(-0.059), lax.mul(f(0.02483), b))
    inverse_alpha = lax.add(f(1.1239), lax.div(f(1.1328), lax.sub(b, f(3.4))))
    v_r = lax.sub(f(0.9277), lax.div(f(3.6224), lax.sub(b, f(2))))

    def trial(u, v):
        u = lax.sub(u, f(0.5))
        u_shifted = lax.sub(f(0.5), lax.abs(u))
        k = lax.floor(lax.add(lax.add(lax.mul(lax.add(lax.div(lax.mul(f(2), a), u_shifted), b), u), lam), f(0.43)))
        s = lax.log(lax.div(lax.mul(v, inverse_alpha), lax.add(lax.div(a, lax.mul(u_shifted, u_shifted)), b)))
        beyond = lax.add(lax.sub(k, lam), f(1))
        t = lax.sub(beyond, lax.mul(lax.add(k, f(0.5)), lax.log1p(lax.div(beyond, lam))))
        t = lax.sub(lax.sub(t, log_height), _stirling_series(lax.add(k, f(1))))
        quick = lax.bitwise_and(lax.ge(u_shifted, f(0.07)), lax.le(v, v_r))
        reject = lax.bitwise_or(lax.lt(k, f(0)), lax.bitwise_and(lax.lt(u_shifted, f(0.013)), lax.gt(v, u_shifted)))
        return k, lax.bitwise_or(quick, lax.bitwise_and(lax.bitwise_not(reject), lax.le(s, t)))
    return trial


def _poisson_by_rejection(words, impl, lam, shape, dtype):
    trial = _poisson_trial(lam)
    limit = min(dtypes.iinfo(dtype).max, 2**31 - 1)

    def unfinished(carry: PyTree):
        i, _, accepted, _ = carry
        return lax.bitwise_and(jnp.any(lax.bitwise_not(accepted)), lax.lt(i, np.int32(limit)))

    def step(carry: PyTree):
        i, k_out, accepted, words = carry
        words, first, second = _split3(words, impl)
        k, accept = trial(draw_unit(first, impl, shape, lam.dtype), draw_unit(second, impl, shape, lam.dtype))
        return lax.add(i, np.int32(1)), lax.select(accept, k, k_out), lax.bitwise_or(accepted, accept), words

    start = (np.int32(0), lax.full_like(lam, -1), lax.full_like(lam, False, np.dtype(bool)), words)
    return lax.convert_element_type(lax.while_loop(unfinished, step, start)[1], dtype)


@sampler
def _poisson(words, lam, *, impl, shape, dtype):
    lam = broadcast_to(convert(lam, np.dtype(np.float32)), shape)
    few = lax.bitwise_or(lax.ne(lam, lam), lax.lt(lam, np.float32(_COUNTING_BELOW)))
    # Each algorithm gets a harmless mean where the other one is used.
    counted = _poisson_by_counting(words, impl, lax.select(few, lam, lax.full_like(lam, 0)), shape, dtype)
    rejected = _poisson_by_rejection(words, impl, lax.select(few, lax.full_like(lam, 1e5), lam), shape, dtype)
    drawn = lax.select(few, counted, rejected)
    return lax.select(lax.eq(lam, np.float32(0)), lax.full_like(drawn, 0), drawn)


@api_boundary
def poisson(key: ArrayLike, lam: ArrayLike, shape: Shape | None = None, dtype: DTypeLike | None = None, *,
            method: str = "exact", out_sharding: Placement | None = None) -> Array:
    """Independent samples of the Poisson distribution.

    Args:
      key: one key, of threefry2x32.
      lam: means, not negative.
      shape: of the result, default that of ``lam``.
      dtype: integer dtype; default int32, or int64 where x64 is enabled.
      method: "exact", or "approximate" (a rounded normal number for large means).
      out_sharding: placement of the result.

    Returns:
      ``dtype[shape]``; -1 where ``lam`` is negative or NaN.

    Raises:
      NotImplementedError: a key of another implementation. ValueError: dtype is not an integer; ``lam`` does not
        broadcast to ``shape``; another method.

    Source: Hörmann, "The transformed rejection method for generating Poisson random variables", 1993; Knuth, TAOCP 2,
    3.4.1.

    >>> jax.random.poisson(jax.random.key(0), 3., (4,)).dtype
    dtype('int32')
    """
    words, impl = key_words("poisson", key)
    check_method("poisson", method)
    if impl is not threefry_prng_impl and method == "exact":
        raise NotImplementedError(f"poisson: method='exact' needs a key of threefry2x32, got one of {impl.name}; make the key "
                                  "by jax.random.key(seed, impl='threefry2x32'), or take another method")
    dtype = check_dtype("poisson", dtype, "int")
    lam = check_array("poisson", "lam", lam)
    shape = broadcast_shape("poisson", shape, lam)
    fun = _poisson if method == "exact" else _poisson_approximately
    return run(fun, out_sharding, words, lam, impl=impl, shape=shape, dtype=dtype)


_SUMMED_BELOW, _SUMMED_TERMS = 7.0, 19  # means up to which the distribution function is summed, and how far


@sampler
def _poisson_approximately(words, lam, *, impl, shape, dtype):
    """The inverse of the distribution function at one normal draw: by a sum where the mean is small, else by an
    approximation that is corrected by a step at most.

    Source: Peizer, Pratt, Journal of the American Statistical Association 63 (1968), 1416-1456.
    """
    real = np.dtype(np.float32)
    lam = broadcast_to(convert(lam, real), shape)
    z = draw_normal(words, impl, shape, real)
    drawn = lax.select(lax.lt(lam, real.type(_SUMMED_BELOW)), _poisson_quantile_summed(z, lam), _poisson_quantile_fitted(z, lam))
    bad = lax.bitwise_or(lax.ne(lam, lam), lax.lt(lam, real.type(0)))
    return lax.convert_element_type(lax.select(bad, lax.full_like(drawn, -1), drawn), dtype)


def _poisson_quantile_summed(z, lam):
    """How many of the first values have a distribution function below that of ``z``."""
    f = lam.dtype.type
    u = lax.mul(f(0.5), lax.erfc(lax.mul(z, f(-math.sqrt(0.5)))))
    term = total = lax.exp(lax.neg(lam))
    count = lax.convert_element_type(lax.lt(total, u), lam.dtype)
    for k in range(1, _SUMMED_TERMS):
        term = lax.mul(term, lax.div(lam, f(k)))
        total = lax.add(total, term)
        count = lax.add(count, lax.convert_element_type(lax.lt(total, u), lam.dtype))
    return count


def _poisson_quantile_fitted(z, lam):
    """Cornish and Fisher's expansion gives a value that is at most one off; Peizer and Pratt's function decides."""
    f = lam.dtype.type
    root = lax.sqrt(lam)
    squared = lax.mul(z, z)
    guess = lax.add(lax.sub(lax.add(lam, lax.mul(root, z)), f(2 / 3)), lax.div(squared, f(6)))
    guess = lax.add(guess, lax.div(lax.mul(z, lax.sub(f(1), squared)), lax.mul(f(72), root)))
    k = lax.ceil(lax.add(guess, f(0.6)))
    out = lax.add(k, f(1))
    for lower in (k, lax.sub(k, f(1))):
        reached = lax.ge(_peizer_pratt(lower, lam), z)
        out = lax.sub(out, lax.convert_element_type(reached, lam.dtype))
    return lax.max(out, f(0))


def _peizer_pratt(k, lam):
    """The normal number whose quantile is that of ``k``."""
    f = lam.dtype.type
    k_safe = lax.max(k, f(0))
    y = lax.div(lax.add(k_safe, f(0.5)), lam)
    v = lax.sub(y, f(1))
    near = lax.lt(lax.abs(v), f(0.25))
    series = lax.full_like(v, 0)
    for n in range(10, 1, -1):
        series = lax.mul(v, lax.add(f((-1) ** (n - 1) * 2 / (n * (n + 1))), series))
    y_far, v_far = lax.select(near, lax.full_like(y, 2), y), lax.select(near, lax.full_like(v, 1), v)
    far = lax.div(lax.add(lax.sub(f(1), lax.mul(y_far, y_far)), lax.mul(lax.mul(f(2), y_far), lax.log(y_far))),
                  lax.mul(v_far, v_far))
    spread = lax.sqrt(lax.div(lax.add(f(1), lax.select(near, series, far)), lam))
    distance = lax.add(lax.add(lax.sub(k_safe, lam), f(2 / 3)), lax.div(f(0.02), lax.add(k_safe, f(1))))
    return lax.select(lax.lt(k, f(0)), lax.full_like(k, -np.inf), lax.mul(distance, spread))


def check_method(name: str, method: str | None) -> None:
    """Raise ValueError unless ``method`` is "exact" or "approximate"."""
    if method not in ("exact", "approximate"):
        raise ValueError(f"method argument to `{name}` must be one of {{'exact', 'approximate'}}, got {method!r}")


# -- binomial ----------------------------------------------------------------------------------------------------------

_STIRLING_TAILS = tuple(math.lgamma(k + 1) - ((k + 0.5) * math.log(k + 1) - (k + 1) + 0.5 * math.log(2 * math.pi))
                        for k in range(10))
"""``log k!`` less Stirling's approximation, for k below 10."""


def _stirling_series(after):
    """``log k!`` less Stirling's approximation, of ``after = k + 1``: off by 3e-4 at k = 0, by 4e-6 at 1."""
    f = after.dtype.type
    squared = lax.mul(after, after)
    return lax.div(lax.sub(f(1 / 12), lax.div(lax.sub(f(1 / 360), lax.div(f(1 / 1260), squared)), squared)), after)


def _stirling_tail(k):
    """``log k!`` less Stirling's approximation. From k = 10 on the series is taken at 9, which keeps the reference's bits;
    it changes a probability of acceptance by less than a hundredth."""
    f = k.dtype.type
    table = jnp.asarray(np.array(_STIRLING_TAILS, k.dtype))
    near = lax.clamp(f(0), k, f(9))
    series = _stirling_series(lax.add(near, f(1)))
    exact = table.at[lax.convert_element_type(lax.floor(near), np.int32)].get(mode="clip", out_sharding=get_aval(k).placement)
    return lax.select(lax.le(k, lax.full_like(k, 9)), exact, series)


def _binomial_by_counting(words, impl, count, p, shape, done):
    """The number of geometric waiting times that fit into ``count`` trials; any number where it is ``done`` otherwise."""
    f = count.dtype.type
    log_failure = lax.log1p(lax.neg(p))
    limit = f(dtypes.finfo(count.dtype).max)

    def unfinished(carry: PyTree):
        i, _, trials, _ = carry
        return lax.bitwise_and(jnp.any(lax.le(trials, count)), lax.lt(lax.convert_element_type(i, count.dtype), limit))

    def step(carry: PyTree):
        i, successes, trials, words = carry
        used, words = split_words(words, impl)
        successes = lax.select(lax.le(trials, count), lax.add(successes, f(1)), successes)
        u = draw_unit(used, impl, shape, count.dtype)
        waiting = lax.ceil(lax.div(lax.log(u), log_failure))
        return lax.add(i, np.int32(1)), successes, lax.add(trials, waiting), words

    zero = lax.full_like(done, 0, count.dtype)
    trials = lax.select(done, lax.add(count, f(1)), zero)
    return lax.sub(lax.while_loop(unfinished, step, (np.int32(0), zero, trials, words))[1], f(1))


def _binomial_trial(n, p):
    """Hörmann 1993, algorithm BTRS; its constants: as `_poisson_trial`."""
    f = n.dtype.type
    one = f(1)
    deviation = lax.sqrt(lax.mul(lax.mul(n, p), lax.sub(one, p)))
    b = lax.add(f(1.15), lax.mul(f(2.53), deviation))
    a = lax.add(lax.add(f(-0.0873), lax.mul(f(0.0248), b)), lax.mul(f(0.01), p))
    c = lax.add(lax.mul(n, p), f(0.5))
    v_r = lax.sub(f(0.92), lax.div(f(4.2), b))
    odds = lax.div(p, lax.sub(one, p))
    alpha = lax.mul(lax.add(f(2.83), lax.div(f(5.1), b)), deviation)
    m = lax.floor(lax.mul(lax.add(n, one), p))

    def trial(u, v):
        u = lax.sub(u, f(0.5))
        u_shifted = lax.sub(f(0.5), lax.abs(u))
        quick = lax.bitwise_and(lax.ge(u_shifted, f(0.07)), lax.le(v, v_r))
        k = lax.floor(lax.add(lax.mul(lax.add(lax.div(lax.mul(f(2), a), u_shifted), b), u), c))
        outside = lax.bitwise_or(lax.lt(k, f(0)), lax.gt(k, n))
        bound = _log_ratio(n, m, k, odds)
        s = lax.log(lax.div(lax.mul(v, alpha), lax.add(lax.div(a, lax.mul(u_shifted, u_shifted)), b)))
        return k, lax.bitwise_or(quick, lax.bitwise_and(lax.bitwise_not(outside), lax.le(s, bound)))
    return trial


def _binomial_by_rejection(words, impl, n, p, shape, done):
    """Any number where it is ``done`` otherwise."""
    trial = _binomial_trial(n, p)
    limit = n.dtype.type(dtypes.finfo(n.dtype).max)

    def unfinished(carry: PyTree):
        i, _, accepted, _ = carry
        return lax.bitwise_and(jnp.any(lax.bitwise_not(accepted)), lax.lt(lax.convert_element_type(i, n.dtype), limit))

    def step(carry: PyTree):
        i, k_out, accepted, words = carry
        words, first, second = _split3(words, impl)
        k, accept = trial(draw_unit(first, impl, shape, n.dtype), draw_unit(second, impl, shape, n.dtype))
        return lax.add(i, np.int32(1)), lax.select(accept, k, k_out), lax.bitwise_or(accepted, accept), words

    start = (np.int32(0), lax.full_like(done, -1, n.dtype), done, words)
    return lax.while_loop(unfinished, step, start)[1]


def _log_ratio(n, m, k, odds):
    """Logarithm of P(k) / P(m), by Stirling's formula, of logarithms of ratios near 1: those of ``n`` of them have its digits."""
    f = n.dtype.type
    one, half = f(1), f(0.5)
    apart, after_m, above_m = lax.sub(k, m), lax.add(m, one), lax.add(lax.sub(n, m), one)
    terms = lax.mul(apart, lax.log(lax.div(lax.mul(odds, above_m), after_m)))
    terms = lax.sub(terms, lax.mul(lax.add(k, half), lax.log1p(lax.div(apart, after_m))))
    terms = lax.sub(terms, lax.mul(lax.add(lax.sub(n, k), half), lax.log1p(lax.neg(lax.div(apart, above_m)))))
    tails = (_stirling_tail(x) for x in (m, lax.sub(n, m), k, lax.sub(n, k)))
    m_tail, above_m_tail, k_tail, above_k_tail = tails
    return lax.sub(lax.sub(lax.add(lax.add(terms, m_tail), above_m_tail), k_tail), above_k_tail)


def draw_binomial(words: ArrayLike, impl: PRNGImpl, n: Array, p: ArrayLike, shape: tuple[int, ...]) -> Any:
    """Numbers of successes; ``n`` and ``p`` are arrays of ``shape`` and of one float dtype."""
    f = n.dtype.type
    small = lax.lt(p, f(0.5))
    q = lax.select(small, p, lax.sub(f(1), p))
    bad_n = lax.bitwise_or(lax.ne(n, n), lax.lt(n, f(0)))
    endless = lax.eq(lax.abs(n), f(np.inf))
    q_nan, q_negative = lax.ne(q, q), lax.lt(q, f(0))
    bad_q = lax.bitwise_or(q_nan, q_negative)
    q = lax.select(bad_q, lax.full_like(q, 0.01), lax.abs(q))  # of -0.0 the waiting times were -inf, without end
    few = lax.bitwise_or(bad_n, lax.le(lax.mul(n, q), f(10)))
    n = lax.floor(n)
    # Each algorithm gets harmless parameters where the other one is used, and waits for none of these.
    counted = _binomial_by_counting(words, impl, lax.select(few, n, lax.full_like(n, 0)), q, shape, lax.bitwise_not(few))
    rejected = _binomial_by_rejection(words, impl, lax.select(few, lax.full_like(n, 1e4), n),
                                      lax.select(few, lax.full_like(q, 0.5), q), shape, few)
    drawn = lax.select(few, counted, rejected)
    bad = lax.bitwise_or(bad_q, bad_n)
    drawn = lax.select(bad, lax.full_like(drawn, np.nan), drawn)
    drawn = lax.select(lax.bitwise_and(endless, lax.bitwise_not(bad)), lax.full_like(drawn, np.inf), drawn)
    direct = lax.bitwise_or(lax.bitwise_or(lax.bitwise_or(small, bad_n), q_nan), endless)
    return lax.select(direct, drawn, lax.sub(n, drawn))


@inlined(static_argnames=("impl", "shape", "dtype", "real"))
def _binomial(words, n, p, *, impl, shape, dtype, real):
    n, p = (broadcast_to(convert(x, real), shape) for x in (n, p))
    return lax.convert_element_type(draw_binomial(words, impl, n, p, shape), dtype)


@api_boundary
def binomial(key: ArrayLike, n: ArrayLike, p: ArrayLike, shape: Shape | None = None,
             dtype: DTypeLike | None = None) -> Array:
    """Independent samples of the binomial distribution: the number of successes in ``n`` trials.

    Args:
      key: one key.
      n: numbers of trials.
      p: probabilities of success.
      shape: of the result, default that of ``n`` and ``p`` together.
      dtype: float; default float32, or float64 where x64 is enabled.

    Returns:
      whole numbers as ``dtype[shape]``; NaN where ``n`` is negative or ``p`` is outside [0, 1].

    Raises:
      ValueError: dtype is not a float; parameters do not broadcast to ``shape``.

    Source: Hörmann, "The generation of binomial random variates", 1993; below a mean of 10 the counting of geometric
    waiting times.

    >>> x = jax.random.binomial(jax.random.key(0), 5., 0.5, (20,))
    >>> bool(((x >= 0) & (x <= 5)).all())
    True
    """
    words, impl, shape, dtype, n, p = check_call("binomial", key, shape, dtype, n=n, p=p)
    return _binomial(words, n, p, impl=impl, shape=shape, dtype=dtype, real=_dtype_of_trials(n, p))


def _dtype_of_trials(n, p):
    """The float that the parameters have together, whatever is returned: numbers of trials are exact in it."""
    if type(n) in (float, int) and type(p) in (float, int):
        return dtypes.default_float_dtype()
    with flags.numpy_dtype_promotion("standard"):
        return dtypes.to_inexact_dtype(dtypes.result_type(n, p))


# -- multinomial -------------------------------------------------------------------------------------------------------

@inlined(static_argnames=("impl", "shape", "dtype", "real", "unroll"))
def _multinomial(words, n, p, *, impl, shape, dtype, real, unroll):
    """One binomial number for each category, of the trials that are left."""
    n, p = broadcast_to(convert(n, real), shape[:-1]), broadcast_to(convert(p, real), shape)
    last = len(shape) - 1
    left = lax.cumsum(p, last, reverse=True)
    ratios = lax.div(p, lax.select(lax.eq(left, real.type(0)), lax.full_like(left, 1), left))
    keys = random_split_p.bind(words, impl=impl, shape=(shape[-1],), partitionable=is_partitionable())

    def step(remaining, ratio_and_key):
        ratio, key = ratio_and_key
        ratio = lax.clamp(real.type(0), ratio, real.type(1))
        drawn = draw_binomial(key, impl, remaining, ratio, shape[:-1])
        return lax.sub(remaining, drawn), drawn

    _, counts = lax.scan(step, n, (jnp.moveaxis(ratios, -1, 0), keys), unroll=unroll)
    return lax.convert_element_type(jnp.moveaxis(counts, 0, -1), dtype)


@api_boundary
def multinomial(key: ArrayLike, n: ArrayLike, p: ArrayLike, *, shape: Shape | None = None,
                dtype: DTypeLike | None = None, unroll: int | bool = 1) -> Array:
    """Independent samples of the multinomial distribution: how often each category comes up in ``n`` trials.

    Args:
      key: one key.
      n: numbers of trials, of the batch shape.
      p: probabilities; the last axis is that of the categories.
      shape: of the result, categories included; default that of ``p``.
      dtype: float or integer; default float32, or float64 where x64 is enabled.
      unroll: steps of the loop over categories that are written out at once.

    Returns:
      whole numbers as ``dtype[shape]``; they sum to ``n`` over the last axis.

    Raises:
      ValueError: dtype is neither a float nor an integer; parameters do not broadcast to ``shape``; ``p`` is a scalar.

    Source: one `binomial` number a category, given those before: Devroye, "Non-uniform random variate generation", 1986.

    >>> jax.random.multinomial(jax.random.key(0), 6., jnp.array([0.5, 0.5])).sum()
    Array(6., dtype=float32)
    """
    words, impl = key_words("multinomial", key)
    dtype = check_dtype("multinomial", dtype, "real")
    n, p = check_array("multinomial", "n", n), check_array("multinomial", "p", p)
    if not np.shape(p):
        raise ValueError("multinomial: p must have an axis of categories, got a scalar")
    shape = broadcast_shape("multinomial", np.shape(p) if shape is None else _with_categories(shape, p), p)
    broadcast_shape("multinomial", shape[:-1], n)
    return _multinomial(words, n, p, impl=impl, shape=shape, dtype=dtype, real=_dtype_of_trials(n, p), unroll=unroll)


def _with_categories(shape, p):
    return check_shape("multinomial", shape) + np.shape(p)[-1:]
