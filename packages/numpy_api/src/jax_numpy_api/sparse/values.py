"""Sparse arrays by reference: values whose buffers stand in an environment, the form in which other libraries write rules."""
from __future__ import annotations

from typing import Any, Sequence, cast

import numpy as np

from jax_core.representation import tree
from jax_core.representation.arguments import takes
from jax_core.representation.aval import ShapedArray
from jax_core.representation.typing import ArrayLike, PyTree

from .. import numpy as jnp
from .bcoo import BCOO
from .bcsr import BCSR
from .rules import is_sparse, to_bcoo

Array = Any


class SparsifyValue:
    """An array by reference: positions of its buffers in a `SparsifyEnv`."""

    __slots__ = ("shape", "data_ref", "indices_ref", "indptr_ref", "indices_sorted", "unique_indices")
    shape: tuple[int, ...]
    data_ref: int | None
    indices_ref: int | None
    indptr_ref: int | None
    indices_sorted: bool
    unique_indices: bool

    def __init__(self, shape: Sequence[int], data_ref: int | None, indices_ref: int | None = None,
                 indptr_ref: int | None = None, indices_sorted: bool = False, unique_indices: bool = False):
        self.shape, self.data_ref = tuple(shape), data_ref
        self.indices_ref, self.indptr_ref = indices_ref, indptr_ref
        self.indices_sorted, self.unique_indices = indices_sorted, unique_indices

    ndim = property(lambda self: len(self.shape))

    def __eq__(self, other):
        return isinstance(other, SparsifyValue) and all(getattr(self, k) == getattr(other, k) for k in self.__slots__)

    def __hash__(self):
        return hash(tuple(getattr(self, k) for k in self.__slots__))

    def is_sparse(self) -> bool:
        """Whether there are indices."""
        return self.indices_ref is not None

    def is_dense(self) -> bool:
        """Whether there are none."""
        return self.indices_ref is None

    def is_bcoo(self) -> bool:
        """Whether it is sparse in coordinate format."""
        return self.is_sparse() and self.indptr_ref is None

    def is_bcsr(self) -> bool:
        """Whether it is sparse in compressed row format."""
        return self.is_sparse() and self.indptr_ref is not None


class SparsifyEnv:
    """The buffers that `SparsifyValue` refers to."""

    def __init__(self, bufs: Sequence[Any] = ()):
        self._buffers = list(bufs)

    def replace(self, bufs: Sequence[object]) -> list:
        """The buffers, with ``bufs`` put in their place."""
        before, self._buffers = self._buffers, list(bufs)
        return before

    def _push(self, x):
        self._buffers.append(jnp.asarray(x))
        return len(self._buffers) - 1

    def _at(self, ref: int | None) -> Any:
        return self._buffers[cast(int, ref)]  # asked for where there is one

    def data(self, spvalue: SparsifyValue) -> Any:
        """The stored elements."""
        return self._at(spvalue.data_ref)

    def indices(self, spvalue: SparsifyValue) -> Any:
        """The coordinates."""
        return self._at(spvalue.indices_ref)

    def indptr(self, spvalue: SparsifyValue) -> Any:
        """Where rows begin."""
        return self._at(spvalue.indptr_ref)

    def dense(self, data: ArrayLike) -> SparsifyValue:
        """A new dense value."""
        return SparsifyValue(np.shape(data), self._push(data))

    def sparse(self, shape: Sequence[int], data: ArrayLike | None = None, indices: ArrayLike | None = None,
               indptr: ArrayLike | None = None, *, data_ref: int | None = None, indices_ref: int | None = None,
               indptr_ref: int | None = None, indices_sorted: bool = False,
               unique_indices: bool = False) -> SparsifyValue:
        """A new sparse value, of new buffers or of references to old ones."""
        own, places, rows = (self._push(x) if ref is None and x is not None else ref
                             for x, ref in ((data, data_ref), (indices, indices_ref), (indptr, indptr_ref)))
        return SparsifyValue(shape, own, places, rows, indices_sorted=indices_sorted, unique_indices=unique_indices)


@takes(spenv=SparsifyEnv)
def arrays_to_spvalues(spenv: SparsifyEnv, args: PyTree) -> Any:
    """A pytree of dense and sparse arrays as one of values in ``spenv``.

    >>> from jax.experimental import sparse
    >>> from jax.experimental.sparse import transform
    >>> env = transform.SparsifyEnv()
    >>> transform.arrays_to_spvalues(env, [jnp.ones(2), sparse.BCOO.fromdense(jnp.eye(2))])[1].is_sparse()
    True
    """
    def stored(x: Array):
        x = x if isinstance(x, BCSR) else to_bcoo(x)
        # the leaves of a sparse array are its buffers, in the order in which `SparsifyEnv.sparse` takes them
        return spenv.sparse(x.shape, *tree.leaves(x), indices_sorted=x.indices_sorted, unique_indices=x.unique_indices)
    return tree.map(lambda x: stored(x) if is_sparse(x) else spenv.dense(x), args, is_leaf=is_sparse)


def _value(name: str, v: Any) -> SparsifyValue:
    if isinstance(v, SparsifyValue):
        return v
    raise TypeError(f"{name}: the leaves must be values of a SparsifyEnv, as arrays_to_spvalues makes them, got {v!r} of type {type(v).__name__}")


@takes(spenv=SparsifyEnv)
def spvalues_to_arrays(spenv: SparsifyEnv, spvalues: object) -> Any:
    """The inverse of `arrays_to_spvalues`.

    >>> from jax.experimental import sparse
    >>> from jax.experimental.sparse import transform
    >>> env = transform.SparsifyEnv()
    >>> values = transform.arrays_to_spvalues(env, [sparse.BCOO.fromdense(jnp.eye(2))])
    >>> transform.spvalues_to_arrays(env, values)
    [BCOO(float32[2, 2], nse=2)]
    """
    def fetched(v: Array):
        if _value("spvalues_to_arrays", v).is_dense():
            return spenv.data(v)
        cls, rows = (BCOO, ()) if v.is_bcoo() else (BCSR, (spenv.indptr(v),))
        return cls((spenv.data(v), spenv.indices(v), *rows), shape=v.shape, indices_sorted=v.indices_sorted,
                   unique_indices=v.unique_indices)
    return tree.map(fetched, spvalues, is_leaf=lambda v: isinstance(v, SparsifyValue))


@takes(spenv=SparsifyEnv)
def spvalues_to_avals(spenv: SparsifyEnv, spvalues: object) -> Any:
    """The types of the arrays that the values stand for.

    >>> from jax.experimental import sparse
    >>> from jax.experimental.sparse import transform
    >>> env = transform.SparsifyEnv()
    >>> transform.spvalues_to_avals(env, transform.arrays_to_spvalues(env, [sparse.BCOO.fromdense(jnp.eye(2))]))
    [ShapedArray(float32[2,2])]
    """
    return tree.map(lambda v: ShapedArray(_value("spvalues_to_avals", v).shape, spenv.data(v).dtype), spvalues,
                    is_leaf=lambda v: isinstance(v, SparsifyValue))
