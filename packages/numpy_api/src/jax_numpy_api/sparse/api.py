"""Functions that serve all formats: `todense`, `empty`, `eye`."""
from __future__ import annotations

import operator
from typing import Any, Sequence

from jax_core.representation.array import Array
from jax_core.representation.tree import tree_flatten, tree_unflatten
from jax_core.representation.typing import ArrayLike, DTypeLike

from .. import numpy as jnp
from ..named import named
from .base import JAXSparse
from .bcoo import BCOO
from .bcsr import BCSR
from .coo import COO
from .csr import CSC, CSR
from .rules import sparse_rules_bcoo, sparse_rules_bcsr
from .util import static_shape

_FORMATS = {"bcsr": BCSR, "bcoo": BCOO, "coo": COO, "csr": CSR, "csc": CSC}


def _todense(*buffers, tree):
    x = tree_unflatten(tree, buffers)
    return x.todense() if isinstance(x, JAXSparse) else x


todense_p = named("todense", _todense)
sparse_rules_bcoo[todense_p] = sparse_rules_bcsr[todense_p] = lambda x, **_: x.todense()


def todense(arr: JAXSparse | ArrayLike) -> Array:
    """A sparse array of any format as a dense array; a dense array as it is. Also inside of `sparsify`.

    >>> from jax.experimental import sparse
    >>> sparse.todense(sparse.eye(2))
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    buffers, structure = tree_flatten(arr)
    return todense_p.bind(*buffers, tree=structure)


def _format(name: str):
    if name not in _FORMATS:
        raise ValueError(f"sparse_format={name!r} not recognized; must be one of {list(_FORMATS)}")
    return _FORMATS[name]


def empty(shape: Sequence[int], dtype: DTypeLike | None = None, index_dtype: DTypeLike = "int32",
          sparse_format: str = "bcoo", **kwds: Any) -> JAXSparse:
    """A sparse array of zeros that stores nothing.

    Args:
      shape, dtype: of the array; the dtype is float by default.
      index_dtype: of the coordinates.
      sparse_format: "bcoo", "bcsr", "coo", "csr" or "csc".
      kwds: ``n_batch``, ``n_dense`` and ``nse`` for the batched formats.

    Raises:
      TypeError: a length is no integer. ValueError: another format.

    >>> from jax.experimental import sparse
    >>> sparse.empty((2, 3)).nse
    0
    """
    return _format(sparse_format)._empty(static_shape(shape), dtype=jnp.zeros((), dtype).dtype, index_dtype=index_dtype, **kwds)


def eye(N: int, M: int | None = None, k: int = 0, dtype: DTypeLike | None = None, index_dtype: DTypeLike = "int32",
        sparse_format: str = "bcoo", **kwds: Any) -> JAXSparse:
    """A matrix with ones on a diagonal.

    Args:
      N, M: numbers of rows and of columns (default ``N``).
      k: which diagonal; those above the main one are positive.
      dtype, index_dtype, sparse_format, kwds: as for `empty`.

    Raises:
      TypeError: ``N``, ``M`` or ``k`` is no integer. ValueError: another format.

    >>> from jax.experimental import sparse
    >>> sparse.eye(2).todense()
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    rows = operator.index(N)
    return _format(sparse_format)._eye(rows, rows if M is None else operator.index(M), operator.index(k), dtype=jnp.zeros((), dtype).dtype,
                                       index_dtype=index_dtype, **kwds)
