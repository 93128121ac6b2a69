"""Random sparse arrays."""
from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from jax_core.extension_points import random_functions
from jax_core.representation import dtypes
from jax_core.representation.typing import ArrayLike, DTypeLike

from .. import numpy as jnp
from .bcoo import BCOO, bcoo_sort_indices
from .util import nfold_vmap, static_shape

if TYPE_CHECKING:
    from jax_core.representation.array import Array


def _uniform(key, shape, dtype, **kwds):
    return random_functions.get().uniform(key, shape, dtype, **kwds)


def random_bcoo(key: ArrayLike, shape: Sequence[int], *, dtype: DTypeLike = np.float64,
                indices_dtype: DTypeLike | None = None, nse: int | float = 0.2, n_batch: int = 0, n_dense: int = 0,
                unique_indices: bool = True, sorted_indices: bool = False,
                generator: Callable[..., ArrayLike] = _uniform, **kwds: Any) -> BCOO:
    """A BCOO array with elements at random points.

    Args:
      key: a random key.
      shape: of the array.
      dtype: of the elements, float32 unless x64 is enabled.
      indices_dtype: of the coordinates, default int32.
      nse: how many elements to store in each batch, or which part (a number below 1).
      n_batch, n_dense: numbers of batch and dense axes.
      unique_indices: no point comes twice.
      sorted_indices: the coordinates rise.
      generator: ``generator(key, shape=..., dtype=..., **kwds)`` draws the elements; default uniform in [0, 1).

    Raises:
      TypeError: ``nse`` is no number. ValueError: a number of elements, or layout, that is not possible.

    >>> from jax.experimental import sparse
    >>> sparse.random_bcoo(jax.random.key(0), (4, 4), nse=0.5).nse
    8
    """
    shape = static_shape(shape)
    n_sparse = len(shape) - n_batch - n_dense
    if n_batch < 0 or n_dense < 0 or n_sparse < 0:
        raise ValueError(f"random_bcoo: n_batch={n_batch} and n_dense={n_dense} for shape {shape}")
    batch, points, dense = shape[:n_batch], shape[n_batch:n_batch + n_sparse], shape[n_batch + n_sparse:]
    size = math.prod(points)
    if isinstance(nse, (float, np.floating)):
        count = math.ceil(nse * size) if 0 < nse <= 1 else -1
    else:
        count = operator.index(nse)
    if not 0 <= count <= size:
        raise ValueError(f"random_bcoo: got nse={nse}, expected to be between 0 and {size}, or a share as a float, above 0 and at most 1")
    dtype = dtypes.canonicalize_dtype(dtype)
    index_dtype = np.dtype(np.int32 if indices_dtype is None else indices_dtype)
    random = random_functions.get()
    data_key, index_key = random.split(key)

    def draw(key: Array):
        if unique_indices:
            flat = random.choice(key, size, (count,), replace=False)
        else:
            flat = random.randint(key, (count,), 0, size)
        return jnp.stack(jnp.unravel_index(flat, points), -1).astype(index_dtype) if points else jnp.zeros((count, 0), index_dtype)
    keys = random.split(index_key, batch) if n_batch else index_key
    indices = nfold_vmap(draw, n_batch, broadcasted=False)(keys)
    data = generator(data_key, shape=(*batch, count, *dense), dtype=dtype, **kwds)
    out = BCOO((data, indices), shape=shape, unique_indices=unique_indices)
    return bcoo_sort_indices(out) if sorted_indices else out
