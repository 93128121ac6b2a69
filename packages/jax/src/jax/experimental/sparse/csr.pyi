"""Types of `jax.experimental.sparse.csr`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array
from jax.experimental.sparse import CSR
from jax.typing import ArrayLike, DTypeLike
from typing import Any, TypeAlias
from jax.experimental.sparse import CSC as CSC
from jax.experimental.sparse import CSR as CSR

Shape: TypeAlias = tuple[int, ...]
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
