"""Types of `jax.experimental.sparse`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array, Device
from jax.core import Tracer
from jax.experimental.sparse.transform import SparseTrace, SparsifyEnv, SparsifyValue
from jax.lax import DotAlgorithm, DotAlgorithmPreset, GatherDimensionNumbers, Precision
from jax.sharding import PartitionSpec, Sharding
from jax.typing import ArrayLike, DTypeLike
from typing import Any, Callable, Sequence
from jax.experimental.sparse import ad as ad
from jax.experimental.sparse import api as api
from jax.experimental.sparse import bcoo as bcoo
from jax.experimental.sparse import bcsr as bcsr
from jax.experimental.sparse import coo as coo
from jax.experimental.sparse import csr as csr
from jax.experimental.sparse import linalg as linalg
from jax.experimental.sparse import random as random
from jax.experimental.sparse import test_util as test_util
from jax.experimental.sparse import transform as transform
from jax.experimental.sparse import util as util

class BCOO(JAXSparse):
    """An array in batched coordinate format."""
    indices: Any
    indices_sorted: bool
    unique_indices: bool
    def __abs__(self) -> Any: ...
    def __ge__(self, other: object) -> Any: ...
    def __getitem__(self, index: Any) -> Any: ...
    def __gt__(self, other: object) -> Any: ...
    def __init__(self, args: Sequence[ArrayLike], *, shape: Sequence[int], indices_sorted: bool = False, unique_indices: bool = False) -> None: ...
    def __iter__(self) -> Any: ...
    def __le__(self, other: object) -> Any: ...
    def __lt__(self, other: object) -> Any: ...
    def __mul__(self, other: Any) -> Any: ...
    def __pow__(self, other: object) -> Any: ...
    def __rmul__(self, other: Any) -> Any: ...
    def __rpow__(self, other: object) -> Any: ...
    def __rtruediv__(self, other: object) -> Any: ...
    def __truediv__(self, other: object) -> Any: ...
    def astype(self, *args: Any, **kwargs: Any) -> BCOO: ...
    @classmethod
    def from_scipy_sparse(cls, mat: Any, *, index_dtype: DTypeLike | None = None, n_dense: int = 0, n_batch: int = 0) -> BCOO: ...
    @classmethod
    def fromdense(cls, mat: ArrayLike, *, nse: int | None = None, index_dtype: DTypeLike = ..., n_dense: int = 0, n_batch: int = 0) -> BCOO: ...
    @property
    def n_batch(self) -> Any: ...
    @property
    def n_dense(self) -> Any: ...
    @property
    def n_sparse(self) -> Any: ...
    def reshape(self, *args: Any, **kwargs: Any) -> BCOO: ...
    def sort_indices(self) -> BCOO: ...
    def sum_duplicates(self, nse: int | None = None, remove_zeros: bool = True) -> BCOO: ...
    def update_layout(self, *, n_batch: int | None = None, n_dense: int | None = None, on_inefficient: str | None = 'error') -> BCOO: ...
    shape: Any
class BCSR(JAXSparse):
    """An array in batched compressed row format."""
    indices: Any
    indptr: Any
    indices_sorted: bool
    unique_indices: bool
    def __init__(self, args: Sequence[ArrayLike], *, shape: Sequence[int], indices_sorted: bool = False, unique_indices: bool = False) -> None: ...
    @classmethod
    def from_bcoo(cls, arr: BCOO) -> BCSR: ...
    @classmethod
    def from_scipy_sparse(cls, mat: Any, *, index_dtype: DTypeLike | None = None, n_dense: int = 0, n_batch: int = 0) -> BCSR: ...
    @classmethod
    def fromdense(cls, mat: ArrayLike, *, nse: int | None = None, index_dtype: DTypeLike = ..., n_dense: int = 0, n_batch: int = 0) -> BCSR: ...
    @property
    def n_batch(self) -> Any: ...
    @property
    def n_dense(self) -> Any: ...
    n_sparse: int
    def sum_duplicates(self, nse: int | None = None, remove_zeros: bool = True) -> BCSR: ...
    def to_bcoo(self) -> BCOO: ...
    def transpose(self, *args: Any, **kwargs: Any) -> BCSR: ...
    shape: Any
class COO(JAXSparse):
    """A matrix in coordinate format. Operators other than ``@`` work through BCOO and return it."""
    row: Any
    col: Any
    def __init__(self, args: Sequence[ArrayLike], *, shape: Sequence[int], rows_sorted: bool = False, cols_sorted: bool = False) -> None: ...
    def __matmul__(self, other: Any) -> Any: ...
    @classmethod
    def fromdense(cls, mat: ArrayLike, *, nse: int | None = None, index_dtype: DTypeLike = ...) -> COO: ...
    def to_bcoo(self) -> BCOO: ...
class CSC(JAXSparse):
    """A matrix in compressed column format: the buffers of the transposed matrix in CSR."""
    indices: Any
    indptr: Any
    def __init__(self, args: Sequence[ArrayLike], *, shape: Sequence[int]) -> None: ...
    def __matmul__(self, other: Any) -> Any: ...
    @classmethod
    def fromdense(cls, mat: ArrayLike, *, nse: int | None = None, index_dtype: DTypeLike = ...) -> CSC: ...
    def to_bcoo(self) -> BCOO: ...
class CSR(JAXSparse):
    """A matrix in compressed row format."""
    indices: Any
    indptr: Any
    def __init__(self, args: Sequence[ArrayLike], *, shape: Sequence[int]) -> None: ...
    def __matmul__(self, other: Any) -> Any: ...
    @classmethod
    def fromdense(cls, mat: ArrayLike, *, nse: int | None = None, index_dtype: DTypeLike = ...) -> CSR: ...
    def to_bcoo(self) -> BCOO: ...
class CuSparseEfficiencyWarning(SparseEfficiencyWarning):
    """A product cannot use the vendor's library."""
class JAXSparse:
    """A sparse array: buffers and a shape. Formats derive from it and are pytrees of their buffers."""
    data: Any
    shape: tuple[int, ...]
    nse: Any
    dtype: Any
    @property
    def T(self) -> Any: ...
    def __add__(self, other: object) -> Any: ...
    def __getitem__(self, index: Any) -> Any: ...
    def __init__(self, args: Sequence[ArrayLike], *, shape: Sequence[int]) -> None: ...
    def __len__(self) -> Any: ...
    def __matmul__(self, other: object) -> Any: ...
    def __mul__(self, other: object) -> Any: ...
    def __neg__(self) -> Any: ...
    def __pos__(self) -> Any: ...
    def __radd__(self, other: object) -> Any: ...
    def __rmatmul__(self, other: object) -> Any: ...
    def __rmul__(self, other: object) -> Any: ...
    def __rsub__(self, other: object) -> Any: ...
    def __sub__(self, other: object) -> Any: ...
    def block_until_ready(self) -> JAXSparse: ...
    @property
    def ndim(self) -> Any: ...
    @property
    def size(self) -> Any: ...
    def sum(self, *args: Any, **kwargs: Any) -> Any: ...
    def todense(self) -> Array: ...
    def transpose(self, axes: int | Sequence[int] | None = None) -> JAXSparse: ...
    def tree_flatten(self) -> tuple: ...
    @classmethod
    def tree_unflatten(cls, aux_data: Any, children: Sequence[Any]) -> JAXSparse: ...
class SparseEfficiencyError(ValueError):
    """A conversion would store far more elements than before."""
class SparseEfficiencyWarning(UserWarning):
    """An operation stores, or computes, more than it seems to need."""
class SparseTracer(Tracer):
    """Stands for the sparse array ``spvalue`` of its trace's environment; looks dense."""
    def __init__(self, trace: SparseTrace, *, spvalue: SparsifyValue) -> None: ...
    @property
    def spenv(self) -> SparsifyEnv: ...
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
def bcsr_broadcast_in_dim(mat: BCSR, *, shape: Sequence[int], broadcast_dimensions: Sequence[int], sharding: Sharding | PartitionSpec | Device | None = None) -> BCSR:
    """See `bcoo_broadcast_in_dim`; the result needs two sparse axes."""
def bcsr_concatenate(operands: Sequence[BCSR], *, dimension: int) -> BCSR:
    """BCSR arrays of one layout joined along an axis; see `bcoo_concatenate`."""
def bcsr_dot_general(lhs: BCSR | ArrayLike, rhs: ArrayLike, *, dimension_numbers: tuple[tuple[Sequence[int], Sequence[int]], tuple[Sequence[int], Sequence[int]]], precision: None | str | Precision | tuple[str, str] | tuple[Precision, Precision] | DotAlgorithm | DotAlgorithmPreset = None, preferred_element_type: DTypeLike | None = None, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """`lax.dot_general` where an operand is BCSR; see `bcoo_dot_general`."""
bcsr_dot_general_p: Any
def bcsr_extract(indices: ArrayLike, indptr: ArrayLike, mat: ArrayLike) -> Array:
    """The elements of the dense ``mat`` at the points that ``indices`` and ``indptr`` store, in their order."""
bcsr_extract_p: Any
def bcsr_fromdense(mat: ArrayLike, *, nse: int | None = None, n_batch: int = 0, n_dense: int = 0, index_dtype: DTypeLike = ...) -> BCSR:
    """The elements of ``mat`` that are not 0; see `bcoo_fromdense`."""
bcsr_fromdense_p: Any
def bcsr_sum_duplicates(mat: BCSR, nse: int | None = None) -> BCSR:
    """Each column at most once in a row; see `bcoo_sum_duplicates`."""
def bcsr_todense(mat: BCSR) -> Array:
    """The dense array."""
bcsr_todense_p: Any
def coo_fromdense(mat: ArrayLike, *, nse: int | None = None, index_dtype: DTypeLike = ...) -> COO:
    """The elements of a matrix that are not 0."""
coo_fromdense_p: Any
def coo_matmat(mat: COO, B: ArrayLike, *, transpose: bool = False) -> Array:
    """The product with a matrix; see `coo_matvec`."""
coo_matmat_p: Any
def coo_matvec(mat: COO, v: ArrayLike, transpose: bool = False) -> Array:
    """The product with a vector, of the matrix or its transpose."""
coo_matvec_p: Any
def coo_todense(mat: COO) -> Array:
    """The dense matrix."""
coo_todense_p: Any
def csr_fromdense(mat: ArrayLike, *, nse: int | None = None, index_dtype: DTypeLike = ...) -> CSR:
    """The elements of a matrix that are not 0, row by row."""
csr_fromdense_p: Any
def csr_matmat(mat: CSR, B: ArrayLike, *, transpose: bool = False) -> Array:
    """The product with a matrix; see `csr_matvec`."""
csr_matmat_p: Any
def csr_matvec(mat: CSR, v: ArrayLike, transpose: bool = False) -> Array:
    """The product with a vector, of the matrix or its transpose."""
csr_matvec_p: Any
def csr_todense(mat: CSR) -> Array:
    """The dense matrix."""
csr_todense_p: Any
def empty(shape: Sequence[int], dtype: DTypeLike | None = None, index_dtype: DTypeLike = 'int32', sparse_format: str = 'bcoo', **kwds: Any) -> JAXSparse:
    """A sparse array of zeros that stores nothing."""
def eye(N: int, M: int | None = None, k: int = 0, dtype: DTypeLike | None = None, index_dtype: DTypeLike = 'int32', sparse_format: str = 'bcoo', **kwds: Any) -> JAXSparse:
    """A matrix with ones on a diagonal."""
def grad(fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, **kwargs: Any) -> Callable[..., Any]:
    """As `jax.grad`; sparse arguments have sparse gradients."""
def jacfwd(fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, **kwargs: Any) -> Callable[..., Any]:
    """As `jax.jacfwd`; for a BCOO argument the result is BCOO, the axes of the function's result being batch axes."""
def jacobian(fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, **kwargs: Any) -> Callable[..., Any]:
    """The same as `jacrev`."""
def jacrev(fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, **kwargs: Any) -> Callable[..., Any]:
    """As `jax.jacrev`; for a BCOO argument the result is BCOO, the axes of the function's result being batch axes."""
def random_bcoo(key: ArrayLike, shape: Sequence[int], *, dtype: DTypeLike = ..., indices_dtype: DTypeLike | None = None, nse: int | float = 0.2, n_batch: int = 0, n_dense: int = 0, unique_indices: bool = True, sorted_indices: bool = False, generator: Callable[..., ArrayLike] = ..., **kwds: Any) -> BCOO:
    """A BCOO array with elements at random points."""
def sparsify(f: Callable[..., Any], use_tracer: bool = False) -> Callable[..., Any]:
    """``f``, a function of arrays, as a function that takes sparse arrays too."""
def todense(arr: JAXSparse | ArrayLike) -> Array:
    """A sparse array of any format as a dense array; a dense array as it is. Also inside of `sparsify`."""
todense_p: Any
def value_and_grad(fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, **kwargs: Any) -> Callable[..., Any]:
    """As `jax.value_and_grad`; sparse arguments have sparse gradients."""
