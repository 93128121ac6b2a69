"""Types of `jax.experimental.sparse.random`. Written by packages/jax/tools/make_stubs.py."""
from jax.experimental.sparse import BCOO
from jax.typing import ArrayLike, DTypeLike
from typing import Any, Callable, Sequence

def random_bcoo(key: ArrayLike, shape: Sequence[int], *, dtype: DTypeLike = ..., indices_dtype: DTypeLike | None = None, nse: int | float = 0.2, n_batch: int = 0, n_dense: int = 0, unique_indices: bool = True, sorted_indices: bool = False, generator: Callable[..., ArrayLike] = ..., **kwds: Any) -> BCOO:
    """A BCOO array with elements at random points."""
