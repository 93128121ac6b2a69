"""Most common value, ranks, and the standard error of the mean."""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jax_core.configuration import flags
from jax_core.programs.jit import inlined
from jax_core.representation import dtypes
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike

from ... import lax, numpy as jnp
from ...numpy.promotion import as_array, canonical_axis, check_arraylike, given_flag


class ModeResult(NamedTuple):
    mode: Array
    count: Array  # type: ignore[assignment]  # SciPy's name, which hides the method of tuples


def _nan_policy(name: str, policy: str, known: tuple = ("propagate", "omit"), absent: type[Exception] = NotImplementedError) -> None:
    """Raise unless ``policy`` is one of ``known``: ``absent``, if SciPy has it."""
    if policy not in ("propagate", "omit", "raise"):
        raise ValueError(f"{name}: Illegal nan_policy value {policy!r}; expected one of {{'propagate', 'omit', 'raise'}}")
    if policy not in known:
        remedy = "it would depend on values; use jax.debug_nans or a check of your own" if policy == "raise" else f"use {' or '.join(map(repr, known))}"
        raise absent(f"{name}: nan_policy={policy!r} is not supported; {remedy}")


def mode(a: ArrayLike, axis: int | None = 0, nan_policy: str = "propagate", keepdims: bool = False) -> ModeResult:
    """The most common value along ``axis`` (the smallest of several), and how often it occurs; of nothing NaN, which occurs 0
    times. A number counts as an array of one element.

    Args:
      axis: an axis, or None for the flattened array.
      nan_policy: "propagate", or "omit" to count NaNs as nothing.
      keepdims: keep the axis with length 1.

    Source: `scipy.stats.mode`.

    >>> jsp.stats.mode(jnp.array([1, 2, 2])).mode
    Array(2, dtype=int32)
    """
    _nan_policy("mode", nan_policy)
    check_arraylike("mode", a)
    return ModeResult(*_mode(a, axis, nan_policy == "omit", given_flag(keepdims)))


@inlined(static_argnums=(1, 2, 3))
def _mode(a, axis, omit, keepdims):
    a = as_array(a)
    shape = a.shape
    if axis is None or not shape and axis in (0, -1):
        x = a.reshape(-1)
    else:
        axis = canonical_axis(axis, a.ndim)
        x = jnp.moveaxis(a, axis, -1)
    n = x.shape[-1]
    if n == 0:
        return _mode_of_nothing(x, shape, axis, keepdims)
    x = jnp.sort(x, axis=-1)  # equal values are neighbours, NaNs are last
    index = jnp.broadcast_to(jnp.arange(n), x.shape)
    starts = jnp.concatenate([jnp.ones_like(x[..., :1], bool), x[..., 1:] != x[..., :-1]], -1)
    first = lax.cummax(jnp.where(starts, index, 0), axis=x.ndim - 1)
    counts = index - first + 1
    nan = jnp.isnan(x) if jnp.issubdtype(x.dtype, jnp.inexact) else jnp.zeros(x.shape, bool)
    counts = jnp.where(nan, 0, counts)
    best = jnp.argmax(counts, -1, keepdims=True)  # the last of them
    count = jnp.take_along_axis(counts, best, -1)
    if not omit and jnp.issubdtype(x.dtype, jnp.inexact):
        nans = jnp.sum(nan, -1, keepdims=True)
        best, count = jnp.where(nans > 0, n - 1, best), jnp.where(nans > 0, nans, count)
    value = jnp.take_along_axis(x, best - jnp.maximum(count - 1, 0), -1)[..., 0]  # the first that was given, so that the slope is its
    count = count[..., 0]
    if keepdims:
        full = tuple(1 if axis is None or i == axis else k for i, k in enumerate(shape)) or (1,)
        value, count = value.reshape(full), count.reshape(full)
    return value, count


def _mode_of_nothing(x, shape, axis, keepdims):
    """NaN, which occurs 0.0 times, for each row of ``x`` that has no elements."""
    if keepdims:
        kept = tuple(1 if axis is None or i == axis else k for i, k in enumerate(shape))
    else:
        kept = x.shape[:-1]
    return jnp.full(kept, np.nan, float), jnp.zeros(kept)


def rankdata(a: ArrayLike, method: str = "average", *, axis: int | None = None, nan_policy: str = "propagate") -> Array:
    """Ranks from 1 along ``axis`` (of the flattened array by default), as floating-point numbers.

    Args:
      method: what equal elements get: "average", "min", "max", "dense" (ranks without gaps) or "ordinal" (in order).
      nan_policy: only "propagate".

    Raises:
      ValueError: another method.

    Source: `scipy.stats.rankdata`.

    >>> jsp.stats.rankdata(jnp.array([30., 10., 30.]))
    Array([2.5, 1. , 2.5], dtype=float32)
    """
    _nan_policy("rankdata", nan_policy, known=("propagate",))
    if method not in ("average", "min", "max", "dense", "ordinal"):
        raise ValueError(f"rankdata: unknown method {method!r}")
    check_arraylike("rankdata", a)
    return _rankdata(a, method, axis)


@inlined(static_argnums=(1, 2))
def _rankdata(a, method, axis):
    a = as_array(a)
    if axis is None:
        a, axis = a.reshape(-1), 0
    x = jnp.moveaxis(a, axis, -1)
    order = jnp.argsort(x, axis=-1, stable=True)
    place = jnp.argsort(order, axis=-1)
    x_sorted = jnp.take_along_axis(x, order, -1)
    n = x.shape[-1]
    index = jnp.broadcast_to(jnp.arange(n), x.shape)
    changed = x_sorted[..., 1:] != x_sorted[..., :-1]
    edge = jnp.ones_like(x[..., :1], bool)
    starts, ends = jnp.concatenate([edge, changed], -1), jnp.concatenate([changed, edge], -1)
    last_axis = x.ndim - 1
    if method == "ordinal":
        ranks = index + 1
    elif method == "dense":
        ranks = jnp.cumsum(starts, -1)
    else:
        low = lax.cummax(jnp.where(starts, index, 0), axis=last_axis) + 1
        high = lax.cummin(jnp.where(ends, index, n), axis=last_axis, reverse=True) + 1
        ranks = {"min": low, "max": high}.get(method)
        ranks = (low + high) / 2 if ranks is None else ranks
    out = jnp.take_along_axis(ranks, place, -1)
    out = out.astype(dtypes.default_float_dtype())
    if jnp.issubdtype(x.dtype, jnp.inexact):
        out = jnp.where(jnp.any(jnp.isnan(x), -1, keepdims=True), np.nan, out)
    return jnp.moveaxis(out, -1, axis)


def sem(a: ArrayLike, axis: int | None = 0, ddof: int = 1, nan_policy: str = "propagate", *,
        keepdims: bool = False) -> Array:
    """Standard error of the mean along ``axis``: the standard deviation over the root of the count.

    Args:
      ddof: taken off the count in the standard deviation.
      nan_policy: "propagate", or "omit" to leave NaNs out.
      keepdims: keep the axis with length 1.

    Source: `scipy.stats.sem`.

    >>> jsp.stats.sem(jnp.array([1., 3.]))
    Array(0.99999994, dtype=float32)
    """
    _nan_policy("sem", nan_policy, absent=ValueError)
    check_arraylike("sem", a)
    return _sem(a, axis, ddof, nan_policy == "omit", given_flag(keepdims))


@inlined(static_argnums=(1, 2, 3, 4))
def _sem(a, axis, ddof, omit, keepdims):
    a = as_array(a)
    rank = a.ndim
    if axis is None:
        out = _sem(a.reshape(-1), 0, ddof, omit, False)
        return out.reshape((1,) * rank) if keepdims else out
    if omit:
        count = jnp.sum(~jnp.isnan(a), axis, keepdims=keepdims)
        spread = jnp.nanstd(a, axis, ddof=ddof, keepdims=keepdims)
        return spread / jnp.sqrt(count.astype(spread.dtype))
    spread, n = jnp.std(a, axis, ddof=ddof, keepdims=keepdims), a.shape[axis]
    return spread / (jnp.sqrt(jnp.full((), n, spread.dtype)) if flags.one_form.value else n ** 0.5)
