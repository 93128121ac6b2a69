"""The logarithm of a sum of exponentials, weighted or not, without overflow.

At the edges, as where all summands or their weights are zero or infinite, value and derivative are given here.
"""
from __future__ import annotations

import functools
from typing import Literal, overload

import numpy as np

from jax_core.programs.jit import inlined
from jax_core.representation import dtypes
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike, Axis
from jax_core.transformations.custom_jvp import custom_jvp

from .. import lax, numpy as jnp
from ..numpy.promotion import check_arraylike, given_axes, given_flag, promote_args_inexact, split_axes
from ..numpy.reductions import given_mask, shift as largest

# What is reduced has its axes dropped, not kept at length 1: so sums over rows and over columns of a square share their code.

def _over(x, axis, ndim):
    """``x``, reduced over ``axis``, with these axes again, of length 1."""
    return jnp.expand_dims(x, split_axes(axis, ndim)[0])


def share_of_sum(e: Array, total: Array) -> Array:
    """``e / total`` of exponentials, the largest of which is 1, and their sum, whose reciprocal therefore is no subnormal number; the compiler cannot know."""
    return e * (1 / total) if e.dtype.itemsize >= 4 else e / total  # in half precision the reciprocal's rounding would show


def _scaled_sum(a, b, axis):
    """``shift`` and terms ``e`` with ``log(sum(b exp(a))) = log(sum(b e)) + shift``; an infinite ``a`` has term 1."""
    top = largest(a, axis, keepdims=False)
    shift = lax.stop_gradient(jnp.where(top == -np.inf, 0, top))
    most = float(dtypes.finfo(a.dtype).max)  # in place of infinity, whose difference to itself is 0 then
    e = jnp.exp(jnp.where(a == np.inf, most, a) - _over(jnp.where(shift == np.inf, most, shift), axis, a.ndim))  # not a minimum, whose slope is half at a tie
    return shift, e, jnp.sum(e if b is None else b * e, axis)


@functools.partial(custom_jvp, nondiff_argnums=(0,))
def _log_of_sum(axis, a, b):
    """Logarithm of the magnitude of ``sum(b exp(a))``, and its sign."""
    if b is None:  # no term is negative, and an infinite one makes the sum infinite by itself
        top = largest(a, axis, keepdims=False)
        shift = jnp.where(jnp.isfinite(top), top, 0)
        total = jnp.sum(jnp.exp(a - _over(shift, axis, a.ndim)), axis)
        return jnp.log(total) + shift, jnp.sign(total)
    shift, _, total = _scaled_sum(_counted(a, b), b, axis)
    return jnp.log(jnp.abs(total)) + shift, jnp.sign(total)


def _counted(a, b):
    return a if b is None else jnp.where(b == 0, -np.inf, a)


@_log_of_sum.defjvp
def _log_of_sum_jvp(axis, primals, tangents):
    """``sum(b e da + e db) / sum(b e)``. An empty sum, the logarithm of 0, does not move."""
    (a, b), (da, db) = primals, tangents
    shift, e, total = _scaled_sum(_counted(a, b), b, axis)
    safe = _over(jnp.where(total == 0, 1, total), axis, a.ndim)
    if b is None:
        slope = jnp.sum(share_of_sum(e, safe) * da, axis)
    else:
        size = jnp.exp(a - _over(shift, axis, a.ndim))
        size = jnp.minimum(size, float(dtypes.finfo(a.dtype).max))  # a term of weight 0 may be huge
        slope = jnp.sum(b * e / safe * da + jnp.where(b == 0, size, e) / safe * db, axis)
    sign = jnp.sign(total)
    return (jnp.log(jnp.abs(total)) + shift, sign), (slope, jnp.zeros_like(sign))


def _complex_log_of_sum(a, b, axis):
    a = _counted(a, b)
    top = largest(jnp.real(a), axis, keepdims=False)
    shift = lax.stop_gradient(jnp.where(jnp.isfinite(top), top, 0))
    e = jnp.exp(a - _over(shift, axis, a.ndim).astype(a.dtype))
    return shift, jnp.sum(e if b is None else b * e, axis)


@inlined(static_argnames=("axis", "keepdims", "return_sign"))
def _logsumexp(a, b, where, *, axis, keepdims, return_sign):
    if b is None:
        (a,) = promote_args_inexact("logsumexp", a)
    else:
        a, b = jnp.broadcast_arrays(*promote_args_inexact("logsumexp", a, b))
    a = jnp.asarray(a)
    if where is not None:
        a = jnp.where(where, a, -np.inf)
        b = None if b is None else jnp.where(where, b, 0)
    if jnp.issubdtype(a.dtype, np.complexfloating):
        shift, total = _complex_log_of_sum(a, b, axis)
        if return_sign:
            out, sign = jnp.log(jnp.abs(total)) + shift, jnp.sign(total)
        else:
            out = jnp.log(total) + shift.astype(total.dtype)
    else:
        out, sign = _log_of_sum(axis, a, b)
        if not return_sign and b is not None:
            out = jnp.where(sign < 0, np.nan, out)
    outs = (out, sign) if return_sign else (out,)
    if keepdims:
        outs = tuple(_over(x, axis, a.ndim) for x in outs)
    return outs if return_sign else outs[0]


@overload
def logsumexp(a: ArrayLike, axis: Axis = None, b: ArrayLike | None = None, keepdims: bool = False,
              return_sign: Literal[False] = False, where: ArrayLike | None = None) -> Array: ...
@overload
def logsumexp(a: ArrayLike, axis: Axis = None, b: ArrayLike | None = None, keepdims: bool = False, *,
              return_sign: Literal[True], where: ArrayLike | None = None) -> tuple[Array, Array]: ...
def logsumexp(a: ArrayLike, axis: Axis = None, b: ArrayLike | None = None, keepdims: bool = False,
              return_sign: bool = False, where: ArrayLike | None = None) -> Array | tuple[Array, Array]:
    """``log(sum(b * exp(a)))`` along ``axis``, without overflow.

    Args:
      a: array of numbers.
      axis: an axis, several, or None for all.
      b: weights; by default 1.
      keepdims: keep the reduced axes with length 1.
      return_sign: return the pair of the logarithm of the sum's magnitude, and the sum's sign (phase where complex).
      where: elements that count.

    Returns:
      The logarithm: -inf for an empty sum, NaN for a negative one (without ``return_sign``). The derivative is the softmax;
      it is 0 where the sum is empty, and one or several infinite summands share it equally.

    Source: `scipy.special.logsumexp`.

    >>> jax.nn.logsumexp(jnp.array([1000., 1000.]))
    Array(1000.6932, dtype=float32)
    """
    check_arraylike("logsumexp", *(x for x in (a, b, where) if x is not None))
    axis, where = given_axes(axis, named=True), given_mask("logsumexp", where)
    return _logsumexp(a, b, where, axis=axis, keepdims=given_flag(keepdims), return_sign=bool(return_sign))
