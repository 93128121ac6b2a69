"""Types of `jax.nn.initializers`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array, Device
from jax.sharding import PartitionSpec, Sharding
from jax.typing import ArrayLike, DTypeLike
from typing import Any, Sequence

class Initializer:
    """``initializer(key, shape, dtype=None, out_sharding=None)`` returns an array of that shape and dtype."""
    def __call__(self, key: ArrayLike, shape: Sequence[int], dtype: DTypeLike | None = None, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array: ...
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
def constant(value: ArrayLike, dtype: DTypeLike | None = None) -> Initializer:
    """Arrays filled with ``value``."""
def delta_orthogonal(scale: Any = 1.0, column_axis: int = -1, dtype: DTypeLike | None = None) -> Initializer:
    """Convolution kernels (1 to 3 spatial axes first) that are `orthogonal` at their centre and 0 elsewhere."""
def glorot_normal(in_axis: int | Sequence[int] = -2, out_axis: int | Sequence[int] = -1, batch_axis: int | Sequence[int] = ..., dtype: DTypeLike | None = None) -> Initializer:
    """Normal, cut at two standard deviations, with variance 1 over the mean number of inputs and outputs of a unit."""
def glorot_uniform(in_axis: int | Sequence[int] = -2, out_axis: int | Sequence[int] = -1, batch_axis: int | Sequence[int] = ..., dtype: DTypeLike | None = None) -> Initializer:
    """Uniform, with variance 1 over the mean number of inputs and outputs of a unit."""
def he_normal(in_axis: int | Sequence[int] = -2, out_axis: int | Sequence[int] = -1, batch_axis: int | Sequence[int] = ..., dtype: DTypeLike | None = None) -> Initializer:
    """Normal, cut at two standard deviations, with variance 2 over the number of inputs of a unit."""
def he_uniform(in_axis: int | Sequence[int] = -2, out_axis: int | Sequence[int] = -1, batch_axis: int | Sequence[int] = ..., dtype: DTypeLike | None = None) -> Initializer:
    """Uniform, with variance 2 over the number of inputs of a unit."""
def kaiming_normal(in_axis: int | Sequence[int] = -2, out_axis: int | Sequence[int] = -1, batch_axis: int | Sequence[int] = ..., dtype: DTypeLike | None = None) -> Initializer:
    """Normal, cut at two standard deviations, with variance 2 over the number of inputs of a unit."""
def kaiming_uniform(in_axis: int | Sequence[int] = -2, out_axis: int | Sequence[int] = -1, batch_axis: int | Sequence[int] = ..., dtype: DTypeLike | None = None) -> Initializer:
    """Uniform, with variance 2 over the number of inputs of a unit."""
def lecun_normal(in_axis: int | Sequence[int] = -2, out_axis: int | Sequence[int] = -1, batch_axis: int | Sequence[int] = ..., dtype: DTypeLike | None = None) -> Initializer:
    """Normal, cut at two standard deviations, with variance 1 over the number of inputs of a unit."""
def lecun_uniform(in_axis: int | Sequence[int] = -2, out_axis: int | Sequence[int] = -1, batch_axis: int | Sequence[int] = ..., dtype: DTypeLike | None = None) -> Initializer:
    """Uniform, with variance 1 over the number of inputs of a unit."""
def normal(stddev: Any = 0.01, dtype: DTypeLike | None = None) -> Initializer:
    """Normal draws with standard deviation ``stddev``."""
def ones(key: ArrayLike, shape: Sequence[int], dtype: DTypeLike | None = None, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """An array of ones."""
def orthogonal(scale: Any = 1.0, column_axis: int = -1, dtype: DTypeLike | None = None) -> Initializer:
    """Matrices with orthonormal rows or columns (whichever are fewer), times ``scale``."""
def truncated_normal(stddev: Any = 0.01, dtype: DTypeLike | None = None, lower: Any = -2.0, upper: Any = 2.0) -> Initializer:
    """Normal draws cut to ``[lower, upper]``, then times ``stddev``."""
def uniform(scale: Any = 0.01, dtype: DTypeLike | None = None) -> Initializer:
    """Uniform draws from ``[0, scale)``."""
def variance_scaling(scale: Any, mode: str, distribution: str, in_axis: int | Sequence[int] = -2, out_axis: int | Sequence[int] = -1, batch_axis: int | Sequence[int] = ..., dtype: DTypeLike | None = None) -> Initializer:
    """Draws with variance ``scale / fan``."""
def xavier_normal(in_axis: int | Sequence[int] = -2, out_axis: int | Sequence[int] = -1, batch_axis: int | Sequence[int] = ..., dtype: DTypeLike | None = None) -> Initializer:
    """Normal, cut at two standard deviations, with variance 1 over the mean number of inputs and outputs of a unit."""
def xavier_uniform(in_axis: int | Sequence[int] = -2, out_axis: int | Sequence[int] = -1, batch_axis: int | Sequence[int] = ..., dtype: DTypeLike | None = None) -> Initializer:
    """Uniform, with variance 1 over the mean number of inputs and outputs of a unit."""
def zeros(key: ArrayLike, shape: Sequence[int], dtype: DTypeLike | None = None, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """An array of zeros."""
