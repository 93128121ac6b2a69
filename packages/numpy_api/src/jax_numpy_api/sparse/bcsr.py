"""BCSR, the batched compressed row format: like BCOO with two sparse axes, with the begin of each row in place of row numbers.

``data`` has the shape ``(*batch, nse, *dense)``, ``indices`` (columns) ``(*batch, nse)`` and ``indptr`` ``(*batch, rows + 1)``:
row ``i`` is stored from ``indptr[i]`` to ``indptr[i + 1]``, and what comes after the last row is padding. The format is one
for storage and exchange; operations go through BCOO.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Sequence

import numpy as np

from jax_core.representation import tree_nodes
from jax_core.representation.arguments import takes
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike, DTypeLike, Placement, PyTree
from jax_core.transformations.vmappable import node_rules

from .. import numpy as jnp
from ..named import named
from .base import JAXSparse, mapped_along_batch_axes
from .bcoo import BCOO, bcoo_eliminate_zeros, bcoo_fromdense, bcoo_sort_indices, bcoo_sum_duplicates, full_batch, stored_count
from .bcoo_product import bcoo_dot_general
from .bcoo_shape import bcoo_broadcast_in_dim, bcoo_concatenate
from .util import SparseInfo, batched_shape, nfold_vmap

if TYPE_CHECKING:
    from jax_numpy_api.lax.dot import PrecisionLike

    from ..lax.dot import DotDimensionNumbers


class BCSRProperties(NamedTuple):
    """Numbers of batch and dense axes, and of stored elements."""

    n_batch: int
    n_dense: int
    nse: int


@tree_nodes.register_pytree_node_class
class BCSR(JAXSparse):
    """An array in batched compressed row format.

    Args:
      args: ``(data, indices, indptr)``; see the module docstring for their shapes.
      shape: of the array.
      indices_sorted: the columns in each row rise.
      unique_indices: no column comes twice in a row.

    Raises:
      ValueError: shapes that do not fit.

    >>> from jax.experimental import sparse
    >>> m = sparse.BCSR((jnp.array([5., 7.]), jnp.array([1, 0]), jnp.array([0, 1, 2])), shape=(2, 2))
    >>> m @ jnp.array([1., 2.])
    Array([10.,  7.], dtype=float32)
    """

    indices: Any
    indptr: Any
    indices_sorted: bool
    unique_indices: bool
    n_sparse = 2

    def __init__(self, args: Sequence[ArrayLike], *, shape: Sequence[int], indices_sorted: bool = False,
                 unique_indices: bool = False):
        self.data, self.indices, self.indptr = map(jnp.asarray, args)
        self.indices_sorted, self.unique_indices = bool(indices_sorted), bool(unique_indices)
        super().__init__(args, shape=shape)
        _properties(self.data, self.indices, self.indptr, self.shape)

    n_batch = property(lambda self: self.indices.ndim - 1, doc="Number of leading axes that are a batch.")
    n_dense = property(lambda self: self.data.ndim - self.indices.ndim, doc="Number of trailing axes whose elements are stored as arrays.")
    nse = property(lambda self: self.indices.shape[-1], doc="How many elements are stored, padding included, in each of the batch.")
    dtype = property(lambda self: self.data.dtype, doc="Dtype of the elements.")

    @property
    def _info(self) -> SparseInfo:
        return SparseInfo(self.shape, self.indices_sorted, self.unique_indices)

    def tree_flatten(self) -> tuple:
        """The three buffers; the rest describes them."""
        return (self.data, self.indices, self.indptr), (self.shape, self.indices_sorted, self.unique_indices)

    @classmethod
    def tree_unflatten(cls, aux_data: PyTree, children: Sequence[PyTree]) -> "BCSR":
        """Without any check; the shape follows buffers that gained or lost batch axes."""
        self = object.__new__(cls)
        self.data, self.indices, self.indptr = children
        self.shape, self.indices_sorted, self.unique_indices = aux_data
        if getattr(self.indices, "ndim", 0) >= 1 and hasattr(self.data, "ndim"):
            self.shape = batched_shape(self.shape, self.data.ndim + 1, self.n_batch, self.data, self.indices)
        return self

    @classmethod
    def fromdense(cls, mat: ArrayLike, *, nse: int | None = None, index_dtype: DTypeLike = np.int32, n_dense: int = 0,
                  n_batch: int = 0) -> "BCSR":
        """See `bcsr_fromdense`."""
        return bcsr_fromdense(mat, nse=nse, n_batch=n_batch, n_dense=n_dense, index_dtype=index_dtype)

    @classmethod
    def from_bcoo(cls, arr: BCOO) -> "BCSR":
        """A BCOO array with two sparse axes.

        Raises:
          NotImplementedError: another number of sparse axes.
        """
        if arr.n_sparse != 2:
            raise NotImplementedError(f"BCSR.from_bcoo: needs two sparse axes, got {arr}; change the layout with update_layout")
        arr = full_batch(bcoo_sort_indices(arr))
        indptr = nfold_vmap(lambda rows: _row_starts(rows, arr.shape[arr.n_batch]), arr.n_batch)(arr.indices[..., 0])
        return cls((arr.data, arr.indices[..., 1], indptr), shape=arr.shape, indices_sorted=True,
                   unique_indices=arr.unique_indices)

    @classmethod
    def from_scipy_sparse(cls, mat: Any, *, index_dtype: DTypeLike | None = None, n_dense: int = 0,
                          n_batch: int = 0) -> "BCSR":
        """A matrix of `scipy.sparse`, with the elements that it stores.

        Raises:
          NotImplementedError: dense or batch axes.
        """
        if n_dense or n_batch:
            raise NotImplementedError("BCSR.from_scipy_sparse: n_dense and n_batch must be 0")
        mat = mat.tocsr()
        index = (lambda x: x) if index_dtype is None else (lambda x: x.astype(index_dtype))
        return cls((jnp.asarray(mat.data), jnp.asarray(index(mat.indices)), jnp.asarray(index(mat.indptr))), shape=mat.shape)

    def to_bcoo(self) -> BCOO:
        """The same array in coordinate format."""
        rows = nfold_vmap(lambda p: _row_numbers(p, self.nse), self.n_batch)(self.indptr)
        padding = rows >= self.shape[self.n_batch]
        cols = jnp.where(padding, self.shape[self.n_batch + 1], self.indices)
        return BCOO((self.data, jnp.stack([rows.astype(cols.dtype), cols], -1)), shape=self.shape,
                    indices_sorted=self.indices_sorted, unique_indices=self.unique_indices)

    def todense(self) -> Any:
        """See `bcsr_todense`."""
        return bcsr_todense(self)

    def transpose(self, *args: Any, **kwargs: Any) -> "BCSR":
        """The axes in another order, through BCOO."""
        return BCSR.from_bcoo(self.to_bcoo().transpose(*args, **kwargs))

    def sum_duplicates(self, nse: int | None = None, remove_zeros: bool = True) -> "BCSR":
        """Each column at most once in a row; with ``remove_zeros`` elements that are 0 become padding."""
        return bcsr_eliminate_zeros(self, nse) if remove_zeros else bcsr_sum_duplicates(self, nse)

    def _with(self, data: Any) -> "BCSR":
        return BCSR((data, self.indices, self.indptr), shape=self.shape, indices_sorted=self.indices_sorted,
                    unique_indices=self.unique_indices)

    @classmethod
    def _empty(cls, shape, *, dtype=None, index_dtype="int32", n_dense=0, n_batch=0, nse=0):
        return cls.from_bcoo(BCOO._empty(shape, dtype=dtype, index_dtype=index_dtype, n_dense=n_dense, n_batch=n_batch, nse=nse))

    @classmethod
    def _eye(cls, N, M, k, *, dtype=None, index_dtype="int32", n_batch=0, n_dense=0):
        return cls.from_bcoo(BCOO._eye(N, M, k, dtype=dtype, index_dtype=index_dtype, n_batch=n_batch, n_dense=n_dense))


node_rules[BCSR] = mapped_along_batch_axes


def _properties(data: Any, indices: Any, indptr: Any, shape: Sequence[int]) -> BCSRProperties:
    n_batch, n_dense = indices.ndim - 1, data.ndim - indices.ndim
    fits = (n_batch >= 0 and n_dense >= 0 and indptr.ndim == n_batch + 1 and n_batch + 2 + n_dense == len(shape)
            and data.shape[n_batch] == indices.shape[-1] and indptr.shape[-1] == shape[n_batch] + 1
            and data.shape[n_batch + 1:] == tuple(shape[n_batch + 2:])
            and all(x.shape[d] in (1, shape[d]) for x in (data, indices, indptr) for d in range(n_batch)))
    if not fits:
        raise ValueError(f"BCSR: data of shape {data.shape}, indices of shape {indices.shape} and indptr of shape {indptr.shape} "
                         f"cannot represent an array of shape {tuple(shape)}")
    return BCSRProperties(n_batch, n_dense, indices.shape[-1])


def _row_starts(rows, count):
    """The begin of each row among rising row numbers, and the end of the last."""
    return _counted(rows + 1, count + 1)


def _row_numbers(indptr, nse):
    """The row of each stored element; the number of rows for padding."""
    return _counted(indptr, nse) - 1


def _counted(places, length):
    """How many of ``places`` are at each place below ``length`` or before it."""
    return jnp.cumsum(jnp.zeros(length, places.dtype).at[places].add(1, mode="drop"))


def _fromdense(mat, *, nse, n_batch, n_dense, index_dtype):
    out = BCSR.from_bcoo(bcoo_fromdense(mat, nse=nse, n_batch=n_batch, n_dense=n_dense, index_dtype=index_dtype))
    return out.data, out.indices, out.indptr


def _todense(data, indices, indptr, *, spinfo):
    return BCSR((data, indices, indptr), **spinfo._asdict()).to_bcoo().todense()


def _extract(indices, indptr, mat):
    n_batch, nse = indices.ndim - 1, indices.shape[-1]

    def one(indices: Array, indptr, mat):
        rows = _row_numbers(indptr, nse)
        return mat.at[rows, indices].get(mode="fill", fill_value=0)
    return nfold_vmap(one, n_batch)(indices, indptr, mat)


def _dot(data, indices, indptr, rhs, *, lhs_spinfo, dimension_numbers, preferred_element_type):
    lhs = BCSR((data, indices, indptr), **lhs_spinfo._asdict()).to_bcoo()
    return bcoo_dot_general(lhs, rhs, dimension_numbers=dimension_numbers, preferred_element_type=preferred_element_type)


bcsr_fromdense_p = named("bcsr_fromdense", _fromdense, multiple_results=True)
bcsr_todense_p = named("bcsr_todense", _todense)
bcsr_extract_p = named("bcsr_extract", _extract)
bcsr_dot_general_p = named("bcsr_dot_general", _dot)


def bcsr_fromdense(mat: ArrayLike, *, nse: int | None = None, n_batch: int = 0, n_dense: int = 0,
                   index_dtype: DTypeLike = np.int32) -> BCSR:
    """The elements of ``mat`` that are not 0; see `bcoo_fromdense`.

    Raises:
      ValueError: other than two axes are left between batch and dense axes.

    >>> from jax.experimental import sparse
    >>> sparse.bcsr_fromdense(jnp.array([[0, 5], [7, 0]])).indptr
    Array([0, 1, 2], dtype=int32)
    """
    mat = jnp.asarray(mat)
    if mat.ndim != n_batch + n_dense + 2:
        raise ValueError(f"bcsr_fromdense: an array of shape {mat.shape} with n_batch={n_batch} and n_dense={n_dense} must have "
                         "exactly two sparse axes")
    nse = stored_count("bcsr_fromdense", mat, nse, n_batch, n_dense)
    out = bcsr_fromdense_p.bind(mat, nse=nse, n_batch=n_batch, n_dense=n_dense, index_dtype=np.dtype(index_dtype))
    return BCSR(out, shape=mat.shape, indices_sorted=True, unique_indices=True)


@takes(mat=BCSR)
def bcsr_todense(mat: BCSR) -> Array:
    """The dense array.

    >>> from jax.experimental import sparse
    >>> sparse.bcsr_todense(sparse.BCSR.fromdense(jnp.array([[0, 5], [7, 0]])))
    Array([[0, 5],
           [7, 0]], dtype=int32)
    """
    return bcsr_todense_p.bind(mat.data, mat.indices, mat.indptr, spinfo=mat._info)


def bcsr_extract(indices: ArrayLike, indptr: ArrayLike, mat: ArrayLike) -> Array:
    """The elements of the dense ``mat`` at the points that ``indices`` and ``indptr`` store, in their order.

    Raises:
      ValueError: ``indices`` and ``indptr`` are not of as many axes, or ``mat`` is not of at least one more.

    >>> from jax.experimental import sparse
    >>> sparse.bcsr_extract(jnp.array([1, 0]), jnp.array([0, 1, 2]), jnp.array([[3, 5], [7, 9]]))
    Array([5, 7], dtype=int32)
    """
    indices, indptr, mat = jnp.asarray(indices), jnp.asarray(indptr), jnp.asarray(mat)
    if not 0 < indices.ndim == indptr.ndim < mat.ndim:
        raise ValueError(f"bcsr_extract: indices and indptr must be vectors, or batches of such, and mat matrices with as many axes of batches, "
                         f"got shapes {indices.shape}, {indptr.shape} and {mat.shape}")
    if mat.shape[indices.ndim - 1] != indptr.shape[-1] - 1:
        raise ValueError(f"bcsr_extract: mat of shape {mat.shape} has {mat.shape[indices.ndim - 1]} rows, but indptr of shape {indptr.shape} is of "
                         f"{indptr.shape[-1] - 1}; it has one element more than there are rows")
    return bcsr_extract_p.bind(indices, indptr, mat)


@takes(mat=BCSR)
def bcsr_sum_duplicates(mat: BCSR, nse: int | None = None) -> BCSR:
    """Each column at most once in a row; see `bcoo_sum_duplicates`.

    >>> from jax.experimental import sparse
    >>> m = sparse.BCSR((jnp.array([1, 2]), jnp.array([0, 0]), jnp.array([0, 2])), shape=(1, 2))
    >>> sparse.bcsr_sum_duplicates(m).todense()
    Array([[3, 0]], dtype=int32)
    """
    return BCSR.from_bcoo(bcoo_sum_duplicates(mat.to_bcoo(), nse))


@takes(mat=BCSR)
def bcsr_eliminate_zeros(mat: BCSR, nse: int | None = None) -> BCSR:
    """`bcsr_sum_duplicates` without stored elements that are 0.

    >>> from jax.experimental import sparse
    >>> from jax.experimental.sparse import bcsr
    >>> m = sparse.BCSR.fromdense(jnp.array([[1., 0.], [0., 2.]]), nse=3)
    >>> bcsr.bcsr_eliminate_zeros(m).nse
    2
    """
    return BCSR.from_bcoo(bcoo_eliminate_zeros(mat.to_bcoo(), nse))


def bcsr_dot_general(lhs: BCSR | ArrayLike, rhs: ArrayLike, *, dimension_numbers: DotDimensionNumbers, precision: PrecisionLike = None,
                     preferred_element_type: DTypeLike | None = None, out_sharding: Placement | None = None) -> Array:
    """`lax.dot_general` where an operand is BCSR; see `bcoo_dot_general`.

    >>> from jax.experimental import sparse
    >>> m = sparse.BCSR.fromdense(jnp.array([[0.0, 5.0], [7.0, 0.0]]))
    >>> sparse.bcsr_dot_general(m, jnp.ones(2), dimension_numbers=(((1,), (0,)), ((), ())))
    Array([5., 7.], dtype=float32)
    """
    numbers = tuple(tuple(tuple(map(int, d)) for d in pair) for pair in dimension_numbers)
    preferred = None if preferred_element_type is None else np.dtype(preferred_element_type)
    if isinstance(lhs, BCSR) and not isinstance(rhs, JAXSparse) and out_sharding is None:
        return bcsr_dot_general_p.bind(lhs.data, lhs.indices, lhs.indptr, jnp.asarray(rhs), lhs_spinfo=lhs._info,
                                       dimension_numbers=numbers, preferred_element_type=preferred)
    return bcoo_dot_general(*(x.to_bcoo() if isinstance(x, BCSR) else x for x in (lhs, rhs)), dimension_numbers=dimension_numbers,
                            precision=precision, preferred_element_type=preferred,
                            out_sharding=out_sharding)


@takes(mat=BCSR)
def bcsr_broadcast_in_dim(mat: BCSR, *, shape: Sequence[int], broadcast_dimensions: Sequence[int],
                          sharding: Placement | None = None) -> BCSR:
    """See `bcoo_broadcast_in_dim`; the result needs two sparse axes.

    >>> from jax.experimental import sparse
    >>> m = sparse.BCSR.fromdense(jnp.array([[0, 5], [7, 0]]))
    >>> sparse.bcsr_broadcast_in_dim(m, shape=(1, 2, 2), broadcast_dimensions=(1, 2)).shape
    (1, 2, 2)
    """
    return BCSR.from_bcoo(bcoo_broadcast_in_dim(mat.to_bcoo(), shape=shape, broadcast_dimensions=broadcast_dimensions,
                                                sharding=sharding))


def bcsr_concatenate(operands: Sequence[BCSR], *, dimension: int) -> BCSR:
    """BCSR arrays of one layout joined along an axis; see `bcoo_concatenate`.

    Raises:
      TypeError: other arrays among them. ValueError: as there.

    >>> from jax.experimental import sparse
    >>> m = sparse.BCSR.fromdense(jnp.array([[0, 5], [7, 0]]))
    >>> sparse.bcsr_concatenate([m, m], dimension=0).shape
    (4, 2)
    """
    operands = list(operands)
    if not all(isinstance(m, BCSR) for m in operands):
        raise TypeError(f"bcsr_concatenate: the operands must be BCSR arrays, got {[type(m).__name__ for m in operands]}")
    return BCSR.from_bcoo(bcoo_concatenate([m.to_bcoo() for m in operands], dimension=dimension))
