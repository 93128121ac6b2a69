"""What all sparse formats share: facts about the stored elements, warnings, and maps over batch axes."""
from __future__ import annotations

import operator
from typing import Any, Callable, NamedTuple, Sequence

import numpy as np

from jax_core.representation import errors, tree
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike, PyTree
from jax_core.traces.trace import Tracer, ensure_compile_time_eval
from jax_core.transformations.vmap import vmap

from .. import numpy as jnp

Shape = tuple[int, ...]


class SparseEfficiencyError(ValueError):
    """A conversion would store far more elements than before."""


class SparseEfficiencyWarning(UserWarning):
    """An operation stores, or computes, more than it seems to need."""


class CuSparseEfficiencyWarning(SparseEfficiencyWarning):
    """A product cannot use the vendor's library."""


class SparseInfo(NamedTuple):
    """What a primitive has to know of a sparse operand besides its buffers."""

    shape: Shape
    indices_sorted: bool = False
    unique_indices: bool = False


# -- batches -------------------------------------------------------------------------------------------------------------

def broadcasting_vmap(fun: Callable[..., PyTree], in_axes: PyTree = 0, out_axes: PyTree = 0) -> Callable:
    """`vmap` under which an axis of length 1 is repeated as often as the longest one asks.

    >>> from jax.experimental.sparse import util
    >>> util.broadcasting_vmap(jnp.add)(jnp.ones(1), jnp.arange(3.))
    Array([1., 2., 3.], dtype=float32)
    """
    def batched(*args):
        axes = in_axes if isinstance(in_axes, (tuple, list)) else (in_axes,) * len(args)
        sizes = {x.shape[a] for arg, a in zip(args, axes) if a is not None for x in tree.leaves(arg)}
        if len(sizes - {1}) > 1:
            raise ValueError(f"broadcasting_vmap: mapped axes have the lengths {sorted(sizes)}; they must be equal or 1")
        if sizes <= {1}:
            return vmap(fun, in_axes=tuple(axes), out_axes=out_axes)(*args)
        single = [a is not None and all(x.shape[a] == 1 for x in tree.leaves(arg)) for arg, a in zip(args, axes)]
        args = [tree.map(lambda x, a=a: jnp.squeeze(x, a), arg) if one else arg for arg, a, one in zip(args, axes, single)]
        return vmap(fun, in_axes=tuple(None if one else a for a, one in zip(axes, single)), out_axes=out_axes)(*args)
    return batched


def nfold_vmap(fun: Callable[..., PyTree], N: int, *, broadcasted: bool = True, in_axes: PyTree = 0) -> Callable:
    """``fun`` mapped over ``N`` leading axes; with ``broadcasted`` axes of length 1 are repeated.

    >>> from jax.experimental.sparse import bcoo
    >>> bcoo.nfold_vmap(jnp.sum, 2)(jnp.ones((2, 3, 4))).shape
    (2, 3)
    """
    for _ in range(N):
        fun = broadcasting_vmap(fun, in_axes) if broadcasted else vmap(fun, in_axes)
    return fun


def batched_shape(shape: Shape, ndim: int, n_batch: int, *buffers: Any) -> Shape:
    """``shape`` for buffers that have gained or lost batch axes since it was written down, so that ``ndim`` axes are left."""
    if ndim == len(shape):
        return shape
    try:
        batch = jnp.broadcast_shapes(*(x.shape[:n_batch] for x in buffers))
    except ValueError:  # buffers of which only some are mapped: they are on their way somewhere else
        return shape
    return (*batch, *shape[len(shape) - (ndim - n_batch):])


# -- small things --------------------------------------------------------------------------------------------------------

def concrete_count(n: ArrayLike, what: str) -> int:
    """``n`` as a Python integer.

    Raises:
      TypeError: it is no integer. ConcretizationTypeError: it is traced; ``what`` says which argument would avoid that.
    """
    number: Any = n
    if isinstance(n, Tracer):
        known = n.concrete()
        if known is None:
            raise errors.ConcretizationTypeError(n, f"{what} The number of stored elements depends on values, which are not "
                                                 "known while a program is traced. ")
        number = known
    return operator.index(number)


def _count_stored_elements_per_batch(mat: Any, n_batch: int = 0, n_dense: int = 0) -> Any:
    """How many elements of a dense array BCOO has to store in each batch."""
    filled = jnp.any(mat != 0, axis=tuple(range(mat.ndim - n_dense, mat.ndim)))
    return jnp.sum(filled, axis=tuple(range(n_batch, filled.ndim)), dtype=np.int32)


def _count_stored_elements(mat: Any, n_batch: int = 0, n_dense: int = 0) -> Any:
    """How many elements BCOO has to store in the batch with most."""
    return jnp.max(_count_stored_elements_per_batch(mat, n_batch, n_dense), initial=0)


def matrix_and_count(name: str, mat: ArrayLike, nse: int | None) -> tuple[Any, int]:
    """A dense matrix, and how many elements ``name`` shall store of it: ``nse``, or as many as are not 0.

    Raises:
      ValueError: not a matrix. ConcretizationTypeError: ``nse`` is missing and the matrix is traced.
    """
    dense: Any = mat if hasattr(mat, "shape") else jnp.asarray(mat)
    if dense.ndim != 2:
        raise ValueError(f"{name}: needs a matrix, got shape {dense.shape}")
    count: ArrayLike | None = nse
    if count is None:
        with ensure_compile_time_eval():
            count = jnp.sum(dense != 0)
    return dense, concrete_count(count, f"The error arose for the nse argument of {name}; pass the number of elements to store.")


def row(values: Sequence[int] | ArrayLike, like: Array) -> Array:
    """A vector along the last axis of arrays such as ``like``, of their rank and dtype."""
    vector = jnp.asarray(values, like.dtype)
    return vector.reshape((1,) * (like.ndim - 1) + vector.shape)


def valid(indices: Array, shape: Sequence[int]) -> Array:
    """Which rows of ``indices`` (..., n) are inside of ``shape``; the others are padding."""
    return jnp.all(indices < row(shape, indices), axis=-1)


def columns(indices: Array, which: Sequence[int] | None = None) -> tuple[Array, ...]:
    """The coordinates of ``indices`` (nse, n) as a tuple for indexing, all or those at ``which``."""
    return tuple(indices[:, d] for d in (range(indices.shape[1]) if which is None else which))


def collected(out: Array, at: object, terms: Array, **promises: bool) -> Array:
    """``out`` with ``terms`` added at the indices ``at``, those outside left out; booleans, which have no sum, are there if one of them is."""
    places = out.at[at]
    return (places.max if out.dtype == np.bool_ else places.add)(terms, mode="drop", **promises)


def stored_where(mask: Any, data: Array) -> Array:
    """``data`` where ``mask`` holds, and the 0 of its dtype elsewhere: a number would make numbers of booleans."""
    return jnp.where(mask, data, jnp.zeros((), data.dtype))


def require_none(function: str, **given: Any) -> None:
    """Raise NotImplementedError for arguments that are not None."""
    for name, value in given.items():
        if value is not None:
            raise NotImplementedError(f"{function}: {name} is not supported, got {value!r}")


def static_shape(shape: Sequence[int] | int) -> tuple[int, ...]:
    """``shape`` as a tuple of Python integers.

    Raises:
      TypeError: a length is no integer.
    """
    try:
        return tuple(map(operator.index, (shape,) if np.ndim(shape) == 0 else shape))  # type: ignore[arg-type]  # ndim tells which
    except TypeError:
        raise TypeError(f"a sparse array's shape consists of integers, got {shape!r}") from None
