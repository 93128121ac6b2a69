"""Shapes of BCOO arrays: broadcasting, joining, slicing, reversing, reducing, indexing.

What falls on batch or dense axes is done to the buffers; what falls on sparse axes is arithmetic on coordinates, and what
leaves the shape becomes padding.
"""
from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Sequence

import numpy as np

from jax_core.representation.arguments import takes
from jax_core.representation.typing import ArrayLike, Placement
from jax_core.transformations.vmap import vmap

from .. import lax, numpy as jnp
from ..numpy.promotion import canonical_axis, concrete
from ..numpy.reductions import sum_dtype
from .bcoo import BCOO, bcoo_sum_duplicates, bcoo_transpose, bcoo_update_layout, full_batch, parts
from .util import require_none, row, static_shape, stored_where, valid

if TYPE_CHECKING:
    from jax_core.representation.array import Array

    from ..lax.gather import GatherDimensionNumbers


@takes(mat=BCOO)
def bcoo_broadcast_in_dim(mat: BCOO, *, shape: Sequence[int], broadcast_dimensions: Sequence[int],
                          sharding: Placement | None = None) -> BCOO:
    """``mat`` with its axes at ``broadcast_dimensions`` of a larger ``shape``; see `lax.broadcast_in_dim`.

    New axes before the first sparse axis are batch axes, those after the last one are dense; the others are sparse.

    Raises:
      ValueError: the axes do not rise, or their lengths are neither 1 nor those of ``shape``.

    >>> from jax.experimental import sparse
    >>> m = sparse.BCOO.fromdense(jnp.array([0, 5]))
    >>> sparse.bcoo_broadcast_in_dim(m, shape=(2, 2), broadcast_dimensions=(1,)).todense()
    Array([[0, 5],
           [0, 5]], dtype=int32)
    """
    require_none("bcoo_broadcast_in_dim", sharding=sharding)
    shape, dims = static_shape(shape), tuple(map(operator.index, broadcast_dimensions))
    if len(dims) != mat.ndim or list(dims) != sorted(set(dims)) or any(not 0 <= d < len(shape) for d in dims):
        raise ValueError(f"bcoo_broadcast_in_dim: broadcast_dimensions {dims} must name, in rising order, an axis of {shape} for "
                         f"each axis of {mat}")
    if any(n not in (1, shape[d]) for n, d in zip(mat.shape, dims)):
        raise ValueError(f"bcoo_broadcast_in_dim: {mat} cannot be broadcast to {shape} along {dims}")
    a, b = mat.n_batch, mat.n_batch + mat.n_sparse
    first = dims[a] if mat.n_sparse else (dims[a - 1] + 1 if a else 0)
    last = dims[b - 1] + 1 if mat.n_sparse else first
    if not mat.n_dense:
        last = len(shape) if mat.n_sparse else first
    mat = _broadcast_batch(mat, shape, dims[:a], first)
    mat = _broadcast_sparse(mat, shape[:first], shape[first:last], [d - first for d in dims[a:b]])
    return _broadcast_dense(mat, shape, [d - last for d in dims[b:]])


def _broadcast_batch(mat, shape, dims, first):
    """Buffers get batch axes of length 1 where there are new ones, which costs nothing."""
    def widened(x: Array):
        lead = [1] * first
        for d, n in zip(dims, x.shape):
            lead[d] = n
        return x.reshape(*lead, *x.shape[mat.n_batch:])
    return BCOO((widened(mat.data), widened(mat.indices)), shape=(*shape[:first], *mat.shape[mat.n_batch:]),
                indices_sorted=mat.indices_sorted, unique_indices=mat.unique_indices)


def _broadcast_sparse(mat, batch, shape, dims):
    """New sparse axes, and those that grow from 1: each element is stored at every point of them."""
    old, dense = parts(mat)[1:]
    new = [d for d in range(len(shape)) if d not in dims or old[dims.index(d)] != shape[d]]
    if not new and len(dims) == len(shape):
        return BCOO((mat.data, mat.indices), shape=(*batch, *shape, *dense), indices_sorted=mat.indices_sorted,
                    unique_indices=mat.unique_indices)
    size, dtype = math.prod(shape[d] for d in new), mat.indices.dtype
    grid = np.stack(np.meshgrid(*[np.arange(shape[d]) for d in new], indexing="ij"), -1).reshape(size, len(new))
    inside = valid(mat.indices, old)[..., :, None]
    columns = []
    for d in range(len(shape)):
        if d in new:
            column = jnp.where(inside, jnp.asarray(grid[:, new.index(d)], dtype), shape[d])
        else:
            column = jnp.broadcast_to(mat.indices[..., dims.index(d)][..., None], (*mat.indices.shape[:-1], size))
        columns.append(column)
    lead = mat.indices.shape[:-2]
    indices = jnp.stack(columns, -1).reshape(*lead, mat.nse * size, len(shape))
    data = jnp.repeat(mat.data, size, axis=mat.n_batch, total_repeat_length=mat.nse * size)
    trailing = new == list(range(len(shape) - len(new), len(shape)))
    return BCOO((data, indices), shape=(*batch, *shape, *dense), unique_indices=mat.unique_indices,
                indices_sorted=mat.indices_sorted and trailing)


def _broadcast_dense(mat, shape, dims):
    a = mat.n_batch
    dense = shape[a + mat.n_sparse:]
    lead = mat.data.shape[:a + 1]
    data = lax.broadcast_in_dim(mat.data, (*lead, *dense), (*range(a + 1), *(a + 1 + d for d in dims)))
    return BCOO((data, mat.indices), shape=shape, indices_sorted=mat.indices_sorted, unique_indices=mat.unique_indices)


def bcoo_concatenate(operands: Sequence[BCOO], *, dimension: int) -> BCOO:
    """BCOO arrays of one layout joined along an axis.

    Raises:
      ValueError: nothing to join, or shapes or layouts that do not fit, or an operand that is not BCOO.

    >>> from jax.experimental import sparse
    >>> sparse.bcoo_concatenate([sparse.eye(2), sparse.eye(2)], dimension=0).shape
    (4, 2)
    """
    operands = list(operands)
    if not operands:
        raise ValueError("bcoo_concatenate: nothing to concatenate")
    if not all(isinstance(m, BCOO) for m in operands):
        raise ValueError(f"bcoo_concatenate: all operands must be BCOO, got {[type(m).__name__ for m in operands]}")
    first, dimension = operands[0], operator.index(dimension)
    if len({(m.n_batch, m.n_sparse, m.n_dense) for m in operands}) > 1:
        raise ValueError(f"bcoo_concatenate: the operands need one layout, got {operands}")
    rest = [m.shape[:dimension] + m.shape[dimension + 1:] for m in operands]
    if not 0 <= dimension < first.ndim or any(r != rest[0] for r in rest):
        raise TypeError(f"bcoo_concatenate: shapes {[m.shape for m in operands]} along dimension {dimension}")
    shape = (*first.shape[:dimension], sum(m.shape[dimension] for m in operands), *first.shape[dimension + 1:])
    operands = [full_batch(m) for m in operands]
    if dimension < first.n_batch:
        return _concatenate_batches(operands, dimension, shape)
    offsets = np.cumsum([0, *(m.shape[dimension] for m in operands)])[:-1]
    if dimension >= first.n_batch + first.n_sparse:
        axis = dimension - first.n_sparse + 1
        data = [jnp.pad(m.data, [(int(o), shape[dimension] - int(o) - m.shape[dimension]) if k == axis else (0, 0)
                                 for k in range(m.data.ndim)]) for m, o in zip(operands, offsets)]
        indices = [m.indices for m in operands]
    else:
        data, indices = [m.data for m in operands], [_shifted(m, dimension - m.n_batch, int(o), shape)
                                                     for m, o in zip(operands, offsets)]
    along = first.n_batch
    on_sparse = dimension < first.n_batch + first.n_sparse
    return BCOO((jnp.concatenate(data, along), jnp.concatenate(indices, along)), shape=shape,
                unique_indices=on_sparse and all(m.unique_indices for m in operands))


def _shifted(mat, column, offset, shape):
    """Coordinates moved along one sparse axis; padding goes to the corner of the new shape."""
    old, new = parts(mat)[1], shape[mat.n_batch:mat.n_batch + mat.n_sparse]
    step = np.zeros(mat.n_sparse, mat.indices.dtype)
    step[column] = offset
    return jnp.where(valid(mat.indices, old)[..., None], mat.indices + row(step, mat.indices), jnp.asarray(new, mat.indices.dtype))


def _concatenate_batches(operands, dimension, shape):
    nse = max(m.nse for m in operands)
    padded = [pad_nse(m, nse) for m in operands]
    return BCOO((jnp.concatenate([m.data for m in padded], dimension), jnp.concatenate([m.indices for m in padded], dimension)),
                shape=shape, indices_sorted=all(m.indices_sorted for m in operands),
                unique_indices=all(m.unique_indices for m in operands))


@takes(mat=BCOO)
def pad_nse(mat: BCOO, nse: int) -> BCOO:
    """``mat`` with padding at the end, so that ``nse`` elements are stored."""
    extra = nse - mat.nse
    if extra == 0:
        return mat
    a = mat.n_batch
    data = jnp.pad(mat.data, [(0, extra) if k == a else (0, 0) for k in range(mat.data.ndim)])
    corner = jnp.broadcast_to(jnp.asarray(parts(mat)[1], mat.indices.dtype), (*mat.indices.shape[:a], extra, mat.n_sparse))
    return BCOO((data, jnp.concatenate([mat.indices, corner], a)), shape=mat.shape, indices_sorted=mat.indices_sorted,
                unique_indices=mat.unique_indices)


@takes(mat=BCOO)
def bcoo_reshape(mat: BCOO, *, new_sizes: Sequence[int], dimensions: Sequence[int] | None = None,
                 sharding: Placement | None = None) -> BCOO:
    """The elements in another shape, in which batch, sparse and dense axes stay apart.

    Args:
      mat: an array.
      new_sizes: the shape.
      dimensions: order of the axes to read in; see `lax.reshape`.

    Raises:
      ValueError: the sizes differ, or axes of different kinds would be joined.

    >>> from jax.experimental import sparse
    >>> sparse.bcoo_reshape(sparse.eye(2), new_sizes=(4,)).todense()
    Array([1., 0., 0., 1.], dtype=float32)
    """
    require_none("bcoo_reshape", sharding=sharding)
    if dimensions is not None and tuple(dimensions) != tuple(range(mat.ndim)):
        mat = bcoo_transpose(mat, permutation=dimensions)
    new, old = static_shape(new_sizes), parts(mat)
    if math.prod(new) != mat.size:
        raise ValueError(f"bcoo_reshape: cannot reshape {mat} to {new}")
    a = _split(new, math.prod(old[0]), mat.n_batch)
    b = None if a is None else _split(new[a:], math.prod(old[1]), mat.n_sparse, longest=not mat.n_dense)
    if b is None or math.prod(new[a + b:]) != math.prod(old[2]):
        raise ValueError(f"bcoo_reshape: {mat} to {new} would join batch, sparse and dense axes; change the layout first, with "
                         "update_layout")
    batch, points, dense = new[:a], new[a:a + b], new[a + b:]
    mat = full_batch(mat)
    data = mat.data.reshape(*batch, mat.nse, *dense)
    indices = mat.indices.reshape(*batch, mat.nse, mat.n_sparse)
    if points != old[1]:
        indices = _renumbered(indices, old[1], points)
    return BCOO((data, indices), shape=new, indices_sorted=mat.indices_sorted, unique_indices=mat.unique_indices)


def _split(sizes, total, wanted, longest=False):
    """How many leading ``sizes`` have the product ``total``: ``wanted`` if it is possible, else the most or the fewest."""
    fits = [k for k in range(len(sizes) + 1) if math.prod(sizes[:k]) == total]
    if not fits:
        return None
    if longest:
        return fits[-1]
    return wanted if wanted in fits else fits[0]


def _renumbered(indices, old, new):
    inside = valid(indices, old)
    position = jnp.zeros(indices.shape[:-1], indices.dtype)
    for d, n in enumerate(old):
        position = position * n + indices[..., d]
    found = []
    for n in reversed(new):
        found.append(position % max(n, 1))
        position = position // max(n, 1)
    found = jnp.stack(found[::-1], -1) if found else jnp.zeros((*indices.shape[:-1], 0), indices.dtype)
    return jnp.where(inside[..., None], found, jnp.asarray(new, indices.dtype))


@takes(operand=BCOO)
def bcoo_rev(operand: BCOO, dimensions: Sequence[int]) -> BCOO:
    """The order of elements along some axes reversed.

    Raises:
      ValueError: an axis that there is not.

    >>> from jax.experimental import sparse
    >>> sparse.bcoo_rev(sparse.BCOO.fromdense(jnp.array([0, 0, 7])), dimensions=(0,)).todense()
    Array([7, 0, 0], dtype=int32)
    """
    dims = {canonical_axis(d, operand.ndim, "bcoo_rev: dimensions") for d in dimensions}
    a, b = operand.n_batch, operand.n_batch + operand.n_sparse
    data, indices = operand.data, operand.indices
    on_batch = [d for d in dims if d < a]
    data = jnp.flip(data, [*on_batch, *(d - operand.n_sparse + 1 for d in dims if d >= b)])
    indices = jnp.flip(indices, on_batch)
    points = [d - a for d in dims if a <= d < b]
    if points:
        shape = parts(operand)[1]
        turned = jnp.stack([shape[d] - 1 - indices[..., d] if d in points else indices[..., d]
                            for d in range(operand.n_sparse)], -1)
        indices = jnp.where(valid(indices, shape)[..., None], turned, jnp.asarray(shape, indices.dtype))
    return BCOO((data, indices), shape=operand.shape, unique_indices=operand.unique_indices,
                indices_sorted=operand.indices_sorted and not points)


@takes(mat=BCOO)
def bcoo_slice(mat: BCOO, *, start_indices: Sequence[int], limit_indices: Sequence[int],
               strides: Sequence[int] | None = None) -> BCOO:
    """The part from ``start_indices`` to ``limit_indices``; see `lax.slice`.

    Raises:
      ValueError: limits that are not inside of the shape, or not one for each axis.

    >>> from jax.experimental import sparse
    >>> sparse.bcoo_slice(sparse.eye(3), start_indices=(0, 0), limit_indices=(2, 2)).todense()
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    start, limit = static_shape(start_indices), static_shape(limit_indices)
    strides = (1,) * mat.ndim if strides is None else static_shape(strides)
    if not len(start) == len(limit) == len(strides) == mat.ndim:
        raise ValueError(f"bcoo_slice: needs one start, limit and stride for each axis of {mat}, got {start}, {limit}, {strides}")
    if any(not 0 <= s <= e <= n or k < 1 for s, e, k, n in zip(start, limit, strides, mat.shape)):
        raise ValueError(f"bcoo_slice: {start} to {limit} by {strides} is not inside of {mat}")
    shape = tuple(max(0, -(-(e - s) // k)) for s, e, k in zip(start, limit, strides))
    return _cut(mat, start, shape, strides)


@takes(mat=BCOO)
def bcoo_dynamic_slice(mat: BCOO, start_indices: Sequence[object], slice_sizes: Sequence[int]) -> BCOO:
    """The part of shape ``slice_sizes`` that begins at ``start_indices``, moved inside of the shape; see `lax.dynamic_slice`.

    Raises:
      TypeError: sizes that do not fit.

    >>> from jax.experimental import sparse
    >>> sparse.bcoo_dynamic_slice(sparse.eye(3), (1, 1), slice_sizes=(2, 2)).todense()
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    sizes, starts = static_shape(slice_sizes), [jnp.asarray(s) for s in start_indices]
    if len(sizes) != mat.ndim or len(starts) != mat.ndim or any(not 0 <= s <= n for s, n in zip(sizes, mat.shape)):
        raise TypeError(f"bcoo_dynamic_slice: {len(starts)} starts and sizes {sizes} for {mat}")
    starts = [jnp.clip(jnp.where(s < 0, s + n, s), 0, n - k) for s, n, k in zip(starts, mat.shape, sizes)]
    return _cut(mat, starts, sizes, (1,) * mat.ndim)


def _cut(mat, start, shape, strides):
    a, b = mat.n_batch, mat.n_batch + mat.n_sparse
    data, indices = mat.data, mat.indices
    for d in (*range(a), *range(b, mat.ndim)):
        if shape[d] == mat.shape[d] and strides[d] == 1:
            continue
        if d >= b or data.shape[d] != 1 or mat.shape[d] == 1:
            data = _take(data, d if d < a else d - mat.n_sparse + 1, start[d], shape[d], strides[d])
        elif shape[d] == 0:
            data = _take(data, d, 0, 0, 1)
        if d < a and (indices.shape[d] != 1 or mat.shape[d] == 1):
            indices = _take(indices, d, start[d], shape[d], strides[d])
        elif d < a and shape[d] == 0:
            indices = _take(indices, d, 0, 0, 1)
    touched = [d for d in range(a, b) if shape[d] != mat.shape[d] or strides[d] != 1]
    new = shape[a:b]
    if touched:
        dtype = indices.dtype
        begin = jnp.stack([jnp.asarray(s, dtype) for s in start[a:b]])
        step = row(strides[a:b], indices)
        moved = indices - row(begin, indices)
        inside = jnp.all((moved >= 0) & (moved % step == 0) & (moved // step < row(new, indices)), axis=-1)
        inside = inside & valid(indices, mat.shape[a:b])
        indices = jnp.where(inside[..., None], moved // step, jnp.asarray(new, dtype))
        data = stored_where(inside[(..., *(None,) * mat.n_dense)], data)
    out = BCOO((data, indices), shape=tuple(shape), unique_indices=mat.unique_indices,
               indices_sorted=mat.indices_sorted and not touched)
    few = math.prod(new)
    return bcoo_sum_duplicates(out, few) if touched and few < out.nse else out


def _take(x, axis, start, size, stride):
    if isinstance(start, int):
        index = [slice(None)] * x.ndim
        index[axis] = slice(start, start + (size - 1) * stride + 1 if size else start, stride)
        return x[tuple(index)]
    return lax.dynamic_slice_in_dim(x, start, size, axis)


@takes(arr=BCOO)
def bcoo_squeeze(arr: BCOO, *, dimensions: Sequence[int]) -> BCOO:
    """Axes of length 1 removed.

    Raises:
      ValueError: an axis of another length.

    >>> from jax.experimental import sparse
    >>> sparse.bcoo_squeeze(sparse.BCOO.fromdense(jnp.array([[0, 7]])), dimensions=(0,)).todense()
    Array([0, 7], dtype=int32)
    """
    dims = {canonical_axis(d, arr.ndim, "bcoo_squeeze: dimensions") for d in dimensions}
    if any(arr.shape[d] != 1 for d in dims):
        raise ValueError(f"bcoo_squeeze: dimensions {sorted(dims)} of {arr} must have length 1")
    a, b = arr.n_batch, arr.n_batch + arr.n_sparse
    shape = tuple(n for d, n in enumerate(arr.shape) if d not in dims)
    on_batch = tuple(d for d in dims if d < a)
    data = jnp.squeeze(arr.data, (*on_batch, *(d - arr.n_sparse + 1 for d in dims if d >= b)))
    indices = jnp.squeeze(arr.indices, on_batch)
    kept = [d - a for d in range(a, b) if d not in dims]
    if len(kept) < arr.n_sparse:
        inside = valid(arr.indices, arr.shape[a:b])
        if not kept:  # without coordinates nothing can be marked as padding
            data = stored_where(jnp.squeeze(inside, on_batch)[(..., *(None,) * (data.ndim - inside.ndim + len(on_batch)))], data)
        corner = jnp.asarray([arr.shape[a + d] for d in kept], indices.dtype)
        indices = jnp.where(jnp.squeeze(inside, on_batch)[..., None], indices[..., np.asarray(kept, int)], corner)
    return BCOO((data, indices), shape=shape, indices_sorted=arr.indices_sorted,
                unique_indices=arr.unique_indices)


@takes(mat=BCOO)
def bcoo_reduce_sum(mat: BCOO, *, axes: Sequence[int]) -> BCOO:
    """Sums along axes, in the dtype of `jax.numpy.sum`. Over sparse and batch axes nothing is added yet: elements come to stand at the same point.

    Raises:
      ValueError: an axis that there is not.

    >>> from jax.experimental import sparse
    >>> m = sparse.BCOO.fromdense(jnp.array([[1, 5], [2, 0]]))
    >>> sparse.bcoo_reduce_sum(m, axes=(0,)).todense()
    Array([3, 5], dtype=int32)
    """
    return summed(mat.astype(sum_dtype(mat.dtype)), axes)


def summed(mat: BCOO, axes: Sequence[int]) -> BCOO:
    """`bcoo_reduce_sum` in the dtype of ``mat``."""
    over = {canonical_axis(d, mat.ndim, "bcoo_reduce_sum: axes") for d in axes}
    a, b = mat.n_batch, mat.n_batch + mat.n_sparse
    shape = tuple(n for d, n in enumerate(mat.shape) if d not in over)
    mat = full_batch(mat) if any(d < a for d in over) else mat
    data, indices = mat.data, mat.indices
    dense = tuple(d - mat.n_sparse + 1 for d in over if d >= b)
    if dense:
        data = jnp.sum(data, dense, dtype=data.dtype)
    kept = [d for d in range(mat.n_sparse) if d + a not in over]
    if len(kept) < mat.n_sparse:
        inside = valid(indices, mat.shape[a:b])
        data = jnp.where(inside[(..., *(None,) * (data.ndim - a - 1))], data, 0)
        corner = jnp.asarray([mat.shape[a + d] for d in kept], indices.dtype)
        indices = jnp.where(inside[..., None], indices[..., np.asarray(kept, int)], corner)
    summed = [d for d in range(a) if d in over]
    if summed:
        rest = [d for d in range(a) if d not in over]
        lead = [mat.shape[d] for d in rest]
        count = math.prod(mat.shape[d] for d in summed) * mat.nse

        def joined(x):
            return x.transpose([*rest, *summed, *range(a, x.ndim)]).reshape(*lead, count, *x.shape[a + 1:])
        data, indices = joined(data), joined(indices)
    untouched = len(kept) == mat.n_sparse and not summed
    return BCOO((data, indices), shape=shape, indices_sorted=untouched and mat.indices_sorted,
                unique_indices=untouched and mat.unique_indices)


# -- indexing ------------------------------------------------------------------------------------------------------------

@takes(operand=BCOO)
def bcoo_gather(operand: BCOO, start_indices: ArrayLike, dimension_numbers: GatherDimensionNumbers, slice_sizes: Sequence[int], *,
                unique_indices: bool = False, indices_are_sorted: bool = False, mode: str | None = None,
                fill_value: ArrayLike | None = None) -> BCOO:
    """Slices of ``operand`` at traced positions; see `lax.gather`.

    Each position is one `bcoo_dynamic_slice`; the axes of positions become leading batch axes, and are sparse where ``offset_dims``
    want them behind others. ``unique_indices`` and
    ``indices_are_sorted`` promise what makes no difference here.

    Raises:
      NotImplementedError: operand batches, or a mode that fills.

    >>> from jax.experimental import sparse
    >>> rows = jax.lax.GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,))
    >>> sparse.bcoo_gather(sparse.eye(3), jnp.array([[2]]), rows, (1, 3)).todense()
    Array([[0., 0., 1.]], dtype=float32)
    """
    offset, collapsed = tuple(dimension_numbers.offset_dims), tuple(dimension_numbers.collapsed_slice_dims)
    start_map = tuple(dimension_numbers.start_index_map)
    start_indices = jnp.asarray(start_indices)
    n = start_indices.ndim - 1
    if tuple(dimension_numbers.operand_batching_dims):
        raise NotImplementedError("bcoo_gather: operand_batching_dims are not supported")
    if fill_value is not None or "FILL" in str(mode).upper() and not _all_inside(operand, start_indices, start_map, slice_sizes):
        raise NotImplementedError(f"bcoo_gather: mode={mode} with positions that may be outside is not supported; use mode='clip'")

    def one(position):
        starts = [jnp.zeros((), start_indices.dtype)] * operand.ndim
        for k, d in enumerate(start_map):
            starts[d] = position[k]
        return bcoo_squeeze(bcoo_dynamic_slice(operand, starts, slice_sizes), dimensions=collapsed)
    fun = one
    for _ in range(n):
        fun = vmap(fun)
    out = fun(start_indices)
    axes = iter(range(n))
    order = [n + offset.index(d) if d in offset else next(axes) for d in range(out.ndim)]
    if order == list(range(out.ndim)):
        return out
    return bcoo_transpose(bcoo_update_layout(out, n_batch=0, n_dense=0), permutation=order)


def _all_inside(operand, starts, start_map, sizes):
    """Whether it is known now that no slice leaves the operand."""
    known = concrete(starts)
    if known is None:
        return False
    known = np.asarray(known)
    return all(np.all((known[..., k] >= 0) & (known[..., k] + sizes[d] <= operand.shape[d])) for k, d in enumerate(start_map))
