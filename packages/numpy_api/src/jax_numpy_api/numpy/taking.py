"""Elements by their positions along one axis: taken, taken line by line, repeated."""
from __future__ import annotations

from typing import Any

import numpy as np

from jax_core.representation import dtypes, errors, splits
from jax_core.representation.arguments import integer, joint_shape
from jax_core.representation.array import Array
from jax_core.representation.aval import get_aval
from jax_core.representation.source import attributed_to, capture
from jax_core.representation.typing import ArrayLike, Placement
from jax_core.traces.structural import broadcast_in_dim_p

from .. import lax
from ..lax.positions import wide_positions
from .arithmetic import remainder
from .creation import asarray, placed
from .index_plans import wrapped
from .indexing import _IndexUpdateRef, check_filling
from .promotion import as_array, broadcast_to, canonical_axis, check_arraylike, concrete, convert, refuse_out, unwrapped
from .rows import adaptive
from .shaping import _reshape, ravel


def take(a: ArrayLike, indices: ArrayLike, axis: int | None = None, out: None = None, mode: str | None = None,
         unique_indices: bool = False, indices_are_sorted: bool = False, fill_value: ArrayLike | None = None) -> Array:
    """The slices of ``a`` at ``indices`` along an axis.

    Args:
      a: array.
      indices: array of integers of any shape, which takes the place of the axis.
      axis: None to take from the flattened array.
      out: must be None.
      mode: for positions out of bounds: "fill" (default: NaN, or the lowest or largest integer), "clip" (negative ones
        become 0), "wrap".
      unique_indices, indices_are_sorted: promises about the positions.
      fill_value: what "fill" gives instead.

    Raises:
      TypeError: indices that are not integers. ValueError: an unknown mode. NotImplementedError: ``mode="raise"``.

    Source: `numpy.take`.

    >>> jnp.take(jnp.array([10, 20, 30]), jnp.array([2, 0]))
    Array([30, 10], dtype=int32)
    """
    refuse_out("take", out)
    if axis is not None:
        axis = integer("take: axis", axis)
    taken = _taken if fill_value is None else _taken_or  # a number like -0.0 is no key
    return taken(a, indices, axis, mode, unique_indices, indices_are_sorted, fill_value)


def _taken_or(a, indices, axis, mode, unique_indices, indices_are_sorted, fill_value):
    check_arraylike("take", a, indices)
    a = ravel(a) if axis is None else as_array(a)
    axis = canonical_axis(0 if axis is None else axis, a.ndim)
    if fill_value is not None:
        check_filling("take", fill_value, a.dtype)
    indices = unwrapped(indices)
    if dtypes.dtype(indices) == np.bool_:
        indices = convert(indices, np.dtype(np.int32))
    if not dtypes.issubdtype(dtypes.dtype(indices), np.integer):
        raise ValueError(f"take indices must be integers, got {dtypes.dtype(indices)}; round and convert them, or use a "
                        "boolean mask in a[mask].")
    if mode == "raise":
        raise NotImplementedError("The 'raise' mode to jnp.take is not supported.")
    if mode not in (None, "fill", "clip", "wrap"):
        raise ValueError(f"jnp.take: mode must be 'fill', 'clip' or 'wrap', got {mode!r}.")
    if not a.shape[axis] and np.size(indices):
        raise IndexError(f"take: axis {axis} of a, of shape {a.shape}, is empty; it has no element for a non-empty jnp.take to read")
    if mode == "wrap":
        if a.shape[axis]:
            indices = remainder(indices, a.shape[axis])
        mode = "promise_in_bounds"
    if not isinstance(indices, (Array, np.ndarray)):
        indices = np.asarray(indices)
    index = (*[slice(None)] * axis, indices)
    return _IndexUpdateRef(a, index).get(mode="fill" if mode is None else mode, fill_value=fill_value,
                                         unique_indices=unique_indices, indices_are_sorted=indices_are_sorted,
                                         wrap_negative_indices=mode != "clip")


_taken = adaptive("always", (2, 3, 4, 5))(_taken_or)


def take_along_axis(arr: ArrayLike, indices: ArrayLike, axis: int | None = -1, mode: str | None = None,
                    fill_value: ArrayLike | None = None, *, wrap_negative_indices: bool = True) -> Array:
    """For each line along an axis, the elements at that line's own indices.

    Args:
      arr: array.
      indices: integers, of the rank of ``arr``; other axes broadcast against those of ``arr``.
      axis: None for the flattened array.
      mode: "fill" (default), "clip" or "promise_in_bounds", for positions out of bounds.
      fill_value: what "fill" reads.
      wrap_negative_indices: whether negative positions count from the end.

    Raises:
      TypeError: indices that are not integers. ValueError: another rank than that of ``arr``.

    Source: `numpy.take_along_axis`.

    >>> x = jnp.array([[3, 1], [5, 9]])
    >>> jnp.take_along_axis(x, jnp.argsort(x, axis=1), axis=1)
    Array([[1, 3],
           [5, 9]], dtype=int32)
    """
    along = _along if fill_value is None else _along_or
    return along(arr, indices, axis, mode, fill_value, wrap_negative_indices)


def _along_or(arr, indices, axis, mode, fill_value, wrap_negative_indices):
    check_arraylike("take_along_axis", arr, indices)
    indices = as_array(indices)
    if not dtypes.issubdtype(indices.dtype, np.integer):
        raise TypeError(f"jax.numpy.take_along_axis: indices must be integers, got {indices.dtype}")
    if axis is None:
        if indices.ndim != 1:
            raise ValueError(f"jax.numpy.take_along_axis: axis=None reads the flattened array, so indices must be a vector, got "
                             f"shape {indices.shape}; ravel them, or name an axis")
        arr, axis = ravel(arr), 0
    arr = as_array(arr)
    if arr.ndim != indices.ndim:
        raise ValueError(f"jax.numpy.take_along_axis: indices of shape {indices.shape} and arr of shape {arr.shape} must have equally many axes; "
                         "give indices an axis of length 1 where they are to be repeated")
    axis = canonical_axis(axis, arr.ndim)
    lead = joint_shape(_without(arr.shape, axis), _without(indices.shape, axis))
    with attributed_to(capture()), wide_positions(arr):  # found once for all operations
        return _take_along(arr, indices, axis, lead, mode, fill_value, wrap_negative_indices)


_along = adaptive("always", (2, 3, 5))(_along_or)


def _without(shape: tuple, axis: int) -> tuple:
    return shape[:axis] + (1,) + shape[axis + 1:]


def _take_along(arr, indices, axis, lead, mode, fill_value, wrap):
    """A gather with batching axes: the other axes are shared, so no positions are written out for them."""
    n, m = arr.shape[axis], indices.shape[axis]
    full_indices = (*lead[:axis], m, *lead[axis + 1:])
    if 0 in full_indices:
        return lax.full(full_indices, 0, arr.dtype)
    operand = broadcast_to(arr, (*lead[:axis], n, *lead[axis + 1:]))
    indices = broadcast_to(wrapped(indices, n, wrap), full_indices)
    shared = tuple(i for i in range(arr.ndim) if i != axis)
    numbers = lax.GatherDimensionNumbers((), (axis,), (axis,), shared, shared)
    starts = lax.reshape(indices, (*full_indices, 1))
    return lax.gather(operand, starts, numbers, (1,) * arr.ndim, mode="fill" if mode is None else mode,
                      fill_value=fill_value)


def repeat(a: ArrayLike, repeats: ArrayLike, axis: int | None = None, *, total_repeat_length: int | None = None,
           out_sharding: Placement | None = None) -> Array:
    """Each element (or slice along an axis) repeated.

    Args:
      a: array.
      repeats: how often: one number for all, or one an element; known while tracing unless ``total_repeat_length`` is
        given.
      axis: along which; None to flatten first.
      total_repeat_length: length of the result along the axis; the last element fills up, what is over is cut off.
      out_sharding: placement; it must be given where the array is split along the axis, and its elements are not all repeated as often.

    Raises:
      ValueError: the number of repeats does not fit, or no ``out_sharding`` where one is needed.
      ConcretizationTypeError: traced repeats without a length. TypeError: repeats are no whole numbers.

    Source: `numpy.repeat`.

    >>> jnp.repeat(jnp.array([7, 8]), jnp.array([1, 2]))
    Array([7, 8, 8], dtype=int32)
    """
    check_arraylike("repeat", a)
    if not isinstance(repeats, list):
        check_arraylike("repeat", repeats)
    a = ravel(a) if axis is None or np.ndim(a) == 0 else as_array(a)
    axis = canonical_axis(0 if axis is None else axis, a.ndim)
    known = np.asarray(repeats) if isinstance(repeats, (list, tuple)) else concrete(repeats)
    dtype = lax.dtype(repeats if known is None else known)
    if not dtypes.issubdtype(dtype, np.integer) and dtype != np.bool_:
        raise TypeError(f"repeat: repeats must be whole numbers, got dtype {dtype}; convert them with astype(int)")
    for_all = total_repeat_length is None and known is not None and known.size == 1
    if out_sharding is None and not for_all and a.ndim and splits.entries(get_aval(a))[axis] is not None:
        raise ValueError(f"repeat: {get_aval(a).str_short()} is split along axis {axis}, whose elements are repeated each as often as repeats says; say by "
                         "out_sharding how the result is split, or give one number for all")
    if total_repeat_length is not None:
        return placed(_repeat_to(a, repeats, axis, integer("repeat: total_repeat_length", total_repeat_length)), None, out_sharding)
    if known is None:
        raise errors.ConcretizationTypeError(
            repeats, "jax.numpy.repeat: the length of the result is the sum of repeats, which is not known while tracing; pass "
            "it as total_repeat_length")
    if for_all:
        return placed(_repeat_each(a, int(known.reshape(-1)[0]), axis), None, out_sharding)
    if known.ndim != 1 or known.shape[0] != a.shape[axis]:
        raise ValueError(f"repeat: repeats of shape {known.shape} must have one entry for each of the {a.shape[axis]} "
                         f"elements along axis {axis}")
    positions = np.repeat(np.arange(a.shape[axis]), known)
    return placed(take(a, positions, axis), None, out_sharding)


def _repeat_each(a: Any, n: int, axis: int) -> Array:
    shape = a.shape
    wide = (*shape[:axis + 1], n, *shape[axis + 1:])
    dims = tuple(i for i in range(len(wide)) if i != axis + 1)
    out = broadcast_in_dim_p.bind(a, shape=wide, broadcast_dimensions=dims, sharding=None)
    return lax.reshape(out, (*shape[:axis], shape[axis] * n, *shape[axis + 1:]))


def _repeat_to(a: Any, repeats: Any, axis: int, length: int) -> Array:
    """With traced counts: mark where each element begins, sum the marks up, and read."""
    counts = asarray(repeats)
    size = a.shape[axis]
    if counts.ndim == 0 or counts.shape == (1,):
        counts = broadcast_to(_reshape(counts, ()), (size,))
    if size == 0 or length == 0:
        return lax.full((*a.shape[:axis], length, *a.shape[axis + 1:]), 0, a.dtype)
    counts = convert(counts, np.dtype(np.int32))
    starts = lax.sub(lax.cumsum(counts), counts)
    marks = lax.full((length,), 0, np.int32)
    marks = marks.at[starts].add(1, mode="drop")
    positions = lax.sub(lax.cumsum(marks), np.int32(1))
    return take(a, positions, axis, mode="clip")
