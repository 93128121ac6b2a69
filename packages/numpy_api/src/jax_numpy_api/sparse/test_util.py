"""Layouts and random arrays for tests of sparse code; the test case is in `test_case`."""
from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, NamedTuple, Sequence

import numpy as np

from .. import numpy as jnp
from .bcoo import BCOO
from .bcsr import BCSR
from .test_case import SparseTestCase as SparseTestCase, is_sparse as is_sparse

if TYPE_CHECKING:
    from jax_core.representation.typing import DTypeLike, Shape

MATMUL_TOL = {np.float32: 1e-5, np.float64: 1e-10, np.complex64: 1e-5, np.complex128: 1e-10}
"""How exact products in each dtype are."""


class BatchedDotGeneralProperties(NamedTuple):
    """A case for products in batches."""

    lhs_shape: tuple[int, ...]
    rhs_shape: tuple[int, ...]
    n_batch: int
    n_dense: int
    dimension_numbers: Any


class SparseLayout(NamedTuple):
    """Numbers of axes of each kind."""

    n_batch: int
    n_dense: int
    n_sparse: int


def iter_subsets(s: Sequence[object]) -> Iterable[tuple]:
    """All subsets of ``s``, the smallest first.

    >>> from jax.experimental.sparse import test_util
    >>> list(test_util.iter_subsets([1, 2]))
    [(), (1,), (2,), (1, 2)]
    """
    return itertools.chain.from_iterable(itertools.combinations(s, n) for n in range(len(s) + 1))


def iter_sparse_layouts(shape: Sequence[int], min_n_batch: int = 0) -> Iterator[SparseLayout]:
    """All layouts of an array of ``shape`` in BCOO.

    >>> from jax.experimental.sparse import test_util
    >>> len(list(test_util.iter_sparse_layouts((2, 3))))
    6
    """
    for n_batch in range(min_n_batch, len(shape) + 1):
        for n_dense in range(len(shape) + 1 - n_batch):
            yield SparseLayout(n_batch, n_dense, len(shape) - n_batch - n_dense)


def iter_bcsr_layouts(shape: Sequence[int], min_n_batch: int = 0) -> Iterator[SparseLayout]:
    """All layouts of an array of ``shape`` in BCSR, which has two sparse axes.

    >>> from jax.experimental.sparse import test_util
    >>> len(list(test_util.iter_bcsr_layouts((2, 3, 4))))
    2
    """
    for n_batch in range(min_n_batch, len(shape) - 1):
        yield SparseLayout(n_batch, len(shape) - 2 - n_batch, 2)


def rand_default(rng: np.random.RandomState) -> Callable:
    """A function ``(shape, dtype)`` that draws normal numbers."""
    def rand(shape: Shape, dtype: DTypeLike):
        x = 3 * rng.randn(*shape)
        if np.issubdtype(dtype, np.complexfloating):
            x = x + 3j * rng.randn(*shape)
        return np.asarray(x).astype(dtype)
    return rand


def rand_sparse(rng: np.random.RandomState, nse: int | float = 0.5, post: Callable = lambda x: x,
                rand_method: Callable = rand_default) -> Callable:
    """A function ``(shape, dtype)`` that draws dense arrays of which most elements are 0.

    Args:
      rng: draws.
      nse: how many elements are not 0, or which part (a number below 1).
      post: is applied to the result.
      rand_method: makes the function that draws elements.

    >>> from jax.experimental.sparse import test_util
    >>> int((test_util.rand_sparse(np.random.RandomState(0), nse=2)((3, 4), jnp.float32) != 0).sum())
    2
    """
    def rand(shape: Shape, dtype: DTypeLike, nse=nse):
        x = np.asarray(rand_method(rng)(shape, dtype))
        count = int(np.ceil(nse * x.size)) if 0 < nse < 1 else int(nse)
        kept = rng.choice(x.size, size=min(count, x.size), replace=False)
        mask = np.zeros(x.size, bool)
        mask[kept] = True
        return post(np.where(mask.reshape(x.shape), x, 0).astype(dtype))
    return rand


def rand_bcoo(rng: np.random.RandomState, rand_method: Callable = rand_default, nse: int | float = 0.5, n_batch: int = 0,
              n_dense: int = 0) -> Callable:
    """A function ``(shape, dtype)`` that draws BCOO arrays; it also takes the two numbers of axes.

    >>> from jax.experimental.sparse import test_util
    >>> test_util.rand_bcoo(np.random.RandomState(0), nse=2)((3, 4), jnp.float32).nse
    2
    """
    dense = rand_sparse(rng, nse, jnp.asarray, rand_method)
    return lambda shape, dtype, n_batch=n_batch, n_dense=n_dense: BCOO.fromdense(
        dense(shape, dtype), n_batch=n_batch, n_dense=n_dense)


def rand_bcsr(rng: np.random.RandomState, rand_method: Callable = rand_default, nse: int | float = 0.5, n_batch: int = 0,
              n_dense: int = 0) -> Callable:
    """A function ``(shape, dtype)`` that draws BCSR arrays; it also takes the two numbers of axes.

    >>> from jax.experimental.sparse import test_util
    >>> test_util.rand_bcsr(np.random.RandomState(0), nse=2)((3, 4), jnp.float32).nse
    2
    """
    dense = rand_sparse(rng, nse, jnp.asarray, rand_method)
    return lambda shape, dtype, n_batch=n_batch, n_dense=n_dense: BCSR.fromdense(
        dense(shape, dtype), n_batch=n_batch, n_dense=n_dense)
