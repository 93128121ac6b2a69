"""CSR and CSC: a matrix by compressed rows, or columns. Unbatched; see `bcsr` for more."""
from __future__ import annotations

from typing import Any, Iterable, Sequence

import numpy as np

from jax_core.representation import tree_nodes
from jax_core.representation.arguments import takes
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike, Axis, DTypeLike
from jax_core.transformations.vmappable import node_rules

from .. import numpy as jnp
from ..named import named
from . import coo
from .base import JAXSparse, mapped_along_batch_axes
from .bcoo import BCOO
from .bcsr import _row_numbers, _row_starts
from .util import SparseInfo, collected, matrix_and_count, stored_where

Shape = tuple[int, ...]


class _Compressed(JAXSparse):
    """What CSR and CSC share. ``indptr`` says where each row (column) begins among ``data`` and ``indices``; what comes
    after the last one is padding. Operators other than ``@`` work through BCOO and return it."""

    indices: Any
    indptr: Any

    def __init__(self, args: Any, *, shape: Sequence[int]):
        self.data, self.indices, self.indptr = map(jnp.asarray, args)
        super().__init__(args, shape=shape)

    nse = property(lambda self: self.data.size, doc="How many elements are stored, padding included.")
    dtype = property(lambda self: self.data.dtype, doc="Dtype of the elements.")

    def tree_flatten(self) -> tuple:
        """The three buffers, and the shape."""
        return (self.data, self.indices, self.indptr), self.shape

    @classmethod
    def tree_unflatten(cls, aux_data: Any, children: Iterable) -> Any:
        """Without any check."""
        self = object.__new__(cls)
        self.data, self.indices, self.indptr = children
        self.shape = aux_data
        return self

    def _other(self, kind):
        return kind((self.data, self.indices, self.indptr), shape=self.shape[::-1])


@tree_nodes.register_pytree_node_class
class CSR(_Compressed):
    """A matrix in compressed row format.

    Args:
      args: ``(data, indices, indptr)`` of lengths nse, nse and rows + 1.
      shape: of the matrix.

    >>> from jax.experimental import sparse
    >>> m = sparse.CSR((jnp.array([5., 7.]), jnp.array([1, 0]), jnp.array([0, 1, 2])), shape=(2, 2))
    >>> m.todense()
    Array([[0., 5.],
           [7., 0.]], dtype=float32)
    """

    def __init__(self, args: Sequence[ArrayLike], *, shape: Sequence[int]):
        super().__init__(args, shape=shape)

    @classmethod
    def fromdense(cls, mat: ArrayLike, *, nse: int | None = None, index_dtype: DTypeLike = np.int32) -> "CSR":
        """See `csr_fromdense`."""
        return csr_fromdense(mat, nse=nse, index_dtype=index_dtype)

    def todense(self) -> Any:
        """See `csr_todense`."""
        return csr_todense(self)

    def transpose(self, axes: Axis = None) -> "CSC":
        """The transposed matrix, which is the same buffers read by columns."""
        coo.check_axes("CSR", axes)
        return self._other(CSC)

    def to_bcoo(self) -> BCOO:
        """The same matrix as BCOO."""
        rows = _row_numbers(self.indptr, self.nse)
        cols = jnp.where(rows < self.shape[0], self.indices, self.shape[1])
        return BCOO((self.data, jnp.stack([rows.astype(cols.dtype), cols], -1)), shape=self.shape)

    def __matmul__(self, other):
        return coo.matmul(self, other, csr_matvec, csr_matmat)

    @classmethod
    def _empty(cls, shape, *, dtype=None, index_dtype="int32"):
        if len(shape) != 2:
            raise ValueError(f"{cls.__name__}: a matrix has two axes, got shape {shape}")
        index = jnp.zeros(0, index_dtype)
        return cls((jnp.zeros(0, dtype), index, jnp.zeros(shape[0] + 1, index_dtype)), shape=shape)

    @classmethod
    def _eye(cls, N, M, k, *, dtype=None, index_dtype="int32"):
        diagonal = BCOO._eye(N, M, k, dtype=dtype, index_dtype=index_dtype)
        return cls((diagonal.data, diagonal.indices[:, 1], _row_starts(diagonal.indices[:, 0], N)), shape=(N, M))


node_rules[CSR] = mapped_along_batch_axes


@tree_nodes.register_pytree_node_class
class CSC(_Compressed):
    """A matrix in compressed column format: the buffers of the transposed matrix in CSR.

    Args:
      args: ``(data, indices, indptr)`` of lengths nse, nse and columns + 1.
      shape: of the matrix.

    >>> from jax.experimental import sparse
    >>> m = sparse.CSC((jnp.array([7., 5.]), jnp.array([1, 0]), jnp.array([0, 1, 2])), shape=(2, 2))
    >>> m.todense()
    Array([[0., 5.],
           [7., 0.]], dtype=float32)
    """

    def __init__(self, args: Sequence[ArrayLike], *, shape: Sequence[int]):
        super().__init__(args, shape=shape)

    @classmethod
    def fromdense(cls, mat: ArrayLike, *, nse: int | None = None, index_dtype: DTypeLike = np.int32) -> "CSC":
        """The elements of a matrix that are not 0, column by column; see `csr_fromdense`."""
        return csr_fromdense(jnp.asarray(mat).T, nse=nse, index_dtype=index_dtype)._other(cls)

    def todense(self) -> Any:
        """The dense matrix."""
        return csr_todense(self.T).T

    def transpose(self, axes: Axis = None) -> CSR:
        """The transposed matrix, which is the same buffers read by rows."""
        coo.check_axes("CSC", axes)
        return self._other(CSR)

    def to_bcoo(self) -> BCOO:
        """The same matrix as BCOO."""
        return self.T.to_bcoo().T

    def __matmul__(self, other):
        return coo.matmul(self, other, lambda m, v: csr_matvec(m.T, v, transpose=True),
                           lambda m, b: csr_matmat(m.T, b, transpose=True))

    @classmethod
    def _empty(cls, shape, *, dtype=None, index_dtype="int32"):
        return CSR._empty(tuple(shape)[::-1], dtype=dtype, index_dtype=index_dtype)._other(cls)

    @classmethod
    def _eye(cls, N, M, k, *, dtype=None, index_dtype="int32"):
        return CSR._eye(M, N, -k, dtype=dtype, index_dtype=index_dtype)._other(cls)


node_rules[CSC] = mapped_along_batch_axes


def _fromdense(mat, *, nse, index_dtype):
    rows, cols = jnp.nonzero(mat, size=nse, fill_value=mat.shape)
    data = mat.at[rows, cols].get(mode="fill", fill_value=0)
    return data, jnp.where(rows < mat.shape[0], cols, 0).astype(index_dtype), _row_starts(rows.astype(index_dtype), mat.shape[0])


def _todense(data, indices, indptr, *, shape):
    return collected(jnp.zeros(shape, data.dtype), (_row_numbers(indptr, data.size), indices), data)


def _product(data, indices, indptr, other, *, shape, transpose):
    rows = _row_numbers(indptr, data.size)
    data = stored_where(rows < shape[0], data)
    return coo.product(data, rows, indices, other, spinfo=SparseInfo(shape), transpose=transpose)


csr_fromdense_p = named("csr_fromdense", _fromdense, multiple_results=True)
csr_todense_p = named("csr_todense", _todense)
csr_matvec_p = named("csr_matvec", _product)
csr_matmat_p = named("csr_matmat", _product)


# Of the buffers, as in `coo`.

def _csr_fromdense(mat, *, nse, index_dtype=np.int32):
    mat, nse = matrix_and_count("csr_fromdense", mat, nse)
    return tuple(csr_fromdense_p.bind(mat, nse=nse, index_dtype=np.dtype(index_dtype)))


def _csr_todense(data, indices, indptr, *, shape):
    return csr_todense_p.bind(data, indices, indptr, shape=tuple(shape))


def _csr_matvec(data, indices, indptr, v, *, shape, transpose=False):
    v = coo.check_product("csr_matvec", shape, v, transpose, 1)
    return csr_matvec_p.bind(data, indices, indptr, v, shape=tuple(shape), transpose=bool(transpose))


def _csr_matmat(data, indices, indptr, B, *, shape, transpose=False):
    B = coo.check_product("csr_matmat", shape, B, transpose, 2)
    return csr_matmat_p.bind(data, indices, indptr, B, shape=tuple(shape), transpose=bool(transpose))


def csr_fromdense(mat: ArrayLike, *, nse: int | None = None, index_dtype: DTypeLike = np.int32) -> CSR:
    """The elements of a matrix that are not 0, row by row.

    Args:
      mat: a matrix.
      nse: how many to store; by default as many as there are, which must be known.
      index_dtype: of ``indices`` and ``indptr``.

    Raises:
      ValueError: not a matrix. ConcretizationTypeError: ``nse`` is missing and the matrix is traced.

    >>> from jax.experimental import sparse
    >>> sparse.csr_fromdense(jnp.array([[0, 5], [7, 0]])).indptr
    Array([0, 1, 2], dtype=int32)
    """
    return CSR(_csr_fromdense(mat, nse=nse, index_dtype=index_dtype), shape=np.shape(mat))


@takes(mat=CSR)
def csr_todense(mat: CSR) -> Array:
    """The dense matrix.

    >>> from jax.experimental import sparse
    >>> sparse.csr_todense(sparse.csr_fromdense(jnp.array([[0, 5], [7, 0]])))
    Array([[0, 5],
           [7, 0]], dtype=int32)
    """
    return _csr_todense(mat.data, mat.indices, mat.indptr, shape=mat.shape)


@takes(mat=CSR)
def csr_matvec(mat: CSR, v: ArrayLike, transpose: bool = False) -> Array:
    """The product with a vector, of the matrix or its transpose.

    Raises:
      ValueError: shapes that do not fit.

    >>> from jax.experimental import sparse
    >>> sparse.csr_matvec(sparse.csr_fromdense(jnp.array([[0.0, 5.0], [7.0, 0.0]])), jnp.ones(2))
    Array([5., 7.], dtype=float32)
    """
    return _csr_matvec(mat.data, mat.indices, mat.indptr, v, shape=mat.shape, transpose=transpose)


@takes(mat=CSR)
def csr_matmat(mat: CSR, B: ArrayLike, *, transpose: bool = False) -> Array:
    """The product with a matrix; see `csr_matvec`.

    >>> from jax.experimental import sparse
    >>> sparse.csr_matmat(sparse.csr_fromdense(jnp.array([[0.0, 5.0], [7.0, 0.0]])), jnp.eye(2))
    Array([[0., 5.],
           [7., 0.]], dtype=float32)
    """
    return _csr_matmat(mat.data, mat.indices, mat.indptr, B, shape=mat.shape, transpose=transpose)
