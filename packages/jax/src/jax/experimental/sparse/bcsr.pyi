"""Types of `jax.experimental.sparse.bcsr`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array, Device
from jax.experimental.sparse import BCSR
from jax.lax import DotAlgorithm, DotAlgorithmPreset, Precision
from jax.sharding import PartitionSpec, Sharding
from jax.typing import ArrayLike, DTypeLike
from typing import Any, NamedTuple, Sequence
from jax.experimental.sparse import BCOO as BCOO
from jax.experimental.sparse import BCSR as BCSR
from jax.experimental.sparse import JAXSparse as JAXSparse

class BCSRProperties(NamedTuple):
    """Numbers of batch and dense axes, and of stored elements."""
    n_batch: int
    n_dense: int
    nse: int
def bcsr_broadcast_in_dim(mat: BCSR, *, shape: Sequence[int], broadcast_dimensions: Sequence[int], sharding: Sharding | PartitionSpec | Device | None = None) -> BCSR:
    """See `bcoo_broadcast_in_dim`; the result needs two sparse axes."""
def bcsr_concatenate(operands: Sequence[BCSR], *, dimension: int) -> BCSR:
    """BCSR arrays of one layout joined along an axis; see `bcoo_concatenate`."""
def bcsr_dot_general(lhs: BCSR | ArrayLike, rhs: ArrayLike, *, dimension_numbers: tuple[tuple[Sequence[int], Sequence[int]], tuple[Sequence[int], Sequence[int]]], precision: None | str | Precision | tuple[str, str] | tuple[Precision, Precision] | DotAlgorithm | DotAlgorithmPreset = None, preferred_element_type: DTypeLike | None = None, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """`lax.dot_general` where an operand is BCSR; see `bcoo_dot_general`."""
bcsr_dot_general_p: Any
def bcsr_eliminate_zeros(mat: BCSR, nse: int | None = None) -> BCSR:
    """`bcsr_sum_duplicates` without stored elements that are 0."""
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
