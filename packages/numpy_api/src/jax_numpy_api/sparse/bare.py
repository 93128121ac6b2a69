"""Functions on the bare buffers of BCOO and BCSR arrays, under the names that tests and libraries call in JAX's own modules.

Each is one call of the class or of the primitive that does the work; nothing here computes.
"""
from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike, DTypeLike

from .. import numpy as jnp
from .bcoo import BCOO, bcoo_fromdense, bcoo_todense_p
from .bcoo_product import bcoo_dot_general
from .bcsr import BCSR, bcsr_fromdense, bcsr_todense_p
from .util import SparseInfo


def _bcoo_fromdense(mat: ArrayLike, *, nse: int, n_batch: int = 0, n_dense: int = 0, index_dtype: DTypeLike = np.int32) -> tuple[Array, Array]:
    """Data and indices of `bcoo_fromdense`."""
    found = bcoo_fromdense(mat, nse=nse, n_batch=n_batch, n_dense=n_dense, index_dtype=index_dtype)
    return found.data, found.indices


def _bcoo_todense(data: ArrayLike, indices: ArrayLike, *, spinfo: SparseInfo) -> Array:
    """`bcoo_todense` of buffers, whose batch axes may be of length 1."""
    return bcoo_todense_p.bind(jnp.asarray(data), jnp.asarray(indices), spinfo=spinfo)


def _bcoo_dot_general(lhs_data: ArrayLike, lhs_indices: ArrayLike, rhs: ArrayLike, *, dimension_numbers: Any,
                      preferred_element_type: DTypeLike | None, lhs_spinfo: SparseInfo) -> Array:
    """`bcoo_dot_general` of buffers and a dense array."""
    return bcoo_dot_general(BCOO((lhs_data, lhs_indices), **lhs_spinfo._asdict()), rhs, dimension_numbers=dimension_numbers,
                            preferred_element_type=preferred_element_type)


def _bcsr_fromdense(mat: ArrayLike, *, nse: int, n_batch: int = 0, n_dense: int = 0,
                    index_dtype: DTypeLike = np.int32) -> tuple[Array, Array, Array]:
    """Data, indices and starts of rows of `bcsr_fromdense`."""
    found = bcsr_fromdense(mat, nse=nse, n_batch=n_batch, n_dense=n_dense, index_dtype=index_dtype)
    return found.data, found.indices, found.indptr


def _bcsr_todense(data: ArrayLike, indices: ArrayLike, indptr: ArrayLike, *, spinfo: SparseInfo) -> Array:
    """`bcsr_todense` of buffers."""
    return bcsr_todense_p.bind(jnp.asarray(data), jnp.asarray(indices), jnp.asarray(indptr), spinfo=spinfo)


def _bcsr_to_bcoo(indices: ArrayLike, indptr: ArrayLike, *, shape: Sequence[int]) -> Array:
    """The coordinates of the elements of a BCSR array."""
    data = jnp.zeros((*np.shape(indices), *shape[np.ndim(indices) + 1:]), bool)
    return BCSR((data, indices, indptr), shape=shape).to_bcoo().indices


def _bcoo_to_bcsr(indices: ArrayLike, *, shape: Sequence[int], index_dtype: DTypeLike) -> tuple[Array, Array]:
    """Columns and starts of rows of a BCOO array with two sparse axes."""
    data = jnp.zeros((*np.shape(indices)[:-1], *shape[np.ndim(indices):]), bool)
    found = BCSR.from_bcoo(BCOO((data, indices), shape=shape))
    return found.indices.astype(index_dtype), found.indptr.astype(index_dtype)
