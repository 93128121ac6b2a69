"""Softmax and its relatives, standardisation, one-hot."""
from __future__ import annotations

from typing import Sequence

import numpy as np

from jax_core.programs.jit import inlined
from jax_core.representation import dtypes, splits
from jax_core.representation.array import Array
from jax_core.representation.aval import get_aval
from jax_core.representation.errors import ShardingTypeError
from jax_core.representation.source import warn
from jax_core.representation.typing import ArrayLike, Axis, DTypeLike, Placement
from jax_core.traces import structural
from jax_core.transformations.custom_jvp import custom_jvp

from .. import lax, numpy as jnp
from ..numpy.creation import placed
from ..numpy.promotion import canonical_axis, check_arraylike, given_axes, given_key_axes, promote_args_inexact, promote_dtypes
from ..numpy.reductions import shift
from .exponential_sums import logsumexp, share_of_sum


def _shifted(x, axis, where):
    """``x`` less its maximum, which is treated as a constant: it cancels. Where no element counts, ``x`` itself."""
    top = shift(x, axis, where)
    if where is not None:
        top = jnp.where(top == -np.inf, 0, top)
    return x - lax.stop_gradient(top)


def log_softmax(x: ArrayLike, axis: int | tuple[int, ...] | None = -1, where: ArrayLike | None = None) -> Array:
    """``x - log(sum(exp(x)))`` along ``axis``.

    Args:
      where: elements that count; the result is -inf elsewhere.

    Source: Bridle, NIPS 1989.

    >>> jax.nn.log_softmax(jnp.array([0., 0.]))
    Array([-0.6931472, -0.6931472], dtype=float32)
    """
    return _log_softmax(x, given_key_axes(axis, named=True), where)


@inlined(static_argnames=("axis",))
def _log_softmax(x, axis, where):
    x = _inexact(x, where)
    if where is not None:  # what does not count must not overflow either: its derivative is 0 times that
        x = jnp.where(where, x, -np.inf)
    shifted = _shifted(x, axis, where)
    out = shifted - jnp.log(jnp.sum(jnp.exp(shifted), axis, where=where, keepdims=True))
    return out if where is None else jnp.where(where, out, -np.inf)


def softmax(x: ArrayLike, axis: int | tuple[int, ...] | None = -1, where: ArrayLike | None = None) -> Array:
    """``exp(x) / sum(exp(x))`` along ``axis``: positive numbers whose sum is 1. Large ``x`` do not overflow.

    Args:
      x: array of any shape, which the result has, in a floating dtype.
      axis: one or several axes to sum over; None for all.
      where: elements that count; the result is 0 elsewhere, also where none counts.

    Raises:
      TypeError: ``x`` is not an array or number. ValueError: ``axis`` is out of range.

    Source: Bridle, NIPS 1989.

    >>> jax.nn.softmax(jnp.array([[0., 0.], [1000., 0.]]), where=jnp.array([[True, True], [True, False]]))
    Array([[0.5, 0.5],
           [1. , 0. ]], dtype=float32)
    """
    return _softmax_of_any(x, given_axes(axis, named=True), where)


@inlined(static_argnames=("axis",))
def _softmax_of_any(x, axis, where):
    return _softmax(_inexact(x, where), axis, where)


def _softmax(x, axis, where):
    e = jnp.exp(_shifted(x, axis, where))
    out = share_of_sum(e, jnp.sum(e, axis, where=where, keepdims=True))
    return out if where is None else jnp.where(where, out, 0)


_softmax = custom_jvp(_softmax, nondiff_argnums=(1,))


@_softmax.defjvp
def _softmax_jvp(axis, primals, tangents):
    (x, where), (t, _) = primals, tangents
    y = _softmax(x, axis, where)
    return y, y * (t - jnp.sum(y * t, axis, where=where, keepdims=True))


def logmeanexp(x: ArrayLike, axis: Axis = None, where: ArrayLike | None = None, keepdims: bool = False) -> Array:
    """``log(mean(exp(x)))`` along ``axis``.

    Args:
      where: which elements count.
      keepdims: keep reduced axes with length 1.

    >>> jax.nn.logmeanexp(jnp.array([3., 3.]))
    Array(3., dtype=float32)
    """
    return _logmeanexp(x, given_key_axes(axis, named=True), where, keepdims)


@inlined(static_argnames=("axis", "keepdims"))
def _logmeanexp(x, axis, where, keepdims):
    check_arraylike("logmeanexp", x)
    count = jnp.sum(jnp.broadcast_to(True if where is None else where, np.shape(x)), axis, keepdims=keepdims)
    total = logsumexp(x, axis=axis, where=where, keepdims=keepdims)
    return total - jnp.log(count.astype(dtypes.to_floating_dtype(total.dtype)))


def standardize(x: ArrayLike, axis: int | tuple[int, ...] | None = -1, mean: ArrayLike | None = None,
                variance: ArrayLike | None = None, epsilon: float = 1e-5, where: ArrayLike | None = None, *,
                algorithm: str = "fast") -> Array:
    """``(x - mean) / sqrt(variance + epsilon)`` along ``axis``.

    Args:
      mean, variance: used instead of those of ``x``.
      algorithm: ``"fast"``: variance as mean square less square of mean; ``"stable"``: as mean of squared differences.

    Raises:
      ValueError: another ``algorithm``.

    >>> jax.nn.standardize(jnp.array([1., 3.]), epsilon=0.)
    Array([-1.,  1.], dtype=float32)
    """
    if algorithm not in ("fast", "stable"):
        raise ValueError(f"standardize: algorithm must be 'fast' or 'stable', got {algorithm!r}")
    return _standardize(x, given_key_axes(axis, named=True), mean, variance, epsilon, where, algorithm)


@inlined(static_argnames=("axis", "epsilon", "algorithm"))
def _standardize(x, axis, mean, variance, epsilon, where, algorithm):
    x, = promote_args_inexact("standardize", x)
    if mean is None and variance is None and dtypes.finfo(dtypes.dtype(x)).bits < 32:  # squares leave the range of halves of a float
        return _standardize(x.astype(np.float32), axis, None, None, epsilon, where, algorithm).astype(dtypes.result_type(x, epsilon))
    if mean is None:
        mean = jnp.mean(x, axis, keepdims=True, where=where)
    if variance is None:
        if algorithm == "stable":
            variance = jnp.mean(jnp.square(x - mean), axis, keepdims=True, where=where)
        else:
            variance = jnp.maximum(0.0, jnp.mean(jnp.square(x), axis, keepdims=True, where=where) - jnp.square(mean))
    return (x - mean) * lax.rsqrt(jnp.asarray(variance) + epsilon)


def one_hot(x: ArrayLike | Sequence[int], num_classes: int, *, dtype: DTypeLike | None = None, axis: int = -1,
            out_sharding: Placement | None = None) -> Array:
    """Rows of the identity matrix: 1 where the new axis' index equals ``x``, else 0.

    Indices outside [0, num_classes) give zeros. ``dtype`` defaults to the default float; ``out_sharding`` places the result, and
    splits the axes of ``x`` as they are.

    Raises:
      TypeError: ``num_classes`` is not a known integer of at least 0.
      ValueError: the result has no such axis, or ``axis`` is the name of a mapped axis of another size than ``num_classes``.
      NameError: no mapped axis has that name.
      ShardingTypeError: ``out_sharding`` splits the axes of ``x`` otherwise than ``x`` is split.

    >>> jax.nn.one_hot(jnp.array([0, 2]), 3)
    Array([[1., 0., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    if not hasattr(num_classes, "__index__"):
        raise TypeError(f"one_hot: num_classes must be an int, got {num_classes!r}; it is a length, so it must be known")
    if int(num_classes) < 0:
        raise TypeError(f"one_hot: num_classes must be at least 0, got {num_classes}")
    dtype = dtypes.default_float_dtype() if dtype is None else dtypes.canonicalize_user_dtype(dtype, "one_hot")
    x = x if hasattr(x, "dtype") else jnp.asarray(x)
    if not dtypes.issubdtype(x.dtype, np.integer):
        warn(f"one_hot: x should hold integers, got {x.dtype}; convert it, as by x.astype(int)", DeprecationWarning)
    if out_sharding is None:
        return _one_hot(x, int(num_classes), dtype, axis)
    asked = splits.in_type(structural.resolved(out_sharding), np.ndim(x) + 1)
    if asked is not None:
        rest = splits.without_axis(asked, canonical_axis(axis, np.ndim(x) + 1)).spec
        if rest.partitions != splits.entries(get_aval(x)):
            raise ShardingTypeError(f"one_hot: out_sharding={out_sharding} must split the axes of x as x is split, but x is "
                                    f"{get_aval(x).str_short()} and its part of the spec is {rest}; reshard x first.")
    return placed(_one_hot(x, int(num_classes), dtype, axis), None, out_sharding)


@inlined(static_argnums=(1, 2, 3))
def _one_hot(x, num_classes, dtype, axis):
    x = jnp.asarray(x)
    if isinstance(axis, str):
        if lax.axis_size(axis) != num_classes:
            raise ValueError(f"one_hot: the axis {axis!r} has {lax.axis_size(axis)} positions, one for each class, but num_classes={num_classes}")
        return jnp.asarray(x == lax.axis_index(axis).astype(x.dtype), dtype)
    axis = canonical_axis(axis, x.ndim + 1)
    shape = [1] * (x.ndim + 1)
    shape[axis] = num_classes
    classes = jnp.arange(num_classes, dtype=x.dtype).reshape(shape)
    return jnp.asarray(jnp.expand_dims(x, axis) == classes, dtype)


def _inexact(x, where):
    """``x`` as floats; where a mask chooses between ``x`` and -inf, of the dtype of that choice."""
    check_arraylike("softmax", x)
    if where is not None:
        x, _ = promote_dtypes(x, -np.inf)
    if jnp.result_type(x) == np.bool_:
        raise TypeError("softmax and log_softmax take numbers, got an array of dtype bool; convert it to a float.")
    return promote_args_inexact("softmax", x)[0]
