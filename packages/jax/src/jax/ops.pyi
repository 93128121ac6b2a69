"""Types of `jax.ops`. Written by packages/jax/tools/make_stubs.py."""
import numpy as np
from jax import Array, Device
from jax.sharding import PartitionSpec, Sharding
from jax.typing import ArrayLike
from types import EllipsisType
from typing import Any

index: Any
def index_add(x: ArrayLike, idx: int | slice | Array | np.ndarray | np.bool | np.number | bool | float | complex | EllipsisType | None | tuple, y: ArrayLike, indices_are_sorted: bool = False, unique_indices: bool = False) -> Array:
    """``x`` with ``y`` added at ``idx``; today's form is ``x.at[idx].add(y)``."""
def index_max(x: ArrayLike, idx: int | slice | Array | np.ndarray | np.bool | np.number | bool | float | complex | EllipsisType | None | tuple, y: ArrayLike, indices_are_sorted: bool = False, unique_indices: bool = False) -> Array:
    """``x`` with the larger of ``x[idx]`` and ``y`` at ``idx``; today's form is ``x.at[idx].max(y)``."""
def index_min(x: ArrayLike, idx: int | slice | Array | np.ndarray | np.bool | np.number | bool | float | complex | EllipsisType | None | tuple, y: ArrayLike, indices_are_sorted: bool = False, unique_indices: bool = False) -> Array:
    """``x`` with the smaller of ``x[idx]`` and ``y`` at ``idx``; today's form is ``x.at[idx].min(y)``."""
def index_mul(x: ArrayLike, idx: int | slice | Array | np.ndarray | np.bool | np.number | bool | float | complex | EllipsisType | None | tuple, y: ArrayLike, indices_are_sorted: bool = False, unique_indices: bool = False) -> Array:
    """``x`` multiplied by ``y`` at ``idx``; today's form is ``x.at[idx].multiply(y)``."""
def index_update(x: ArrayLike, idx: int | slice | Array | np.ndarray | np.bool | np.number | bool | float | complex | EllipsisType | None | tuple, y: ArrayLike, indices_are_sorted: bool = False, unique_indices: bool = False) -> Array:
    """``x`` with ``x[idx]`` replaced by ``y``; today's form is ``x.at[idx].set(y)``."""
def segment_max(data: ArrayLike, segment_ids: ArrayLike, num_segments: int | None = None, indices_are_sorted: bool = False, unique_indices: bool = False, bucket_size: int | None = None, mode: str | None = None, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Largest rows of ``data`` by segment; the dtype's lowest value for empty segments. See `segment_sum`."""
def segment_min(data: ArrayLike, segment_ids: ArrayLike, num_segments: int | None = None, indices_are_sorted: bool = False, unique_indices: bool = False, bucket_size: int | None = None, mode: str | None = None, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Smallest rows of ``data`` by segment; the dtype's highest value for empty segments. See `segment_sum`."""
def segment_prod(data: ArrayLike, segment_ids: ArrayLike, num_segments: int | None = None, indices_are_sorted: bool = False, unique_indices: bool = False, bucket_size: int | None = None, mode: str | None = None, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Products of the rows of ``data`` by segment; 1 for empty segments. See `segment_sum`."""
def segment_sum(data: ArrayLike, segment_ids: ArrayLike, num_segments: int | None = None, indices_are_sorted: bool = False, unique_indices: bool = False, bucket_size: int | None = None, mode: str | None = None, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Sums of the rows of ``data`` by segment."""
