"""Types of `jax.experimental.sparse.bcoo`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array, Device
from jax.experimental.sparse import BCOO
from jax.lax import DotAlgorithm, DotAlgorithmPreset, GatherDimensionNumbers, Precision
from jax.sharding import PartitionSpec, Sharding
from jax.typing import ArrayLike, DTypeLike
from typing import Any, Callable, NamedTuple, Sequence, TypeAlias
from jax.experimental.sparse import BCOO as BCOO
from jax.experimental.sparse import CuSparseEfficiencyWarning as CuSparseEfficiencyWarning
from jax.experimental.sparse import JAXSparse as JAXSparse
from jax.experimental.sparse import SparseEfficiencyError as SparseEfficiencyError
from jax.experimental.sparse import SparseEfficiencyWarning as SparseEfficiencyWarning

class BCOOProperties(NamedTuple):
    """Numbers of axes of each kind, and of stored elements."""
    n_batch: int
    n_sparse: int
    n_dense: int
    nse: int
class Buffer:
    """What has a shape and a dtype."""
    shape: tuple[int, ...]
    dtype: Any
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
CUSPARSE_DATA_DTYPES: list
CUSPARSE_INDEX_DTYPES: list
Shape: TypeAlias = tuple[int, ...]
class SparseInfo(NamedTuple):
    """What a primitive has to know of a sparse operand besides its buffers."""
    shape: Any
    indices_sorted: bool = ...
    unique_indices: bool = ...
def bcoo_broadcast_in_dim(mat: BCOO, *, shape: Sequence[int], broadcast_dimensions: Sequence[int], sharding: Sharding | PartitionSpec | Device | None = None) -> BCOO:
    """``mat`` with its axes at ``broadcast_dimensions`` of a larger ``shape``; see `lax.broadcast_in_dim`."""
def bcoo_concatenate(operands: Sequence[BCOO], *, dimension: int) -> BCOO:
    """BCOO arrays of one layout joined along an axis."""
def bcoo_conv_general_dilated(lhs: BCOO | ArrayLike, rhs: BCOO | ArrayLike, *, window_strides: Sequence[int], padding: str | Sequence[tuple[int, int]], lhs_dilation: Sequence[int] | None = None, rhs_dilation: Sequence[int] | None = None, dimension_numbers: tuple[str, str, str] | None = None, feature_group_count: int = 1, batch_group_count: int = 1, precision: None | str | Precision | tuple[str, str] | tuple[Precision, Precision] | DotAlgorithm | DotAlgorithmPreset = None, preferred_element_type: DTypeLike | None = None, out_sharding: Sharding | PartitionSpec | Device | None = None) -> BCOO:
    """`lax.conv_general_dilated` of BCOO arrays in one spatial dimension, one batch and one channel."""
def bcoo_dot_general(lhs: BCOO | ArrayLike, rhs: BCOO | ArrayLike, *, dimension_numbers: tuple[tuple[Sequence[int], Sequence[int]], tuple[Sequence[int], Sequence[int]]], precision: None | str | Precision | tuple[str, str] | tuple[Precision, Precision] | DotAlgorithm | DotAlgorithmPreset = None, preferred_element_type: DTypeLike | None = None, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Any:
    """`lax.dot_general` where one operand, or both, are BCOO."""
bcoo_dot_general_p: Any
def bcoo_dot_general_sampled(A: ArrayLike, B: ArrayLike, indices: ArrayLike, *, dimension_numbers: tuple[tuple[Sequence[int], Sequence[int]], tuple[Sequence[int], Sequence[int]]]) -> Array:
    """The elements at ``indices`` (..., nse, n_sparse) of ``lax.dot_general(A, B, dimension_numbers)``, and no others."""
bcoo_dot_general_sampled_p: Any
def bcoo_dynamic_slice(mat: BCOO, start_indices: Sequence[object], slice_sizes: Sequence[int]) -> BCOO:
    """The part of shape ``slice_sizes`` that begins at ``start_indices``, moved inside of the shape; see `lax.dynamic_slice`."""
def bcoo_eliminate_zeros(mat: BCOO, nse: int | None = None) -> BCOO:
    """`bcoo_sum_duplicates` without stored elements that are 0."""
def bcoo_extract(sparr: BCOO, arr: ArrayLike, *, assume_unique: bool | None = None) -> BCOO:
    """The elements of the dense ``arr`` at the points that ``sparr`` stores."""
bcoo_extract_p: Any
def bcoo_fromdense(mat: ArrayLike, *, nse: int | None = None, n_batch: int = 0, n_dense: int = 0, index_dtype: DTypeLike = ...) -> BCOO:
    """The elements of ``mat`` that are not 0."""
bcoo_fromdense_p: Any
def bcoo_gather(operand: BCOO, start_indices: ArrayLike, dimension_numbers: GatherDimensionNumbers, slice_sizes: Sequence[int], *, unique_indices: bool = False, indices_are_sorted: bool = False, mode: str | None = None, fill_value: ArrayLike | None = None) -> BCOO:
    """Slices of ``operand`` at traced positions; see `lax.gather`."""
def bcoo_multiply_dense(sp_mat: BCOO, v: ArrayLike) -> Array:
    """The data of ``sp_mat * v``, for a dense ``v`` that can be broadcast to the shape of ``sp_mat``."""
def bcoo_multiply_sparse(lhs: BCOO, rhs: BCOO) -> BCOO:
    """The elementwise product of two BCOO arrays, which are broadcast; the result stores elements where one operand does."""
def bcoo_reduce_sum(mat: BCOO, *, axes: Sequence[int]) -> BCOO:
    """Sums along axes, in the dtype of `jax.numpy.sum`. Over sparse and batch axes nothing is added yet: elements come to stand at the same point."""
def bcoo_reshape(mat: BCOO, *, new_sizes: Sequence[int], dimensions: Sequence[int] | None = None, sharding: Sharding | PartitionSpec | Device | None = None) -> BCOO:
    """The elements in another shape, in which batch, sparse and dense axes stay apart."""
def bcoo_rev(operand: BCOO, dimensions: Sequence[int]) -> BCOO:
    """The order of elements along some axes reversed."""
def bcoo_slice(mat: BCOO, *, start_indices: Sequence[int], limit_indices: Sequence[int], strides: Sequence[int] | None = None) -> BCOO:
    """The part from ``start_indices`` to ``limit_indices``; see `lax.slice`."""
def bcoo_sort_indices(mat: BCOO) -> BCOO:
    """The same elements with rising coordinates, those of padding too."""
bcoo_sort_indices_p: Any
bcoo_spdot_general_p: Any
def bcoo_squeeze(arr: BCOO, *, dimensions: Sequence[int]) -> BCOO:
    """Axes of length 1 removed."""
def bcoo_sum_duplicates(mat: BCOO, nse: int | None = None) -> BCOO:
    """Elements at one point added to one, in rising order."""
bcoo_sum_duplicates_p: Any
def bcoo_todense(mat: BCOO) -> Array:
    """The dense array; elements at one point are added, padding is left out."""
bcoo_todense_p: Any
def bcoo_transpose(mat: BCOO, *, permutation: Sequence[int]) -> BCOO:
    """The axes in another order."""
bcoo_transpose_p: Any
def bcoo_update_layout(mat: BCOO, *, n_batch: int | None = None, n_dense: int | None = None, on_inefficient: str | None = 'error') -> BCOO:
    """The same array with other numbers of batch and dense axes."""
def nfold_vmap(fun: Callable[..., Any], N: int, *, broadcasted: bool = True, in_axes: Any = 0) -> Callable[..., Any]:
    """``fun`` mapped over ``N`` leading axes; with ``broadcasted`` axes of length 1 are repeated."""
