"""Types of `jax.experimental.sparse.api`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array
from jax.experimental.sparse import JAXSparse
from jax.typing import ArrayLike, DTypeLike
from typing import Any, Sequence

def empty(shape: Sequence[int], dtype: DTypeLike | None = None, index_dtype: DTypeLike = 'int32', sparse_format: str = 'bcoo', **kwds: Any) -> JAXSparse:
    """A sparse array of zeros that stores nothing."""
def eye(N: int, M: int | None = None, k: int = 0, dtype: DTypeLike | None = None, index_dtype: DTypeLike = 'int32', sparse_format: str = 'bcoo', **kwds: Any) -> JAXSparse:
    """A matrix with ones on a diagonal."""
def todense(arr: JAXSparse | ArrayLike) -> Array:
    """A sparse array of any format as a dense array; a dense array as it is. Also inside of `sparsify`."""
todense_p: Any
