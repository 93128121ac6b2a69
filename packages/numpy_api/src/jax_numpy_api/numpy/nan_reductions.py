"""Reductions of the elements that are not NaN."""
from __future__ import annotations

from typing import Any

import numpy as np

from jax_core.programs.jit import inlined
from jax_core.representation import dtypes
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike, Axis, DTypeLike

from .. import lax
from .arithmetic import select
from .extreme_places import argmax, argmin
from .promotion import check_arraylike, convert, narrowed, refuse_out, shape_of, unwrapped
from .reductions import all, dtype_argument, given_mask, max, mean, min, prod, std, sum, var
from .ufuncs import _is_inexact, _like


def _is_nan(a: Any) -> Any:
    return lax.ne(a, a)


def without_nan(name: str, a: Any, fill: Any) -> Any:
    check_arraylike(name, a)
    a = unwrapped(a)
    if not _is_inexact(a):
        return a
    a = narrowed(a)
    return select(_is_nan(a), _like(a, fill), a)


def _nan_extreme(name, a, axis, out, keepdims, initial, where):
    refuse_out(name, out)
    check_arraylike(name, a)
    a = unwrapped(a)
    lowest = name == "nanmax"
    reduce = max if lowest else min
    if not _is_inexact(a):
        return reduce(a, axis, None, keepdims, initial, where)
    fill = -np.inf if lowest else np.inf
    result = reduce(without_nan(name, a, fill), axis, None, keepdims, initial, where)
    if initial is not None:
        return result
    nothing = all(_is_nan(a), axis, keepdims=keepdims)
    return select(nothing, _like(result, np.nan), result)


@inlined(static_argnames=("axis", "out", "keepdims"))
def nanmax(a: ArrayLike, axis: Axis = None, out: None = None, keepdims: bool = False, initial: ArrayLike | None = None,
           where: ArrayLike | None = None) -> Array:
    """`max` of the elements that are not NaN; NaN if there are none.

    Args:
      axis, out, keepdims, initial, where: as for `max`.

    Source: `numpy.nanmax`.

    >>> jnp.nanmax(jnp.array([2., jnp.nan, 3.]))
    Array(3., dtype=float32)
    """
    return _nan_extreme("nanmax", a, axis, out, keepdims, initial, where)


@inlined(static_argnames=("axis", "out", "keepdims"))
def nanmin(a: ArrayLike, axis: Axis = None, out: None = None, keepdims: bool = False, initial: ArrayLike | None = None,
           where: ArrayLike | None = None) -> Array:
    """`min` of the elements that are not NaN; NaN if there are none.

    Args:
      axis, out, keepdims, initial, where: as for `min`.

    Source: `numpy.nanmin`.

    >>> jnp.nanmin(jnp.array([2., jnp.nan, 3.]))
    Array(2., dtype=float32)
    """
    return _nan_extreme("nanmin", a, axis, out, keepdims, initial, where)


@inlined(static_argnames=("axis", "dtype", "out", "keepdims"))
def nansum(a: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, out: None = None, keepdims: bool = False,
           initial: ArrayLike | None = None, where: ArrayLike | None = None) -> Array:
    """`sum` of the elements that are not NaN.

    Args:
      axis, dtype, out, keepdims, initial, where: as for `sum`.

    Source: `numpy.nansum`.

    >>> jnp.nansum(jnp.array([2., jnp.nan, 3.]))
    Array(5., dtype=float32)
    """
    refuse_out("nansum", out)
    return sum(without_nan("nansum", a, 0), axis, dtype, None, keepdims, initial, where)


@inlined(static_argnames=("axis", "dtype", "out", "keepdims"))
def nanprod(a: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, out: None = None, keepdims: bool = False,
            initial: ArrayLike | None = None, where: ArrayLike | None = None) -> Array:
    """`prod` of the elements that are not NaN.

    Args:
      axis, dtype, out, keepdims, initial, where: as for `prod`.

    Source: `numpy.nanprod`.

    >>> jnp.nanprod(jnp.array([2., jnp.nan, 3.]))
    Array(6., dtype=float32)
    """
    refuse_out("nanprod", out)
    return prod(without_nan("nanprod", a, 1), axis, dtype, None, keepdims, initial, where)


def _present(name: str, a: Any, where: Any) -> Any:
    """Which elements take part: those that are not NaN, and where ``where`` holds."""
    present = lax.bitwise_not(_is_nan(a)) if _is_inexact(a) else lax.full(shape_of(a), True, np.bool_)
    where = given_mask(name, where, shape_of(a))
    return present if where is None else lax.bitwise_and(present, where)


@inlined(static_argnames=("axis", "dtype", "out", "keepdims"))
def nanmean(a: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, out: None = None, keepdims: bool = False,
            where: ArrayLike | None = None) -> Array:
    """`mean` of the elements that are not NaN; NaN if there are none.

    Args:
      axis, dtype, out, keepdims, where: as for `mean`.

    Source: `numpy.nanmean`.

    >>> jnp.nanmean(jnp.array([2., jnp.nan, 3.]))
    Array(2.5, dtype=float32)
    """
    refuse_out("nanmean", out)
    check_arraylike("nanmean", a)
    a = unwrapped(a)
    if not _is_inexact(a):
        return mean(a, axis, dtype, None, keepdims, where=where)
    return mean(a, axis, dtype, None, keepdims, where=_present("nanmean", a, where))


@inlined(static_argnames=("axis", "dtype", "out", "ddof", "keepdims"))
def nanvar(a: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, out: None = None, ddof: int = 0,
           keepdims: bool = False, where: ArrayLike | None = None, mean: ArrayLike | None = None) -> Array:
    """`var` of the elements that are not NaN.

    Args:
      axis, dtype, out, ddof, keepdims, where, mean: as for `var`.

    Source: `numpy.nanvar`.

    >>> jnp.nanvar(jnp.array([2., jnp.nan, 4.]))
    Array(1., dtype=float32)
    """
    refuse_out("nanvar", out)
    check_arraylike("nanvar", a)
    a = unwrapped(a)
    result = var(a, axis, dtype, None, ddof, keepdims, where=_present("nanvar", a, where), mean=mean)
    return result if dtype is None else convert(result, dtype_argument(dtype, "nanvar"))


@inlined(static_argnames=("axis", "dtype", "out", "ddof", "keepdims"))
def nanstd(a: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, out: None = None, ddof: int = 0,
           keepdims: bool = False, where: ArrayLike | None = None, mean: ArrayLike | None = None) -> Array:
    """`std` of the elements that are not NaN.

    Args:
      axis, dtype, out, ddof, keepdims, where, mean: as for `std`.

    Raises:
      TypeError: ``dtype`` is neither floating nor complex.

    Source: `numpy.nanstd`.

    >>> jnp.nanstd(jnp.array([2., jnp.nan, 4.]))
    Array(1., dtype=float32)
    """
    refuse_out("nanstd", out)
    if dtype is not None and not dtypes.issubdtype(dtype_argument(dtype, "nanstd"), np.inexact):
        raise TypeError(f"nanstd: dtype must be floating or complex, got {dtype}; leave it out for the default one")
    check_arraylike("nanstd", a)
    a = unwrapped(a)
    return std(a, axis, dtype, None, ddof, keepdims, where=_present("nanstd", a, where), mean=mean)


def _nan_arg(name, a, axis, out, keepdims, fill):
    refuse_out(name, out)
    check_arraylike(name, a)
    a = unwrapped(a)
    fun = argmax if name == "nanargmax" else argmin
    if not _is_inexact(a):
        return fun(a, axis, None, keepdims)
    index = fun(without_nan(name, a, fill), axis, None, keepdims)
    nothing = all(_is_nan(a), axis, keepdims=bool(keepdims))
    return select(nothing, _like(index, -1), index)


@inlined(static_argnames=("axis", "out", "keepdims"), lists=("keepdims",))
def nanargmax(a: ArrayLike, axis: int | None = None, out: None = None, keepdims: bool | None = None) -> Array:
    """`argmax` of the elements that are not NaN; -1 if there are none.

    Args:
      axis, out, keepdims: as for `argmax`.

    Source: `numpy.nanargmax`.

    >>> jnp.nanargmax(jnp.array([jnp.nan, 1., 4.]))
    Array(2, dtype=int32)
    """
    return _nan_arg("nanargmax", a, axis, out, keepdims, -np.inf)


@inlined(static_argnames=("axis", "out", "keepdims"), lists=("keepdims",))
def nanargmin(a: ArrayLike, axis: int | None = None, out: None = None, keepdims: bool | None = None) -> Array:
    """`argmin` of the elements that are not NaN; -1 if there are none.

    Args:
      axis, out, keepdims: as for `argmin`.

    Source: `numpy.nanargmin`.

    >>> jnp.nanargmin(jnp.array([jnp.nan, 1., 4.]))
    Array(1, dtype=int32)
    """
    return _nan_arg("nanargmin", a, axis, out, keepdims, np.inf)
