"""jax.ops: reductions over segments, and the indexed updates of the first releases (``index_update`` and its siblings)."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from jax_core.representation.arguments import integer
from jax_core.representation.array import Array
from jax_core.representation.errors import ConcretizationTypeError
from jax_core.representation.typing import ArrayLike, Placement

from . import numpy as jnp
from .numpy.creation import placed
from .numpy.index_tricks import index_exp as index
from .numpy.promotion import check_arraylike, concrete
from .numpy.reductions import identity_of_max, identity_of_min

if TYPE_CHECKING:
    from jax_core.representation.typing import Indexer

__all__ = ["index", "index_add", "index_max", "index_min", "index_mul", "index_update", "segment_max", "segment_min",
           "segment_prod", "segment_sum"]


def _segments(name: str, data: Any, segment_ids: Any, num_segments: int | None, sorted_ids: bool, unique: bool,
              bucket_size: int | None, mode: Any, out_sharding: Any, start: Any) -> Any:
    check_arraylike(f"segment_{name}", data, segment_ids)
    data, segment_ids = jnp.asarray(data), jnp.asarray(segment_ids)
    if segment_ids.dtype.kind not in "iub":
        raise TypeError(f"segment_{name}: segment_ids must be integers, got {segment_ids.dtype}")
    if segment_ids.ndim != 1 or data.shape[:1] not in ((), (1,), segment_ids.shape):
        raise ValueError(f"segment_{name}: segment_ids must be one-dimensional and as long as the first axis of data, "
                         f"got shapes {segment_ids.shape} and {data.shape}")
    if data.shape[:1] != segment_ids.shape:
        data = jnp.broadcast_to(data, (*segment_ids.shape, *data.shape[1:]))
    if num_segments is None:
        num_segments = int(np.max(_known(name, segment_ids), initial=-1)) + 1
    num_segments = integer(f"segment_{name}: num_segments", num_segments)
    if num_segments < 0:
        raise ValueError(f"segment_{name}: num_segments must not be negative, got {num_segments}")
    method = {"sum": "add", "prod": "multiply"}.get(name, name)  # of ``x.at[...]``
    keys = dict(indices_are_sorted=sorted_ids, unique_indices=unique, mode="drop" if mode is None else mode,
                wrap_negative_indices=False)
    out = jnp.full((num_segments, *data.shape[1:]), start(data.dtype), data.dtype, out_sharding=out_sharding)
    if bucket_size is not None and (bucket_size := integer(f"segment_{name}: bucket_size", bucket_size)) < 1:
        raise ValueError(f"segment_{name}: bucket_size must be 1 or more, got {bucket_size}")
    if bucket_size is None:
        return getattr(out.at[segment_ids], method)(data, out_sharding=out_sharding, **keys)
    rows = -(-data.shape[0] // bucket_size)
    parts = [getattr(out.at[segment_ids[i * bucket_size: (i + 1) * bucket_size]], method)(
        data[i * bucket_size: (i + 1) * bucket_size], out_sharding=out_sharding, **keys) for i in range(rows)]
    stacked = jnp.stack(parts) if parts else out[None]
    totals: dict[str, Callable[..., Array]] = {"sum": jnp.sum, "prod": jnp.prod, "max": jnp.max, "min": jnp.min}
    return placed(totals[name](stacked, 0).astype(data.dtype), None, out_sharding)


def _known(name: str, segment_ids: Any) -> np.ndarray:
    known = concrete(segment_ids)
    if known is None:
        raise ConcretizationTypeError(segment_ids, f"segment_{name} without num_segments looks for the largest of segment_ids; "
                                      "give num_segments where they are traced.")
    return known


def segment_sum(data: ArrayLike, segment_ids: ArrayLike, num_segments: int | None = None, indices_are_sorted: bool = False,
                unique_indices: bool = False, bucket_size: int | None = None, mode: str | None = None,
                out_sharding: Placement | None = None) -> Array:
    """Sums of the rows of ``data`` by segment.

    Args:
      data: ``dtype[n, ...]``; a scalar or a single row, ``dtype[1, ...]``, counts once for each id.
      segment_ids: integers ``[n]``; rows with ids outside ``[0, num_segments)`` are left out.
      num_segments: length of the result; by default one more than the largest id, which must then be known.
      indices_are_sorted, unique_indices: promises about ``segment_ids``.
      bucket_size: sum buckets of so many rows first, for accuracy.
      mode: what happens to ids out of range; default drop.
      out_sharding: placement of the result.

    Returns:
      ``dtype[num_segments, ...]``, 0 for empty segments.

    >>> jax.ops.segment_sum(jnp.array([1, 2, 3]), jnp.array([0, 0, 1]), num_segments=2)
    Array([3, 3], dtype=int32)
    """
    return _segments("sum", data, segment_ids, num_segments, indices_are_sorted, unique_indices, bucket_size, mode, out_sharding,
                     lambda dtype: 0)


def segment_prod(data: ArrayLike, segment_ids: ArrayLike, num_segments: int | None = None, indices_are_sorted: bool = False,
                 unique_indices: bool = False, bucket_size: int | None = None, mode: str | None = None,
                 out_sharding: Placement | None = None) -> Array:
    """Products of the rows of ``data`` by segment; 1 for empty segments. See `segment_sum`.

    >>> jax.ops.segment_prod(jnp.array([1, 2, 3]), jnp.array([0, 0, 1]), num_segments=2)
    Array([2, 3], dtype=int32)
    """
    return _segments("prod", data, segment_ids, num_segments, indices_are_sorted, unique_indices, bucket_size, mode, out_sharding,
                     lambda dtype: 1)


def segment_max(data: ArrayLike, segment_ids: ArrayLike, num_segments: int | None = None, indices_are_sorted: bool = False,
                unique_indices: bool = False, bucket_size: int | None = None, mode: str | None = None,
                out_sharding: Placement | None = None) -> Array:
    """Largest rows of ``data`` by segment; the dtype's lowest value for empty segments. See `segment_sum`.

    >>> jax.ops.segment_max(jnp.array([1, 2, 3]), jnp.array([0, 0, 1]), num_segments=2)
    Array([2, 3], dtype=int32)
    """
    return _segments("max", data, segment_ids, num_segments, indices_are_sorted, unique_indices, bucket_size, mode, out_sharding, identity_of_max)


def segment_min(data: ArrayLike, segment_ids: ArrayLike, num_segments: int | None = None, indices_are_sorted: bool = False,
                unique_indices: bool = False, bucket_size: int | None = None, mode: str | None = None,
                out_sharding: Placement | None = None) -> Array:
    """Smallest rows of ``data`` by segment; the dtype's highest value for empty segments. See `segment_sum`.

    >>> jax.ops.segment_min(jnp.array([1, 2, 3]), jnp.array([0, 0, 1]), num_segments=2)
    Array([1, 3], dtype=int32)
    """
    return _segments("min", data, segment_ids, num_segments, indices_are_sorted, unique_indices, bucket_size, mode, out_sharding, identity_of_min)


def index_update(x: ArrayLike, idx: Indexer, y: ArrayLike,
                 indices_are_sorted: bool = False, unique_indices: bool = False) -> Array:
    """``x`` with ``x[idx]`` replaced by ``y``; today's form is ``x.at[idx].set(y)``.

    >>> jax.ops.index_update(jnp.zeros(3), 1, 5.)
    Array([0., 5., 0.], dtype=float32)
    """
    return jnp.asarray(x).at[idx].set(y, indices_are_sorted=indices_are_sorted, unique_indices=unique_indices)


def index_add(x: ArrayLike, idx: Indexer, y: ArrayLike,
              indices_are_sorted: bool = False, unique_indices: bool = False) -> Array:
    """``x`` with ``y`` added at ``idx``; today's form is ``x.at[idx].add(y)``.

    >>> jax.ops.index_add(jnp.ones(3), jax.ops.index[:2], 5.)
    Array([6., 6., 1.], dtype=float32)
    """
    return jnp.asarray(x).at[idx].add(y, indices_are_sorted=indices_are_sorted, unique_indices=unique_indices)


def index_mul(x: ArrayLike, idx: Indexer, y: ArrayLike,
              indices_are_sorted: bool = False, unique_indices: bool = False) -> Array:
    """``x`` multiplied by ``y`` at ``idx``; today's form is ``x.at[idx].multiply(y)``.

    Args:
      indices_are_sorted, unique_indices: promises that the indices are so.

    >>> jax.ops.index_mul(jnp.ones(3), 0, 5.)
    Array([5., 1., 1.], dtype=float32)
    """
    return jnp.asarray(x).at[idx].multiply(y, indices_are_sorted=indices_are_sorted, unique_indices=unique_indices)


def index_min(x: ArrayLike, idx: Indexer, y: ArrayLike,
              indices_are_sorted: bool = False, unique_indices: bool = False) -> Array:
    """``x`` with the smaller of ``x[idx]`` and ``y`` at ``idx``; today's form is ``x.at[idx].min(y)``.

    >>> jax.ops.index_min(jnp.ones(3), 0, 0.5)
    Array([0.5, 1. , 1. ], dtype=float32)
    """
    return jnp.asarray(x).at[idx].min(y, indices_are_sorted=indices_are_sorted, unique_indices=unique_indices)


def index_max(x: ArrayLike, idx: Indexer, y: ArrayLike,
              indices_are_sorted: bool = False, unique_indices: bool = False) -> Array:
    """``x`` with the larger of ``x[idx]`` and ``y`` at ``idx``; today's form is ``x.at[idx].max(y)``.

    >>> jax.ops.index_max(jnp.ones(3), 0, 0.5)
    Array([1., 1., 1.], dtype=float32)
    """
    return jnp.asarray(x).at[idx].max(y, indices_are_sorted=indices_are_sorted, unique_indices=unique_indices)
