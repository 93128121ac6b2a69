"""BCOO, the batched coordinate format: stored elements with their coordinates.

An array of shape ``(*batch, *sparse, *dense)`` is stored as ``data`` of shape ``(*batch, nse, *dense)`` and ``indices`` of
shape ``(*batch, nse, n_sparse)``: for each batch ``nse`` elements, each a dense block at a point of the sparse axes. Batch
axes of the buffers may have length 1 and are then repeated. Elements at one point add up. Coordinates outside of the shape
are padding, whose data do not count; that is what makes a fixed ``nse`` possible, without which nothing could be compiled.

Here are the class, conversions, and what concerns the order and number of stored elements. Shapes are in `bcoo_shape.py`,
products in `bcoo_product.py`.
"""
from __future__ import annotations

import math
import operator
from typing import Any, NamedTuple, Protocol, Sequence

import numpy as np

from jax_core.representation import source, tree_nodes
from jax_core.representation.arguments import takes
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike, DTypeLike, PyTree
from jax_core.traces.trace import Tracer, ensure_compile_time_eval
from jax_core.transformations.vmappable import node_rules

from .. import lax, numpy as jnp
from ..named import named
from .base import JAXSparse, _late, _late_unary, mapped_along_batch_axes, operations
from .util import (
    SparseEfficiencyError,
    SparseEfficiencyWarning,
    SparseInfo,
    _count_stored_elements,
    batched_shape,
    collected,
    columns,
    concrete_count,
    nfold_vmap,
    static_shape,
    stored_where,
    valid,
)

CUSPARSE_DATA_DTYPES = [np.float32, np.float64, np.complex64, np.complex128]
CUSPARSE_INDEX_DTYPES = [np.int32]
"""The dtypes that the vendor's library takes, for those who ask; the operations here take all."""


class Buffer(Protocol):
    """What has a shape and a dtype."""

    shape: tuple[int, ...]
    dtype: Any


class BCOOProperties(NamedTuple):
    """Numbers of axes of each kind, and of stored elements."""

    n_batch: int
    n_sparse: int
    n_dense: int
    nse: int


@tree_nodes.register_pytree_node_class
class BCOO(JAXSparse):
    """An array in batched coordinate format.

    Args:
      args: ``(data, indices)``; see the module docstring for their shapes.
      shape: of the array.
      indices_sorted: the coordinates of each batch rise lexicographically.
      unique_indices: none comes twice in a batch (padding aside).

    Raises:
      ValueError: shapes that do not fit. TypeError: coordinates that are not integers.

    >>> from jax.experimental import sparse
    >>> m = sparse.BCOO((jnp.array([5., 7.]), jnp.array([[0, 1], [1, 0]])), shape=(2, 2))
    >>> m.todense()
    Array([[0., 5.],
           [7., 0.]], dtype=float32)
    >>> m @ jnp.array([1., 2.])
    Array([10.,  7.], dtype=float32)
    """

    indices: Any
    indices_sorted: bool
    unique_indices: bool

    def __init__(self, args: Sequence[ArrayLike], *, shape: Sequence[int], indices_sorted: bool = False,
                 unique_indices: bool = False):
        if not isinstance(args, (tuple, list)) or len(args) != 2:
            raise ValueError(f"BCOO: args must be a pair (data, indices), got {args!r} of type {type(args).__name__}; BCOO.fromdense makes one of an array")
        data, indices = args
        self.data, self.indices = jnp.asarray(data), jnp.asarray(indices)
        self.indices_sorted, self.unique_indices = bool(indices_sorted), bool(unique_indices)
        super().__init__(args, shape=shape)
        properties(self.data, self.indices, self.shape)

    n_batch = property(lambda self: self.indices.ndim - 2, doc="Number of leading axes that are a batch.")
    n_sparse = property(lambda self: self.indices.shape[-1], doc="Number of axes that coordinates are stored for.")
    n_dense = property(lambda self: self.data.ndim - 1 - self.n_batch, doc="Number of trailing axes whose elements are stored as arrays.")
    nse = property(lambda self: self.indices.shape[-2], doc="How many elements are stored, padding included, in each of the batch.")
    dtype = property(lambda self: self.data.dtype, doc="Dtype of the elements.")

    @property
    def _info(self) -> SparseInfo:
        return SparseInfo(self.shape, self.indices_sorted, self.unique_indices)

    def tree_flatten(self) -> tuple:
        """``data`` and ``indices``; the rest describes them."""
        return (self.data, self.indices), (self.shape, self.indices_sorted, self.unique_indices)

    @classmethod
    def tree_unflatten(cls, aux_data: PyTree, children: Sequence[PyTree]) -> "BCOO":
        """Without any check, as transformations put things that are no arrays into pytrees.

        `vmap` and `scan` take batch axes from the buffers, or add some; the shape follows.
        """
        self = object.__new__(cls)
        self.data, self.indices = children
        self.shape, self.indices_sorted, self.unique_indices = aux_data
        if getattr(self.indices, "ndim", 0) >= 2 and hasattr(self.data, "ndim"):
            self.shape = batched_shape(self.shape, self.data.ndim - 1 + self.n_sparse, self.n_batch, self.data, self.indices)
        return self

    @classmethod
    def fromdense(cls, mat: ArrayLike, *, nse: int | None = None, index_dtype: DTypeLike = np.int32, n_dense: int = 0,
                  n_batch: int = 0) -> "BCOO":
        """See `bcoo_fromdense`."""
        return bcoo_fromdense(mat, nse=nse, n_batch=n_batch, n_dense=n_dense, index_dtype=index_dtype)

    @classmethod
    def from_scipy_sparse(cls, mat: Any, *, index_dtype: DTypeLike | None = None, n_dense: int = 0,
                          n_batch: int = 0) -> "BCOO":
        """A matrix of `scipy.sparse`, with the elements that it stores.

        Raises:
          NotImplementedError: dense or batch axes.
        """
        if n_dense or n_batch:
            raise NotImplementedError("BCOO.from_scipy_sparse: n_dense and n_batch must be 0; use update_layout")
        mat = mat.tocoo()
        indices = np.stack([mat.row, mat.col], 1)
        return cls((jnp.asarray(mat.data), jnp.asarray(indices if index_dtype is None else indices.astype(index_dtype))),
                   shape=mat.shape)

    @classmethod
    def _empty(cls, shape, *, dtype=None, index_dtype="int32", n_dense=0, n_batch=0, nse=0):
        shape = static_shape(shape)
        n_sparse = len(shape) - n_dense - n_batch
        if n_sparse < 0 or n_dense < 0 or n_batch < 0 or nse < 0:
            raise ValueError(f"BCOO: invalid layout: shape {shape}, n_dense={n_dense}, n_batch={n_batch}, nse={nse}")
        batch, points, dense = shape[:n_batch], shape[n_batch:n_batch + n_sparse], shape[n_batch + n_sparse:]
        indices = jnp.broadcast_to(jnp.asarray(points, index_dtype), (*batch, nse, n_sparse))
        return cls((jnp.zeros((*batch, nse, *dense), dtype), indices), shape=shape, indices_sorted=True, unique_indices=True)

    @classmethod
    def _eye(cls, N, M, k, *, dtype=None, index_dtype="int32", n_batch=0, n_dense=0):
        if n_batch or n_dense:
            dense = jnp.eye(N, M, k, dtype=dtype)
            return cls.fromdense(dense, n_batch=n_batch, n_dense=n_dense, index_dtype=index_dtype)
        count = max(0, min(N, M, N + k, M - k))
        rows = jnp.arange(count, dtype=index_dtype) + max(0, -k)
        return cls((jnp.ones(count, dtype), jnp.stack([rows, rows + k], 1)), shape=(N, M), indices_sorted=True,
                   unique_indices=True)

    def todense(self) -> Array:
        """See `bcoo_todense`."""
        return bcoo_todense(self)

    def transpose(self, axes: Sequence[int] | None = None) -> "BCOO":  # type: ignore[override]  # of several axes, not of one
        """The axes in another order; batch, sparse and dense axes stay among themselves. By default all are reversed."""
        permutation = tuple(range(self.ndim))[::-1] if axes is None else tuple(axes)
        return bcoo_transpose(self, permutation=permutation)

    def sort_indices(self) -> "BCOO":
        """See `bcoo_sort_indices`."""
        return bcoo_sort_indices(self)

    def sum_duplicates(self, nse: int | None = None, remove_zeros: bool = True) -> "BCOO":
        """Each point at most once, in rising order; with ``remove_zeros`` elements that are 0 become padding."""
        return bcoo_eliminate_zeros(self, nse) if remove_zeros else bcoo_sum_duplicates(self, nse)

    def update_layout(self, *, n_batch: int | None = None, n_dense: int | None = None,
                      on_inefficient: str | None = "error") -> "BCOO":
        """See `bcoo_update_layout`."""
        return bcoo_update_layout(self, n_batch=n_batch, n_dense=n_dense, on_inefficient=on_inefficient)

    def astype(self, *args: Any, **kwargs: Any) -> "BCOO":
        """The elements converted."""
        return self._with(self.data.astype(*args, **kwargs))

    def reshape(self, *args: Any, **kwargs: Any) -> "BCOO":
        """As `jax.numpy.reshape`."""
        return operations().sparsify(lambda x: x.reshape(*args, **kwargs))(self)

    def _with(self, data: Any) -> "BCOO":
        """Other elements at the same points."""
        return BCOO((data, self.indices), shape=self.shape, indices_sorted=self.indices_sorted,
                    unique_indices=self.unique_indices)

    def __getitem__(self, index):
        return operations().getitem(self, index)

    def __iter__(self):
        if not self.shape:
            raise TypeError("iteration over a 0-d sparse array")
        return iter([self[i] for i in range(self.shape[0])])

    def __mul__(self, other):
        """Without a detour over a dense array of the whole shape."""
        return operations().multiply(self, other)

    __rmul__ = __mul__
    __truediv__, __rtruediv__ = _late("divide"), _late("divide", True)
    __pow__, __rpow__ = _late("power"), _late("power", True)
    __eq__, __ne__, __lt__ = _late("equal"), _late("not_equal"), _late("less")
    __le__, __gt__, __ge__ = _late("less_equal"), _late("greater"), _late("greater_equal")
    __abs__ = _late_unary("abs")
    __hash__ = None


node_rules[BCOO] = mapped_along_batch_axes


def properties(data: Array, indices: Array, shape: Sequence[int]) -> BCOOProperties:
    """The layout of buffers.

    Raises:
      ValueError: they do not fit together, or not ``shape``. TypeError: the indices are not integers.
    """
    def bad(why):
        return ValueError(f"BCOO: data of shape {data.shape} and indices of shape {indices.shape} cannot represent an array of "
                          f"shape {tuple(shape)}: {why}")
    if not jnp.issubdtype(indices.dtype, jnp.integer):
        raise TypeError(f"BCOO: indices must be integers, got dtype {indices.dtype}")
    if indices.ndim < 2:
        raise bad("indices need at least two axes")
    n_batch, n_sparse, nse = indices.ndim - 2, indices.shape[-1], indices.shape[-2]
    n_dense = data.ndim - 1 - n_batch
    if n_dense < 0 or n_batch + n_sparse + n_dense != len(shape):
        raise bad(f"they have {n_batch} batch, {n_sparse} sparse and {n_dense} dense axes")
    if data.shape[n_batch] != nse:
        raise bad(f"data have {data.shape[n_batch]} elements and indices {nse}")
    for name, found in (("data", data), ("indices", indices)):
        if any(n not in (1, m) for n, m in zip(found.shape[:n_batch], shape)):
            raise bad(f"the batch axes of {name} must have the lengths {tuple(shape[:n_batch])} or 1")
    if data.shape[n_batch + 1:] != tuple(shape[n_batch + n_sparse:]):
        raise bad(f"the dense axes must have the lengths {tuple(shape[n_batch + n_sparse:])}")
    return BCOOProperties(n_batch, n_sparse, n_dense, nse)


@takes(mat=BCOO)
def parts(mat: BCOO) -> tuple[tuple, tuple, tuple]:
    """The shape's batch, sparse and dense parts."""
    a, b = mat.n_batch, mat.n_batch + mat.n_sparse
    return mat.shape[:a], mat.shape[a:b], mat.shape[b:]


@takes(mat=BCOO)
def full_batch(mat: BCOO) -> BCOO:
    """``mat`` with batch axes of length 1 repeated in its buffers."""
    batch = mat.shape[:mat.n_batch]
    data = jnp.broadcast_to(mat.data, (*batch, *mat.data.shape[mat.n_batch:]))
    indices = jnp.broadcast_to(mat.indices, (*batch, *mat.indices.shape[mat.n_batch:]))
    return BCOO((data, indices), shape=mat.shape, indices_sorted=mat.indices_sorted, unique_indices=mat.unique_indices)


# -- to and from dense ---------------------------------------------------------------------------------------------------

def _todense_one(data, indices, *, shape, info):
    if not indices.shape[1]:
        return data.sum(0, dtype=data.dtype)
    return collected(jnp.zeros(shape, data.dtype), columns(indices), data, indices_are_sorted=info.indices_sorted,
                     unique_indices=info.unique_indices)


def _todense(data, indices, *, spinfo):
    n_batch = indices.ndim - 2
    one = lambda d, i: _todense_one(d, i, shape=spinfo.shape[n_batch:], info=spinfo)
    return jnp.broadcast_to(nfold_vmap(one, n_batch)(data, indices), spinfo.shape)


bcoo_todense_p = named("bcoo_todense", _todense)


@takes(mat=BCOO)
def bcoo_todense(mat: BCOO) -> Array:
    """The dense array; elements at one point are added, padding is left out.

    >>> from jax.experimental import sparse
    >>> sparse.bcoo_todense(sparse.eye(2))
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    return bcoo_todense_p.bind(mat.data, mat.indices, spinfo=mat._info)


def _fromdense(mat, *, nse, n_batch, n_dense, index_dtype):
    n_sparse = mat.ndim - n_batch - n_dense

    def one(block):
        filled = jnp.any(lax.ne(block, lax.full_like(block, 0)), axis=tuple(range(n_sparse, block.ndim)))
        if not n_sparse:
            return jnp.pad(block[None], [(0, nse - 1)] + [(0, 0)] * n_dense), jnp.zeros((nse, 0), index_dtype)
        found = jnp.nonzero(filled, size=nse, fill_value=filled.shape)
        data = block.at[found].get(mode="fill", fill_value=0)
        return data, jnp.stack(found, -1).astype(index_dtype)
    return nfold_vmap(one, n_batch, broadcasted=False)(mat)


bcoo_fromdense_p = named("bcoo_fromdense", _fromdense, multiple_results=True)


def stored_count(name: str, dense: Array, nse: int | None, n_batch: int, n_dense: int) -> int:
    """``nse``, the argument of the function ``name``, or the least that is enough for ``dense``."""
    if nse is None:
        with ensure_compile_time_eval():  # of an array that is known, also inside of a traced function
            nse = _count_stored_elements(dense, n_batch, n_dense) if n_batch + n_dense < dense.ndim else 1
    return concrete_count(nse, f"The error arose for the nse argument of {name}; pass the number of elements to store.")


def bcoo_fromdense(mat: ArrayLike, *, nse: int | None = None, n_batch: int = 0, n_dense: int = 0,
                   index_dtype: DTypeLike = np.int32) -> BCOO:
    """The elements of ``mat`` that are not 0.

    Args:
      mat: an array.
      nse: how many to store in each batch; what is missing is padding, and what is too much is dropped. By default as many
        as the batch with most needs, which has to be known: under `jit` it must be given.
      n_batch, n_dense: how many leading and trailing axes are batch and dense axes.
      index_dtype: of the coordinates.

    Raises:
      ConcretizationTypeError: ``nse`` is missing and the array is traced.
      ValueError: more batch and dense axes than there are.

    >>> from jax.experimental import sparse
    >>> sparse.bcoo_fromdense(jnp.array([[0, 5], [7, 0]])).indices
    Array([[0, 1],
           [1, 0]], dtype=int32)
    """
    dense: Any = mat if hasattr(mat, "shape") else jnp.asarray(mat)
    if n_batch < 0 or n_dense < 0 or n_batch + n_dense > dense.ndim:
        raise ValueError(f"bcoo_fromdense: n_batch={n_batch} and n_dense={n_dense} for an array of shape {dense.shape}")
    nse = stored_count("bcoo_fromdense", dense, nse, n_batch, n_dense)
    data, indices = bcoo_fromdense_p.bind(dense, nse=nse, n_batch=n_batch, n_dense=n_dense, index_dtype=np.dtype(index_dtype))
    return BCOO((data, indices), shape=dense.shape, indices_sorted=True, unique_indices=True)


def _first_at_point(indices, shape):
    """Which stored elements are the first at their point."""
    n = indices.shape[0]
    rank = jnp.arange(n, dtype=np.int32)
    if not indices.shape[1]:
        return rank == 0
    first = jnp.full(shape, n, np.int32).at[columns(indices)].min(rank, mode="drop")
    return first.at[columns(indices)].get(mode="fill", fill_value=-1) == rank


def _extract(indices, arr, *, assume_unique):
    n_batch, n_sparse = indices.ndim - 2, indices.shape[-1]

    def one(indices: Array, block):
        if n_sparse:
            found = block.at[columns(indices)].get(mode="fill", fill_value=0)
        else:
            found = jnp.broadcast_to(block, (indices.shape[0], *block.shape))
        if assume_unique:
            return found
        first = _first_at_point(indices, block.shape[:n_sparse])
        return stored_where(first.reshape(-1, *(1,) * (found.ndim - 1)), found)
    return nfold_vmap(one, n_batch)(indices, arr)


bcoo_extract_p = named("bcoo_extract", _extract)


def _bcoo_extract(indices, arr, *, assume_unique=True):
    """The elements of ``arr`` at the coordinates ``indices``."""
    return bcoo_extract_p.bind(jnp.asarray(indices), jnp.asarray(arr), assume_unique=assume_unique)


@takes(sparr=BCOO)
def bcoo_extract(sparr: BCOO, arr: ArrayLike, *, assume_unique: bool | None = None) -> BCOO:
    """The elements of the dense ``arr`` at the points that ``sparr`` stores.

    Args:
      sparr: says which points.
      arr: an array of the same shape.
      assume_unique: no point is stored twice; else only the first one gets the element. By default what ``sparr`` says.

    Raises:
      TypeError: ``sparr`` is not BCOO. ValueError: shapes differ.

    >>> from jax.experimental import sparse
    >>> sparse.bcoo_extract(sparse.eye(2), jnp.array([[5.0, 6.0], [7.0, 8.0]])).data
    Array([5., 8.], dtype=float32)
    """
    if not isinstance(sparr, BCOO):
        raise TypeError(f"bcoo_extract: the first argument must be BCOO, got {type(sparr).__name__}")
    arr = jnp.asarray(arr)
    if arr.shape != sparr.shape:
        raise ValueError(f"bcoo_extract: shapes {sparr.shape} and {arr.shape} must be equal")
    unique = sparr.unique_indices if assume_unique is None else bool(assume_unique)
    return sparr._with(_bcoo_extract(sparr.indices, arr, assume_unique=unique))


# -- order and number of the stored elements -----------------------------------------------------------------------------

def _marked(indices, shape):
    """Coordinates with all padding at the corner ``shape``, where it sorts last."""
    return jnp.where(valid(indices, shape)[:, None], indices, jnp.asarray(shape, indices.dtype))


def _order(indices):
    return jnp.lexsort(columns(indices)[::-1])


def _sort(data, indices, *, spinfo):
    n_batch = indices.ndim - 2

    def one(data: Array, indices: Array):
        if not indices.shape[1] or not indices.shape[0]:
            return data, indices
        order = _order(indices)  # of padding too, which may have a row that exists: who is told of sorted rows searches among all
        return data[order], indices[order]
    return nfold_vmap(one, n_batch)(data, indices)


bcoo_sort_indices_p = named("bcoo_sort_indices", _sort, multiple_results=True)


@takes(mat=BCOO)
def bcoo_sort_indices(mat: BCOO) -> BCOO:
    """The same elements with rising coordinates, those of padding too.

    >>> from jax.experimental import sparse
    >>> m = sparse.BCOO((jnp.array([1, 2]), jnp.array([[2], [0]])), shape=(3,))
    >>> sparse.bcoo_sort_indices(m).data
    Array([2, 1], dtype=int32)
    """
    if mat.indices_sorted:
        return mat
    data, indices = bcoo_sort_indices_p.bind(mat.data, mat.indices, spinfo=mat._info)
    return BCOO((data, indices), shape=mat.shape, indices_sorted=True, unique_indices=mat.unique_indices)


def _groups(indices, shape):
    """Order by point, coordinates in that order, and the number of the point that each belongs to."""
    indices = _marked(indices, shape)
    order = _order(indices) if indices.shape[1] else jnp.arange(indices.shape[0])
    indices = indices[order]
    new = jnp.any(indices[1:] != indices[:-1], axis=1)
    group = jnp.concatenate([jnp.zeros(min(1, indices.shape[0]), np.int32), jnp.cumsum(new, dtype=np.int32)])
    return order, indices, group


def _sum_duplicates(data, indices, *, spinfo, nse):
    n_batch = indices.ndim - 2
    shape = spinfo.shape[n_batch:n_batch + indices.shape[-1]]

    def one(data: Array, indices: Array):
        order, indices, group = _groups(indices, shape)
        inside = valid(indices, shape).reshape(-1, *(1,) * (data.ndim - 1))
        points = jnp.broadcast_to(jnp.asarray(shape, indices.dtype), (nse, len(shape))).at[group].set(indices, mode="drop")
        terms = jnp.where(inside, data[order], jnp.zeros((), data.dtype))
        return collected(jnp.zeros((nse, *data.shape[1:]), data.dtype), group, terms, indices_are_sorted=True), points
    return nfold_vmap(one, n_batch)(data, indices)


bcoo_sum_duplicates_p = named("bcoo_sum_duplicates", _sum_duplicates, multiple_results=True)


def _count_points(indices, shape):
    """The largest number of different points in a batch."""
    n_batch = indices.ndim - 2

    def one(indices: Array):
        if not indices.shape[0]:
            return jnp.zeros((), np.int32)
        _, indices, group = _groups(indices, shape)
        return jnp.max(jnp.where(valid(indices, shape), group + 1, 0))
    return jnp.max(nfold_vmap(one, n_batch)(indices), initial=0)


@takes(mat=BCOO)
def bcoo_sum_duplicates(mat: BCOO, nse: int | None = None) -> BCOO:
    """Elements at one point added to one, in rising order.

    Args:
      mat: an array.
      nse: how many to store in each batch; must be given under `jit`. By default as many as are needed.

    Raises:
      ValueError: ``nse`` is missing and the coordinates are traced.

    >>> from jax.experimental import sparse
    >>> m = sparse.BCOO((jnp.array([1, 2]), jnp.array([[0], [0]])), shape=(2,))
    >>> sparse.bcoo_sum_duplicates(m).data
    Array([3], dtype=int32)
    """
    if nse is None:
        with ensure_compile_time_eval():
            nse = _count_points(mat.indices, parts(mat)[1])
        if isinstance(nse, Tracer):
            raise ValueError("bcoo_sum_duplicates: without nse the coordinates are counted, and here they are traced; pass the number of elements to store")
    data, indices = bcoo_sum_duplicates_p.bind(mat.data, mat.indices, spinfo=mat._info, nse=operator.index(nse))
    return BCOO((data, indices), shape=mat.shape, indices_sorted=True, unique_indices=True)


@takes(mat=BCOO)
def bcoo_eliminate_zeros(mat: BCOO, nse: int | None = None) -> BCOO:
    """`bcoo_sum_duplicates` without stored elements that are 0.

    >>> from jax.experimental import sparse
    >>> m = sparse.BCOO((jnp.array([0, 2]), jnp.array([[0], [1]])), shape=(3,))
    >>> sparse.bcoo_eliminate_zeros(m).nse
    1
    """
    filled = jnp.any(mat.data != 0, axis=tuple(range(mat.n_batch + 1, mat.data.ndim)))
    indices = jnp.where(filled[..., None], mat.indices, jnp.asarray(parts(mat)[1], mat.indices.dtype))
    return bcoo_sum_duplicates(BCOO((mat.data, indices), shape=mat.shape), nse)


# -- layout --------------------------------------------------------------------------------------------------------------

def _transpose(data, indices, *, permutation, spinfo):
    n_batch, n_sparse = indices.ndim - 2, indices.shape[-1]
    batch = permutation[:n_batch]
    points = [p - n_batch for p in permutation[n_batch:n_batch + n_sparse]]
    dense = [p - n_sparse + 1 for p in permutation[n_batch + n_sparse:]]
    indices = indices[..., np.asarray(points, int)].transpose((*batch, n_batch, n_batch + 1))
    return data.transpose((*batch, n_batch, *dense)), indices


bcoo_transpose_p = named("bcoo_transpose", _transpose, multiple_results=True)


@takes(mat=BCOO)
def bcoo_transpose(mat: BCOO, *, permutation: Sequence[int]) -> BCOO:
    """The axes in another order.

    Raises:
      TypeError: not a permutation.
      NotImplementedError: it would exchange batch, sparse and dense axes; use `bcoo_update_layout` first.

    >>> from jax.experimental import sparse
    >>> m = sparse.BCOO.fromdense(jnp.array([[0, 5], [0, 0]]))
    >>> sparse.bcoo_transpose(m, permutation=(1, 0)).todense()
    Array([[0, 0],
           [5, 0]], dtype=int32)
    """
    permutation = tuple(operator.index(p) for p in permutation)
    if sorted(permutation) != list(range(mat.ndim)):
        raise TypeError(f"bcoo_transpose: permutation {permutation} is not one of the {mat.ndim} axes of {mat}")
    a, b = mat.n_batch, mat.n_batch + mat.n_sparse
    if any((i < a) != (p < a) or (i < b) != (p < b) for i, p in enumerate(permutation)):
        raise NotImplementedError(f"bcoo_transpose: permutation {permutation} mixes batch, sparse and dense axes of {mat}; "
                                  "change the layout first, with update_layout")
    data, indices = bcoo_transpose_p.bind(mat.data, mat.indices, permutation=permutation, spinfo=mat._info)
    kept = permutation[a:b] == tuple(range(a, b))
    return BCOO((data, indices), shape=tuple(mat.shape[p] for p in permutation), unique_indices=mat.unique_indices,
                indices_sorted=mat.indices_sorted and kept)


@takes(mat=BCOO)
def bcoo_update_layout(mat: BCOO, *, n_batch: int | None = None, n_dense: int | None = None,
                       on_inefficient: str | None = "error") -> BCOO:
    """The same array with other numbers of batch and dense axes.

    Args:
      mat: an array.
      n_batch, n_dense: the new numbers; None leaves them.
      on_inefficient: what to do where more elements would be stored: "error", "warn" or None.

    Raises:
      SparseEfficiencyError: see ``on_inefficient``. ValueError: more axes than there are, or another word.

    >>> from jax.experimental import sparse
    >>> sparse.bcoo_update_layout(sparse.eye(2), n_batch=1, on_inefficient=None).n_batch
    1
    """
    if on_inefficient not in ("error", "warn", None):
        raise ValueError(f"bcoo_update_layout: on_inefficient must be 'error', 'warn' or None, got {on_inefficient!r}")
    n_batch = mat.n_batch if n_batch is None else operator.index(n_batch)
    n_dense = mat.n_dense if n_dense is None else operator.index(n_dense)
    if n_batch < 0 or n_dense < 0 or n_batch + n_dense > mat.ndim:
        raise ValueError(f"bcoo_update_layout: n_batch={n_batch} and n_dense={n_dense} for {mat}")
    for kind, new, old in (("n_batch", n_batch, mat.n_batch), ("n_dense", n_dense, mat.n_dense)):
        if new > old:
            _complain(mat, kind, old, new, on_inefficient)
    if n_batch < mat.n_batch:
        mat = _batch_to_sparse(mat, mat.n_batch - n_batch)
    if n_dense < mat.n_dense:
        mat = _dense_to_sparse(mat, mat.n_dense - n_dense)
    if n_batch > mat.n_batch:
        mat = _sparse_to_batch(mat, n_batch - mat.n_batch)
    return _sparse_to_dense(mat, n_dense - mat.n_dense) if n_dense > mat.n_dense else mat


def _complain(mat, kind, old, new, how):
    """Each stored element becomes ``grown``, of which one is not 0; fewer are needed only where batches are full."""
    axes = mat.shape[old:new] if kind == "n_batch" else mat.shape[mat.ndim - new:mat.ndim - old]
    if math.prod(axes) <= 1 or how is None:
        return
    text = (f"bcoo_update_layout: raising {kind} from {old} to {new} for {mat} stores each element {math.prod(axes)} times; "
            "pass on_inefficient=None if that is wanted.")
    if how == "error":
        raise SparseEfficiencyError(text)
    source.warn(text, SparseEfficiencyWarning)


def _batch_to_sparse(mat, count):
    """The last ``count`` batch axes as leading sparse axes."""
    mat = full_batch(mat)
    kept = mat.n_batch - count
    moved = mat.shape[kept:mat.n_batch]
    grid = jnp.stack(jnp.meshgrid(*[jnp.arange(n, dtype=mat.indices.dtype) for n in moved], indexing="ij"), -1)
    grid = jnp.broadcast_to(grid[..., None, :], (*mat.shape[:kept], *moved, mat.nse, count))
    indices = jnp.concatenate([grid, mat.indices], -1)
    total = math.prod(moved) * mat.nse
    indices = indices.reshape(*mat.shape[:kept], total, mat.n_sparse + count)
    data = mat.data.reshape(*mat.shape[:kept], total, *mat.data.shape[mat.n_batch + 1:])
    return BCOO((data, indices), shape=mat.shape, unique_indices=mat.unique_indices)


def _dense_to_sparse(mat, count):
    """The first ``count`` dense axes as trailing sparse axes."""
    start = mat.n_batch + mat.n_sparse
    moved, rest = mat.shape[start:start + count], mat.shape[start + count:]
    size = math.prod(moved)
    grid = jnp.stack(jnp.meshgrid(*[jnp.arange(n, dtype=mat.indices.dtype) for n in moved], indexing="ij"), -1)
    grid = grid.reshape(size, count)
    lead = mat.indices.shape[:-2]
    left = jnp.broadcast_to(mat.indices[..., None, :], (*lead, mat.nse, size, mat.n_sparse))
    right = jnp.broadcast_to(grid, (*lead, mat.nse, size, count))
    indices = jnp.concatenate([left, right], -1).reshape(*lead, mat.nse * size, mat.n_sparse + count)
    data = mat.data.reshape(*mat.data.shape[:mat.n_batch], mat.nse * size, *rest)
    return BCOO((data, indices), shape=mat.shape, unique_indices=mat.unique_indices, indices_sorted=mat.indices_sorted)


def _spread(mat, where, moved):
    """For each point of ``moved`` the data of the elements whose coordinates at ``where`` are that point, else 0."""
    grid = jnp.stack(jnp.meshgrid(*[jnp.arange(n, dtype=mat.indices.dtype) for n in moved], indexing="ij"), -1)
    points = mat.indices[..., where][(..., *(None,) * len(moved), slice(None))]
    return jnp.all(points == grid.reshape((1,) * (points.ndim - grid.ndim) + grid.shape), axis=-1)


def _sparse_to_batch(mat, count):
    """The first ``count`` sparse axes as trailing batch axes: all elements are stored in each batch, most as padding."""
    mat = full_batch(mat)
    a = mat.n_batch
    moved = mat.shape[a:a + count]
    here = jnp.moveaxis(_spread(mat, slice(0, count), moved), a, -1)  # (*batch, *moved, nse)
    lift = (slice(None),) * a + (None,) * count
    rest = jnp.asarray(mat.shape[a + count:a + mat.n_sparse], mat.indices.dtype)
    indices = jnp.where(here[..., None], mat.indices[..., count:][lift], rest)
    data = stored_where(here[(..., *(None,) * mat.n_dense)], mat.data[lift])
    return BCOO((data, indices), shape=mat.shape, unique_indices=mat.unique_indices and len(rest) > 0)


def _sparse_to_dense(mat, count):
    """The last ``count`` sparse axes as leading dense axes: each element becomes a block with one element that is not 0."""
    a, kept = mat.n_batch, mat.n_sparse - count
    moved = mat.shape[a + kept:a + mat.n_sparse]
    here = _spread(mat, slice(kept, None), moved)  # (*batch, nse, *moved)
    data = jnp.where(here[(..., *(None,) * mat.n_dense)],
                     mat.data[(slice(None),) * (a + 1) + (None,) * count], 0)
    return BCOO((data, mat.indices[..., :kept]), shape=mat.shape)
