"""COO: a matrix as rows, columns and values of its stored elements. Unbatched; see `bcoo` for more."""
from __future__ import annotations

from typing import Any, Callable, NamedTuple, Sequence, cast

import numpy as np

from jax_core.representation import tree_nodes
from jax_core.representation.arguments import takes
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike, Axis, DTypeLike, PyTree
from jax_core.transformations.vmappable import node_rules

from .. import numpy as jnp
from ..named import named
from .base import JAXSparse, mapped_along_batch_axes
from .bcoo import BCOO
from .util import collected, matrix_and_count, stored_where

Dtype = Any
Shape = tuple[int, ...]


class COOInfo(NamedTuple):
    """Shape, and the order of the stored elements."""

    shape: Shape
    rows_sorted: bool = False
    cols_sorted: bool = False


@tree_nodes.register_pytree_node_class
class COO(JAXSparse):
    """A matrix in coordinate format. Operators other than ``@`` work through BCOO and return it.

    Args:
      args: ``(data, row, col)``, each of length nse.
      shape: of the matrix.
      rows_sorted, cols_sorted: the elements stand in order of rows (and of columns in each), or of columns.

    >>> from jax.experimental import sparse
    >>> m = sparse.COO((jnp.array([5., 7.]), jnp.array([0, 1]), jnp.array([1, 0])), shape=(2, 2))
    >>> m.todense()
    Array([[0., 5.],
           [7., 0.]], dtype=float32)
    """

    row: Any
    col: Any

    def __init__(self, args: Sequence[ArrayLike], *, shape: Sequence[int], rows_sorted: bool = False,
                 cols_sorted: bool = False):
        self.data, self.row, self.col = map(jnp.asarray, args)
        self._rows_sorted, self._cols_sorted = bool(rows_sorted), bool(cols_sorted)
        super().__init__(args, shape=shape)

    nse = property(lambda self: self.data.size, doc="How many elements are stored.")
    dtype = property(lambda self: self.data.dtype, doc="Dtype of the elements.")

    @property
    def _info(self) -> COOInfo:
        return COOInfo(self.shape, self._rows_sorted, self._cols_sorted)

    def tree_flatten(self) -> tuple:
        """The three buffers; the rest describes them."""
        return (self.data, self.row, self.col), self._info

    @classmethod
    def tree_unflatten(cls, aux_data: PyTree, children: Sequence[PyTree]) -> "COO":
        """Without any check."""
        self = object.__new__(cls)
        self.data, self.row, self.col = children
        self.shape, self._rows_sorted, self._cols_sorted = aux_data
        return self

    @classmethod
    def fromdense(cls, mat: ArrayLike, *, nse: int | None = None, index_dtype: DTypeLike = np.int32) -> "COO":
        """See `coo_fromdense`."""
        return coo_fromdense(mat, nse=nse, index_dtype=index_dtype)

    def _sort_indices(self) -> "COO":
        """The same elements in order of rows, and of columns in each."""
        order = jnp.lexsort((self.col, self.row))
        return COO((self.data[order], self.row[order], self.col[order]), shape=self.shape, rows_sorted=True)

    def to_bcoo(self) -> BCOO:
        """The same matrix as BCOO."""
        return BCOO((self.data, jnp.stack([self.row, self.col], -1)), shape=self.shape, indices_sorted=self._rows_sorted)

    def todense(self) -> Array:
        """See `coo_todense`."""
        return coo_todense(self)

    def transpose(self, axes: Axis = None) -> "COO":
        """The matrix transposed: rows and columns change places.

        Raises:
          NotImplementedError: ``axes`` other than None or (1, 0).
        """
        check_axes("COO", axes)
        return COO((self.data, self.col, self.row), shape=self.shape[::-1], rows_sorted=self._cols_sorted,
                   cols_sorted=self._rows_sorted)

    def __matmul__(self, other):
        return matmul(self, other, coo_matvec, coo_matmat)

    @classmethod
    def _empty(cls, shape, *, dtype=None, index_dtype="int32"):
        if len(shape) != 2:
            raise ValueError(f"COO: a matrix has two axes, got shape {shape}")
        index = jnp.zeros(0, index_dtype)
        return cls((jnp.zeros(0, dtype), index, index), shape=shape, rows_sorted=True, cols_sorted=True)

    @classmethod
    def _eye(cls, N, M, k, *, dtype=None, index_dtype="int32"):
        diagonal = BCOO._eye(N, M, k, dtype=dtype, index_dtype=index_dtype)
        return cls((diagonal.data, diagonal.indices[:, 0], diagonal.indices[:, 1]), shape=(N, M), rows_sorted=True,
                   cols_sorted=True)


node_rules[COO] = mapped_along_batch_axes


# -- what the formats of matrices share ----------------------------------------------------------------------------------

def check_axes(kind: str, axes: Axis) -> None:
    """Raises NotImplementedError for ``axes`` of ``transpose`` that do not exchange the two of a matrix."""
    if axes is not None and tuple(cast(Sequence[int], axes)) != (1, 0):
        raise NotImplementedError(f"{kind}.transpose: axes must be None or (1, 0), got {axes}")


def matmul(mat: Any, other: Any, matvec: Callable, matmat: Callable) -> Any:
    """``mat @ other``, where ``other`` is dense by ``matvec`` or ``matmat``, and otherwise as BCOO."""
    if isinstance(other, JAXSparse):
        sparse: Any = other
        return mat.to_bcoo() @ (sparse if isinstance(sparse, BCOO) else sparse.to_bcoo())
    other = jnp.asarray(other)
    if other.ndim not in (1, 2):
        raise NotImplementedError(f"{type(mat).__name__} @ array of shape {other.shape}: only vectors and matrices are supported; "
                                  "convert to BCOO")
    return (matvec if other.ndim == 1 else matmat)(mat, other)


def check_product(name: str, shape: Sequence[int], other: ArrayLike, transpose: bool, ndim: int) -> Any:
    """``other`` as an array that a matrix of ``shape`` can be applied to.

    Raises:
      ValueError: it cannot.
    """
    other = jnp.asarray(other)
    n = shape[0] if transpose else shape[1]
    if other.ndim != ndim or other.shape[0] != n:
        raise ValueError(f"{name}: a matrix of shape {tuple(shape)}{', transposed,' if transpose else ''} needs an operand with "
                         f"{ndim} axes, the first of length {n}, got shape {other.shape}")
    return other


def product(data: Array, row: Array, col: Array, other: Array, *, spinfo: Any, transpose: bool) -> Array:
    """Each element times the row of ``other`` that its column names, added to the row that it stands in."""
    rows, source, target = (spinfo.shape[1], row, col) if transpose else (spinfo.shape[0], col, row)
    picked = other.at[source].get(mode="fill", fill_value=0)
    terms = data.reshape(-1, *(1,) * (other.ndim - 1)) * picked
    return collected(jnp.zeros((rows, *other.shape[1:]), terms.dtype), target, terms)


# -- primitives ----------------------------------------------------------------------------------------------------------

def _todense(data, row, col, *, spinfo):
    return collected(jnp.zeros(spinfo.shape, data.dtype), (row, col), data)


def _fromdense(mat, *, nse, index_dtype):
    """The rest of the buffers is 0 at the corner (0, 0), where it does not count either."""
    row, col = jnp.nonzero(mat, size=nse)
    stored = jnp.arange(nse) < jnp.count_nonzero(mat)
    return stored_where(stored, mat[row, col]), row.astype(index_dtype), col.astype(index_dtype)


coo_todense_p = named("coo_todense", _todense)
coo_fromdense_p = named("coo_fromdense", _fromdense, multiple_results=True)
coo_matvec_p = named("coo_matvec", product)
coo_matmat_p = named("coo_matmat", product)


# The names with an underscore take the buffers apart from a matrix, as tools do that differentiate by one of them.

def _coo_todense(data, row, col, *, spinfo):
    return coo_todense_p.bind(data, row, col, spinfo=spinfo)


def _coo_fromdense(mat, *, nse, index_dtype=np.int32):
    mat, nse = matrix_and_count("coo_fromdense", mat, nse)
    return tuple(coo_fromdense_p.bind(mat, nse=nse, index_dtype=np.dtype(index_dtype)))


def _coo_matvec(data, row, col, v, *, spinfo, transpose=False):
    v = check_product("coo_matvec", spinfo.shape, v, transpose, 1)
    return coo_matvec_p.bind(data, row, col, v, spinfo=spinfo, transpose=bool(transpose))


def _coo_matmat(data, row, col, B, *, spinfo, transpose=False):
    B = check_product("coo_matmat", spinfo.shape, B, transpose, 2)
    return coo_matmat_p.bind(data, row, col, B, spinfo=spinfo, transpose=bool(transpose))


@takes(mat=COO)
def coo_todense(mat: COO) -> Array:
    """The dense matrix.

    >>> from jax.experimental import sparse
    >>> sparse.coo_todense(sparse.coo_fromdense(jnp.array([[0, 5], [7, 0]])))
    Array([[0, 5],
           [7, 0]], dtype=int32)
    """
    return _coo_todense(mat.data, mat.row, mat.col, spinfo=mat._info)


def coo_fromdense(mat: ArrayLike, *, nse: int | None = None, index_dtype: DTypeLike = np.int32) -> COO:
    """The elements of a matrix that are not 0.

    Args:
      mat: a matrix.
      nse: how many to store; by default as many as there are, which must be known.
      index_dtype: of rows and columns.

    Raises:
      ValueError: not a matrix. ConcretizationTypeError: ``nse`` is missing and the matrix is traced.

    >>> from jax.experimental import sparse
    >>> sparse.coo_fromdense(jnp.array([[0, 5], [7, 0]])).row
    Array([0, 1], dtype=int32)
    """
    return COO(_coo_fromdense(mat, nse=nse, index_dtype=index_dtype), shape=np.shape(mat), rows_sorted=True)


@takes(mat=COO)
def coo_matvec(mat: COO, v: ArrayLike, transpose: bool = False) -> Array:
    """The product with a vector, of the matrix or its transpose.

    Raises:
      ValueError: shapes that do not fit.

    >>> from jax.experimental import sparse
    >>> sparse.coo_matvec(sparse.coo_fromdense(jnp.array([[0.0, 5.0], [7.0, 0.0]])), jnp.ones(2))
    Array([5., 7.], dtype=float32)
    """
    return _coo_matvec(mat.data, mat.row, mat.col, v, spinfo=mat._info, transpose=transpose)


@takes(mat=COO)
def coo_matmat(mat: COO, B: ArrayLike, *, transpose: bool = False) -> Array:
    """The product with a matrix; see `coo_matvec`.

    >>> from jax.experimental import sparse
    >>> sparse.coo_matmat(sparse.coo_fromdense(jnp.array([[0.0, 5.0], [7.0, 0.0]])), jnp.eye(2))
    Array([[0., 5.],
           [7., 0.]], dtype=float32)
    """
    return _coo_matmat(mat.data, mat.row, mat.col, B, spinfo=mat._info, transpose=transpose)
