"""Types of `jax.experimental.sparse.coo`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array
from jax.experimental.sparse import COO
from jax.typing import ArrayLike, DTypeLike
from typing import Any, NamedTuple, TypeAlias
from jax.experimental.sparse import COO as COO

class COOInfo(NamedTuple):
    """Shape, and the order of the stored elements."""
    shape: Any
    rows_sorted: bool = ...
    cols_sorted: bool = ...
Dtype = Any
Shape: TypeAlias = tuple[int, ...]
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
