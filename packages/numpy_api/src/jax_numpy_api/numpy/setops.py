"""Set operations: `unique` and what is built on it.

The number of distinct elements is not known while tracing, so these functions take ``size``; the result is cut off or
filled up to it. Eagerly, NumPy computes them on the host, as nothing is rounded.
"""
from __future__ import annotations

import math
from typing import Any, Callable, NamedTuple, Sequence

import numpy as np

from jax_core.programs.jit import inlined
from jax_core.representation import dtypes, errors
from jax_core.representation.arguments import integer
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike
from jax_core.traces.trace import Tracer

from .. import lax
from . import arithmetic, reductions
from .joining import concatenate
from .promotion import (
    as_array,
    broadcast_to,
    canonical_axis,
    check_arraylike,
    concrete,
    convert,
    from_numpy,
    given_size,
    promote_dtypes,
)
from .selection import first_kept
from .shaping import moveaxis, ravel
from .sorting import argsort, searchsorted, sort
from .taking import take
from .ufuncs import _is_inexact, _like

_MOST_COLUMNS = 8  # sorted together with their rows; more are fetched by the rows' positions


class _UniqueAll(NamedTuple):
    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class _UniqueCounts(NamedTuple):
    values: Array
    counts: Array


class _UniqueInverse(NamedTuple):
    values: Array
    inverse_indices: Array


def unique(ar: ArrayLike, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False,
           axis: int | None = None, *, equal_nan: bool = True, size: int | None = None, fill_value: ArrayLike | None = None,
           sorted: bool = True) -> Any:
    """The distinct elements of an array, or its distinct slices along an axis, sorted.

    Args:
      ar: array.
      return_index: return also the first position of each in ``ar``.
      return_inverse: return also the position in the result of each element of ``ar``.
      return_counts: return also how often each comes.
      axis: None for the elements of the flattened array.
      equal_nan: whether all NaN count as one.
      size: length of the result; needed while tracing.
      fill_value: what fills the result up; by default the smallest element.
      sorted: the result is sorted in any case.

    Raises:
      ConcretizationTypeError: tracing without ``size``.

    Source: `numpy.unique`.

    >>> jnp.unique(jnp.array([3, 1, 3]), return_counts=True)
    (Array([1, 3], dtype=int32), Array([1, 2], dtype=int32))
    """
    check_arraylike("unique", ar)
    dtypes.dtype(ar)  # raises for what NumPy, which does the work, has and we have not
    wanted = (bool(return_index), bool(return_inverse), bool(return_counts))
    axis = None if axis is None else integer("unique: axis", axis)
    if size is None:
        known = concrete(ar)
        if known is None:
            raise errors.ConcretizationTypeError(
                ar, "jax.numpy.unique: the length of the result is the number of different elements, which is not known while "
                "tracing; pass the length as size")
        slope = _has_slope(ar)
        out = _on_host(known, ar, (wanted[0] or slope, *wanted[1:]), axis, equal_nan)
        if slope:
            out[0] = take(ravel(ar), out[1], 0) if axis is None else take(ar, out[1], axis)
            out = out if wanted[0] else [out[0], *out[2:]]
    else:
        out = _padded(as_array(ar), wanted, axis, equal_nan, given_size("unique", size), fill_value)
    return out[0] if len(out) == 1 else tuple(out)


def _on_host(x: np.ndarray, source: Any, wanted: tuple, axis: Any, equal_nan: bool) -> list:
    def make(result, weak=False):
        return from_numpy(result, source, weak=weak)
    unique_of: Callable[..., Any] = np.unique  # its type has an overload for each set of flags
    if axis is not None and equal_nan and x.dtype.kind in "fc" and np.isnan(x).any():
        # NumPy compares rows by their bytes: their elements' ranks, in which NaN is one element, are told apart as meant
        values, ranks = np.unique(x, return_inverse=True)
        found = unique_of(ranks.reshape(x.shape), *wanted, axis=axis)
        found = (values[found[0]], *found[1:]) if isinstance(found, tuple) else values[found]
    else:
        found = unique_of(_sortable(x), *wanted, axis=axis, equal_nan=equal_nan)
    found = list(found) if isinstance(found, tuple) else [found]
    out = [make(np.ascontiguousarray(found[0].astype(x.dtype)), weak=True)]
    for i, extra in enumerate(found[1:]):
        if wanted[1] and i == wanted[0]:
            extra = extra.reshape(x.shape) if axis is None else extra.reshape(-1)
        out.append(make(np.array(extra, dtypes.default_int_dtype(), order="C")))
    return out


def _padded(ar: Any, wanted: tuple, axis: Any, equal_nan: bool, size: int, fill_value: Any) -> list:
    """By sorting: an element is new where it differs from the one before."""
    shape = ar.shape
    if axis is None:
        rows = lax.reshape(ar, (ar.size, 1))
    else:
        axis = canonical_axis(axis, ar.ndim)
        lines = moveaxis(ar, axis, 0)
        rows = lax.reshape(lines, (lines.shape[0], math.prod(lines.shape[1:])))
    n, width = rows.shape
    if n == 0:
        return _padded_empty(ar, rows, wanted, axis, size, fill_value)
    columns = [lax.squeeze(lax.slice_in_dim(rows, j, j + 1, axis=1), (1,)) for j in range(width)]
    order: Any = None
    if not width:  # rows without elements are equal
        order, ordered = lax.iota(np.int32, n), rows
    elif wanted[0] or wanted[1] or width > _MOST_COLUMNS:
        order = lax.sort((*columns, lax.iota(np.int32, n)), 0, num_keys=width)[-1]
        ordered = take(rows, order, 0, mode="clip")
    else:  # the rows alone are asked for, so that nothing need be fetched by position
        ordered = lax.concatenate([lax.expand_dims(x, (1,)) for x in lax.sort(columns, 0, num_keys=width)], 1)
    new = _differs(ordered, equal_nan)
    rank = lax.sub(lax.cumsum(lax.convert_element_type(new, np.int32)), np.int32(1))
    count = rank[-1] + 1 if n else np.int32(0)
    ends = _starts(rank, size + wanted[2])
    starts = lax.slice_in_dim(ends, 0, size)
    present = lax.lt(lax.iota(np.int32, size), count)
    out = [_values(ar, ordered, starts, present, axis, size, fill_value)]
    integer = dtypes.default_int_dtype()
    if wanted[0]:
        out.append(convert(arithmetic.select(present, take(order, starts, mode="clip"), order[0]), integer))
    if wanted[1]:
        inverse = lax.full((n,), 0, np.int32).at[order].set(rank)
        out.append(convert(lax.reshape(inverse, shape) if axis is None else inverse, integer))
    if wanted[2]:
        stops = lax.slice_in_dim(ends, 1, size + 1)
        out.append(convert(arithmetic.select(present, lax.sub(stops, starts), np.int32(0)), integer))
    return out


def _starts(rank: Any, size: int) -> Any:
    """The first sorted place of each of ``size`` distinct elements; the number of places for those that there are not.

    One scatter: to search for each in ``rank`` takes a dozen gathers, which is three times as many kernels on TPUs.
    """
    n = rank.shape[0]
    new = lax.concatenate([lax.full((1,), True, np.bool_), lax.ne(rank[1:], rank[:-1])], 0)  # anew: cheaper than reading it
    none = lax.broadcast_in_dim(lax.convert_element_type(n, np.int32), (size,), ())
    return none.at[arithmetic.select(new, rank, np.int32(size))].set(lax.iota(np.int32, n), mode="drop")


def _padded_empty(ar, rows, wanted, axis, size, fill_value):
    shape = (size,) if axis is None else tuple(size if i == axis else m for i, m in enumerate(ar.shape))
    if size and fill_value is None:
        raise ValueError(f"jnp.unique: an array of shape {ar.shape} has no element to fill a result of size={size} with; pass fill_value")
    fill = 0 if fill_value is None else fill_value
    integer = dtypes.default_int_dtype()
    extra = [lax.full((size,), 0, integer), lax.full(ar.shape if axis is None else (0,), 0, integer),
             lax.full((size,), 0, integer)]
    return [lax.full(shape, fill, ar.dtype), *(e for e, w in zip(extra, wanted) if w)]


def _differs(ordered: Any, equal_nan: bool) -> Any:
    later, earlier = ordered[1:], ordered[:-1]
    different = _unequal(later, earlier)
    if equal_nan and _is_inexact(ordered):
        both = lax.bitwise_and(lax.ne(later, later), lax.ne(earlier, earlier))
        different = lax.bitwise_and(different, lax.bitwise_not(both))
    different = lax.reduce_or(different, (1,))
    return lax.concatenate([lax.full((1,), True, np.bool_), different], 0)


def _unequal(x: Any, y: Any) -> Any:
    """``x != y`` that tells subnormal numbers from zero, as sorting does."""
    if dtypes.issubdtype(x.dtype, np.complexfloating):
        return lax.bitwise_or(_unequal(lax.real(x), lax.real(y)), _unequal(lax.imag(x), lax.imag(y)))
    if not dtypes.issubdtype(x.dtype, np.floating):
        return lax.ne(x, y)
    whole = np.dtype(f"uint{8 * x.dtype.itemsize}")

    def bits(v: Array):  # those of -0.0 as those of 0.0
        v = lax.bitcast_convert_type_p.bind(v, new_dtype=whole)  # 64 bits where x64 is off, too
        return arithmetic.select(lax.eq(v, _like(v, 1 << 8 * whole.itemsize - 1)), _like(v, 0), v)
    return lax.bitwise_or(lax.ne(bits(x), bits(y)), lax.ne(x, x))


def _values(ar, ordered, starts, present, axis, size, fill_value):
    chosen = take(ordered, starts, 0, mode="clip")
    if fill_value is None:
        fill = lax.slice_in_dim(ordered, 0, 1, axis=0)
    else:
        fill = convert(as_array(fill_value), ar.dtype)
        if axis is not None and fill.ndim:
            fill = lax.reshape(broadcast_to(fill, tuple(m for i, m in enumerate(ar.shape) if i != axis)), (1, ordered.shape[1]))
        else:
            fill = lax.reshape(broadcast_to(fill, (1, ordered.shape[1])), (1, ordered.shape[1]))
    mask = broadcast_to(lax.reshape(present, (size, 1)), chosen.shape)
    out = arithmetic.select(mask, chosen, broadcast_to(fill, chosen.shape))
    if axis is None:
        return lax.reshape(out, (size,))
    rest = tuple(m for i, m in enumerate(ar.shape) if i != axis)
    return moveaxis(lax.reshape(out, (size, *rest)), 0, axis)


def unique_all(x: ArrayLike, /, *, size: int | None = None, fill_value: ArrayLike | None = None) -> _UniqueAll:
    """Distinct elements, first positions, inverse positions and counts; NaN are distinct.

    Args:
      size: how many results there are; the first ones, or filled up. Needed under `jit`.
      fill_value: what fills up.

    Source: `numpy.unique_all`, array API standard.

    >>> jnp.unique_all(jnp.array([3, 1, 3])).values
    Array([1, 3], dtype=int32)
    """
    return _UniqueAll(*unique(x, True, True, True, equal_nan=False, size=size, fill_value=fill_value))


def unique_counts(x: ArrayLike, /, *, size: int | None = None, fill_value: ArrayLike | None = None) -> _UniqueCounts:
    """Distinct elements and counts; NaN are distinct.

    Args:
      size: how many results there are; the first ones, or filled up. Needed under `jit`.
      fill_value: what fills up.

    Source: `numpy.unique_counts`, array API standard.

    >>> jnp.unique_counts(jnp.array([3, 1, 3])).counts
    Array([1, 2], dtype=int32)
    """
    return _UniqueCounts(*unique(x, return_counts=True, equal_nan=False, size=size, fill_value=fill_value))


def unique_inverse(x: ArrayLike, /, *, size: int | None = None, fill_value: ArrayLike | None = None) -> _UniqueInverse:
    """Distinct elements and inverse positions; NaN are distinct.

    Args:
      size: how many results there are; the first ones, or filled up. Needed under `jit`.
      fill_value: what fills up.

    Source: `numpy.unique_inverse`, array API standard.

    >>> jnp.unique_inverse(jnp.array([3, 1, 3])).inverse_indices
    Array([1, 0, 1], dtype=int32)
    """
    return _UniqueInverse(*unique(x, return_inverse=True, equal_nan=False, size=size, fill_value=fill_value))


def unique_values(x: ArrayLike, /, *, size: int | None = None, fill_value: ArrayLike | None = None) -> Array:
    """Distinct elements; NaN are distinct.

    Args:
      size: how many results there are; the first ones, or filled up. Needed under `jit`.
      fill_value: what fills up.

    Source: `numpy.unique_values`, array API standard.

    >>> jnp.unique_values(jnp.array([3, 1, 3]))
    Array([1, 3], dtype=int32)
    """
    return unique(x, equal_nan=False, size=size, fill_value=fill_value)


# -- two sets ----------------------------------------------------------------------------------------------------------

@inlined(static_argnames=("assume_unique", "invert", "method"))
def isin(element: ArrayLike, test_elements: ArrayLike, assume_unique: bool = False, invert: bool = False, *,
         method: str = "auto") -> Array:
    """Whether each element is among ``test_elements``.

    Args:
      element, test_elements: arrays.
      assume_unique: has no meaning here.
      invert: whether it is not.
      method: "auto", "compare_all", "binary_search" or "sort".

    Raises:
      ValueError: another ``method``.

    Source: `numpy.isin`.

    >>> jnp.isin(jnp.array([1, 2, 3]), jnp.array([2, 5]))
    Array([False,  True, False], dtype=bool)
    """
    check_arraylike("isin", element, test_elements)
    if method not in ("auto", "compare_all", "binary_search", "sort"):
        raise ValueError(f"method must be 'auto', 'compare_all', 'binary_search' or 'sort', got {method!r}")
    element, tests = (as_array(x) for x in promote_dtypes(element, test_elements))
    tests = lax.convert_element_type(ravel(tests), tests.dtype)
    if element.size == 0 or tests.size == 0:
        return lax.full(element.shape, bool(invert), np.bool_)
    if method == "compare_all" or method == "auto" and tests.size <= 8:
        shape = (*element.shape, tests.size)
        same = lax.eq(lax.broadcast_in_dim(element, shape, tuple(range(element.ndim))),
                      lax.broadcast_in_dim(tests, shape, (element.ndim,)))
        found = lax.reduce_or(same, (element.ndim,))
    else:
        ordered = sort(tests)
        place = searchsorted(ordered, element)
        found = lax.eq(take(ordered, place, mode="clip"), element)
    return lax.bitwise_not(found) if invert else found


def _known_pair(name: str, ar1: Any, ar2: Any, size: Any) -> tuple | None:
    """Both arrays on the host, if that will do; raises where ``size`` is needed and not given."""
    check_arraylike(name, ar1, ar2)
    pair = [as_array(x) for x in promote_dtypes(ar1, ar2)]
    if size is not None:
        return None
    known = [concrete(x) for x in pair]
    if any(x is None for x in known):
        raise errors.ConcretizationTypeError(next(x for x, k in zip(pair, known) if k is None),
                                             f"jnp.{name} needs the size argument while tracing, as the length of its result "
                                             "depends on the values.")
    return tuple(known)


def _sortable(x: np.ndarray) -> np.ndarray:
    """``x`` for NumPy, which has no sort for the types of ml_dtypes: their values are exact in float32."""
    return x if x.dtype.kind in "biufc" else x.astype(np.float32)


def _has_slope(x: ArrayLike) -> bool:
    """Whether elements chosen of ``x`` have a derivative, so that they cannot come from the host."""
    return isinstance(x, Tracer) and _is_inexact(x)


def _chosen(values: np.ndarray, known: Sequence[np.ndarray], sources: Sequence[ArrayLike]) -> Array:
    """The elements of ``sources``, the contents of which are ``known``, that NumPy found to be the result; the first ones of those that are equal."""
    if not any(map(_has_slope, sources)):
        return _host_result(values, *sources, weak=True)
    distinct, first = np.unique(_sortable(np.concatenate([x.ravel() for x in known])), return_index=True)
    return take(concatenate([ravel(x) for x in promote_dtypes(*sources)]), first[np.searchsorted(distinct, _sortable(values))], 0)


def _host_result(x: np.ndarray, *sources: Any, weak: bool = False) -> Array:
    return from_numpy(np.array(x, order="C"), *sources, weak=weak)


def union1d(ar1: ArrayLike, ar2: ArrayLike, *, size: int | None = None, fill_value: ArrayLike | None = None) -> Array:
    """The distinct elements of two arrays together, sorted. Source: `numpy.union1d`.

    Args:
      ar1, ar2: arrays, which are flattened.
      size: length of the result; needed while tracing.
      fill_value: what fills the result up; by default the smallest element.

    >>> jnp.union1d(jnp.array([3, 1]), jnp.array([2, 1]))
    Array([1, 2, 3], dtype=int32)
    """
    check_arraylike("union1d", ar1, ar2)
    return unique(concatenate([ravel(ar1), ravel(ar2)]), size=size, fill_value=fill_value)


def setdiff1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False, *, size: int | None = None,
              fill_value: ArrayLike | None = None) -> Array:
    """The distinct elements of the first array that are not in the second. Source: `numpy.setdiff1d`.

    Args:
      ar1, ar2: arrays, which are flattened.
      assume_unique: ``ar1`` holds no element twice; the result then has its order, and else is sorted.
      size: length of the result; needed while tracing.
      fill_value: what fills the result up, by default 0.

    >>> jnp.setdiff1d(jnp.array([1, 2, 3]), jnp.array([2]))
    Array([1, 3], dtype=int32)
    """
    known = _known_pair("setdiff1d", ar1, ar2, size)
    if known is not None:
        return _chosen(np.setdiff1d(known[0], known[1], assume_unique=assume_unique).astype(dtypes.dtype(ar1)), known[:1], [ar1])
    a = ravel(ar1)
    if fill_value is None:
        fill_value = 0
    if not assume_unique:
        a = unique(a, size=max(a.size, 1)) if a.size else a
    keep = isin(a, ar2, invert=True)
    if not assume_unique and a.size:  # padding repeats the first element
        keep = lax.bitwise_and(keep, lax.concatenate([lax.full((1,), True, np.bool_), lax.ne(a[1:], a[:1])
                                                      if a.size > 1 else lax.full((0,), True, np.bool_)], 0))
    return _kept_elements(a, keep, given_size("setdiff1d", size), fill_value)


def _kept_elements(a, keep, size, fill_value):
    """The first ``size`` of them; filled up with the first one where ``fill_value`` is None, or 0 where there is none."""
    out = first_kept(keep, a, 0, size, 0 if fill_value is None else fill_value)
    if fill_value is not None or size < 2:
        return out
    count = reductions.sum(keep, dtype=np.int32)
    return arithmetic.select(lax.lt(lax.iota(np.int32, size), count), out, out[0])


def setxor1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False, *, size: int | None = None,
             fill_value: ArrayLike | None = None) -> Array:
    """The distinct elements that are in exactly one of two arrays, sorted.

    Args:
      ar1, ar2: arrays.
      assume_unique: whether no element comes twice in one of them.
      size: length of the result; needed while tracing.
      fill_value: what fills it up; by default its smallest element.

    Source: `numpy.setxor1d`.

    >>> jnp.setxor1d(jnp.array([1, 2]), jnp.array([2, 3]))
    Array([1, 3], dtype=int32)
    """
    known = _known_pair("setxor1d", ar1, ar2, size)
    if known is not None:
        return _chosen(np.setxor1d(known[0], known[1], assume_unique=assume_unique), known, [ar1, ar2])
    a, b = ravel(ar1), ravel(ar2)
    a, b = promote_dtypes(a, b)
    both = sort(concatenate([a, b]))
    both = lax.convert_element_type(both, both.dtype)  # strong
    if assume_unique and both.size:  # what is in one of them differs from its neighbours
        apart = _unequal(both[1:], both[:-1])
        edge = lax.full((1,), True, np.bool_)
        alone = lax.bitwise_and(lax.concatenate([edge, apart], 0), lax.concatenate([apart, edge], 0))
        return _kept_elements(both, alone, given_size("setxor1d", size), fill_value)
    in_a, in_b = isin(both, a), isin(both, b)
    new = _differs(lax.reshape(both, (both.size, 1)), False) if both.size else lax.full((0,), True, np.bool_)
    keep = lax.bitwise_and(new, lax.ne(in_a, in_b))
    if _is_inexact(both):  # a NaN is in neither of the two, and they have at most one each
        is_nan, at_most = lax.ne(both, both), sum(reductions.any(lax.ne(x, x)).astype(np.int32) for x in (a, b))
        so_far = lax.cumsum(lax.convert_element_type(is_nan, np.int32))
        keep = lax.bitwise_or(keep, lax.bitwise_and(is_nan, lax.le(so_far, broadcast_to(at_most, so_far.shape))))
    return _kept_elements(both, keep, given_size("setxor1d", size), fill_value)


def intersect1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False, return_indices: bool = False, *,
                size: int | None = None, fill_value: ArrayLike | None = None) -> Array | tuple[Array, Array, Array]:
    """The distinct elements that are in both arrays, sorted, and where each first comes if asked for.

    Args:
      ar1, ar2: arrays.
      assume_unique: whether no element comes twice in one of them.
      return_indices: return also the positions in both arrays.
      size: length of the result; needed while tracing.
      fill_value: what fills it up; by default its smallest element. Positions are filled up with the arrays' lengths.

    Source: `numpy.intersect1d`.

    >>> jnp.intersect1d(jnp.array([1, 2, 3]), jnp.array([3, 1, 9]))
    Array([1, 3], dtype=int32)
    """
    known = _known_pair("intersect1d", ar1, ar2, size)
    if known is not None:
        if not return_indices:
            return _chosen(np.intersect1d(known[0], known[1], assume_unique=assume_unique), known, [ar1, ar2])
        both, first, second = np.intersect1d(known[0], known[1], assume_unique=assume_unique, return_indices=True)
        return _chosen(np.asarray(both), known, [ar1, ar2]), _host_result(first, ar1, ar2), _host_result(second, ar1, ar2)
    a, b = (ravel(lax.convert_element_type(x, dtypes.dtype(x))) for x in promote_dtypes(as_array(ar1), as_array(ar2)))  # strong
    size = given_size("intersect1d", size)
    if assume_unique and a.size + b.size > 1:  # what is in both equals its neighbour
        order = argsort(concatenate([a, b]))
        ordered = take(concatenate([a, b]), order, mode="clip")
        keep = lax.bitwise_not(_unequal(ordered[1:], ordered[:-1]))
        values = _kept_elements(ordered[:-1], keep, size, fill_value)
        if not return_indices:
            return values
        return values, _kept_elements(order[:-1], keep, size, a.size), _kept_elements(order[1:], keep, size, a.size + b.size) - a.size
    order = argsort(a)
    ordered = take(a, order, mode="clip")
    new = _differs(lax.reshape(ordered, (a.size, 1)), False) if a.size else lax.full((0,), True, np.bool_)
    keep = lax.bitwise_and(new, isin(ordered, b))
    values = _kept_elements(ordered, keep, size, fill_value)
    if not return_indices:
        return values
    first = _kept_elements(order, keep, size, a.size)
    order_b = argsort(b)
    place = searchsorted(take(b, order_b, mode="clip"), values)
    found = lax.lt(lax.iota(np.int32, size), reductions.sum(keep, dtype=np.int32))
    second = arithmetic.select(found, take(order_b, place, mode="clip"), np.int32(b.size).astype(order_b.dtype))
    return values, first, second
