"""Running sums and products along an axis."""
from __future__ import annotations

import math

import numpy as np

from jax_core.representation import dtypes
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike, DTypeLike

from .. import lax
from .nan_reductions import without_nan
from .promotion import (
    as_array,
    as_value,
    canonical_axis,
    check_arraylike,
    convert,
    given_axes,
    refuse_out,
    shape_of,
    strong,
    unwrapped,
)
from .reductions import dtype_argument, own_dtype, sum_dtype
from .rows import adaptive
from .ufuncs import truth


@adaptive("integers", (0, 2, 3, 4))
def _running(name, a, axis, dtype, fill_nan):
    check_arraylike(name, a)
    a = unwrapped(a)
    a = strong(a)
    own, weak = own_dtype(a)
    if fill_nan is not None:
        a = without_nan(name, a, fill_nan)
    result = dtype if dtype is not None else dtypes.default_int_dtype() if own == np.bool_ else own
    a = as_value(convert(a, result, weak and dtype is None))
    if axis is None or not shape_of(a):
        a = lax.reshape(a, (math.prod(shape_of(a)),))
    axis = canonical_axis(0 if axis is None else axis, len(shape_of(a)))
    if result == np.bool_:  # whether any, or every one, was true so far
        return truth((lax.cummax if name.endswith("sum") else lax.cummin)(convert(a, np.dtype(np.uint8)), axis))
    return (lax.cumsum if name.endswith("sum") else lax.cumprod)(a, axis)


def cumsum(a: ArrayLike, axis: int | None = None, dtype: DTypeLike | None = None, out: None = None) -> Array:
    """Running sum along an axis, or of the flattened array.

    Args:
      a: array.
      axis: None to flatten.
      dtype: to sum in; by default that of ``a``, the default integer for booleans.
      out: must be None.

    Source: `numpy.cumsum`.

    >>> jnp.cumsum(jnp.array([[1, 2], [3, 4]]), axis=1)
    Array([[1, 3],
           [3, 7]], dtype=int32)
    """
    refuse_out("cumsum", out)
    return _running("cumsum", a, given_axes(axis), dtype_argument(dtype, "cumsum"), None)


def cumprod(a: ArrayLike, axis: int | None = None, dtype: DTypeLike | None = None, out: None = None) -> Array:
    """Running product; arguments as for `cumsum`. Source: `numpy.cumprod`.

    >>> jnp.cumprod(jnp.arange(1, 5))
    Array([ 1,  2,  6, 24], dtype=int32)
    """
    refuse_out("cumprod", out)
    return _running("cumprod", a, given_axes(axis), dtype_argument(dtype, "cumprod"), None)


def nancumsum(a: ArrayLike, axis: int | None = None, dtype: DTypeLike | None = None, out: None = None) -> Array:
    """Running sum with NaN counted as 0.

    Args:
      axis, dtype, out: as for `cumsum`.

    Source: `numpy.nancumsum`.

    >>> jnp.nancumsum(jnp.array([2., jnp.nan, 3.]))
    Array([2., 2., 5.], dtype=float32)
    """
    refuse_out("nancumsum", out)
    return _running("nancumsum", a, given_axes(axis), dtype_argument(dtype, "nancumsum"), 0)


def nancumprod(a: ArrayLike, axis: int | None = None, dtype: DTypeLike | None = None, out: None = None) -> Array:
    """Running product with NaN counted as 1.

    Args:
      axis, dtype, out: as for `cumprod`.

    Source: `numpy.nancumprod`.

    >>> jnp.nancumprod(jnp.array([2., jnp.nan, 3.]))
    Array([2., 2., 6.], dtype=float32)
    """
    refuse_out("nancumprod", out)
    return _running("nancumprod", a, given_axes(axis), dtype_argument(dtype, "nancumprod"), 1)


def _cumulative(name, fun, x, axis, dtype, include_initial, start):
    check_arraylike(name, x)
    x = as_array(x)
    if x.ndim == 0:
        raise ValueError(f"jax.numpy.{name}: expected an array with an axis to run along, got a scalar")
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"jax.numpy.{name}: an array of shape {x.shape} has several axes to run along; name one by axis")
        axis = 0
    axis = canonical_axis(axis, x.ndim)
    wide = dtype if dtype is not None else sum_dtype(x.dtype, name == "cumulative_sum")
    out = fun(x, axis, wide)
    if include_initial:
        first = lax.full((*out.shape[:axis], 1, *out.shape[axis + 1:]), start, out.dtype)
        out = lax.concatenate([first, out], axis)
    return out


def cumulative_sum(x: ArrayLike, /, *, axis: int | None = None, dtype: DTypeLike | None = None,
                   include_initial: bool = False) -> Array:
    """Running sum along an axis, with a leading 0 if asked for. Source: `numpy.cumulative_sum`, array API standard.

    >>> jnp.cumulative_sum(jnp.array([2, 3]), include_initial=True)
    Array([0, 2, 5], dtype=int32)
    """
    return _cumulative("cumulative_sum", cumsum, x, axis, dtype, include_initial, 0)


def cumulative_prod(x: ArrayLike, /, *, axis: int | None = None, dtype: DTypeLike | None = None,
                    include_initial: bool = False) -> Array:
    """Running product along an axis, with a leading 1 if asked for. Source: `numpy.cumulative_prod`.

    >>> jnp.cumulative_prod(jnp.array([2, 3]), include_initial=True)
    Array([1, 2, 6], dtype=int32)
    """
    return _cumulative("cumulative_prod", cumprod, x, axis, dtype, include_initial, 1)
