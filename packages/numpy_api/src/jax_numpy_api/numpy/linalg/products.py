"""Products: powers, chains of factors, and the products of `jax.numpy` by the array API's signatures."""
from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING, Any, Sequence

from jax_core.programs.jit import inlined
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike, DTypeLike, Placement

from ..linear_algebra import (
    cross as _cross,
    dot,
    matmul as _matmul,
    outer as _outer,
    tensordot as _tensordot,
    trace as _trace,
    vecdot as _vecdot,
)
from ..promotion import as_array, canonical_axis, check_arraylike, shape_of
from ..shaping import diagonal as _diagonal
from .matrices import identity_like
from .systems import inv

if TYPE_CHECKING:
    from jax_numpy_api.lax.dot import PrecisionLike


def matrix_power(a: ArrayLike, n: int) -> Array:
    """Square matrices to an integer power, by repeated squaring. Source: `numpy.linalg.matrix_power`.

    Raises:
      TypeError: no square matrices, or ``n`` is no integer.

    >>> jnp.linalg.matrix_power(jnp.array([[1, 1], [1, 0]]), 5)
    Array([[8, 5],
           [5, 3]], dtype=int32)
    """
    check_arraylike("jnp.linalg.matrix_power", a)
    base = as_array(a)
    if base.ndim < 2:
        raise TypeError(f"{base.ndim}-dimensional array given. Array must be at least two-dimensional")
    if base.shape[-2] != base.shape[-1]:
        raise TypeError("Last 2 dimensions of the array must be square")
    try:
        n = operator.index(n)
    except TypeError as error:
        raise TypeError(f"exponent must be an integer, got {n}") from error
    return _power(base, n)


@inlined(static_argnums=(1,))
def _power(base: Array, n: int) -> Array:
    if n == 0:
        return identity_like(base)
    if n < 0:
        base = inv(base)
        n = -n
    out: Array | None = None
    while True:
        if n & 1:
            out = base if out is None else _matmul(out, base)
        n >>= 1
        if not n and out is not None:
            return out
        base = _matmul(base, base)


def multi_dot(arrays: Sequence[ArrayLike], *, precision: PrecisionLike = None) -> Array:
    """Product of several matrices (the first and last may be vectors) in the cheapest order.

    Args:
      precision: as for `jax.numpy.dot`.

    Source: `numpy.linalg.multi_dot`.

    Raises:
      ValueError: fewer than two arrays, or shapes that do not meet.

    >>> jnp.linalg.multi_dot([jnp.ones((2, 3)), jnp.ones((3, 4)), jnp.ones((4, 1))])
    Array([[12.],
           [12.]], dtype=float32)
    """
    check_arraylike("jnp.linalg.multi_dot", *arrays)
    factors = [as_array(a) for a in arrays]
    if len(factors) < 2:
        raise ValueError(f"jax.numpy.linalg.multi_dot: expected two factors or more, got {len(factors)}")
    if any(a.ndim != 2 for a in factors[1:-1]) or any(a.ndim not in (1, 2) for a in (factors[0], factors[-1])):
        raise ValueError("jax.numpy.linalg.multi_dot: expected matrices, with a vector at either end at most, got shapes "
                         f"{[a.shape for a in factors]}")
    if any(a.shape[-1] != b.shape[0] for a, b in zip(factors, factors[1:])):
        raise ValueError("jax.numpy.linalg.multi_dot: neighbours must agree where they meet (columns of one, rows of the next), "
                         f"got shapes {[a.shape for a in factors]}")
    return _chain(factors, precision)


def _chain(arrays: list, precision: Any) -> Array:
    """Dynamic programming over the places to split. Source: Cormen et al., "Introduction to Algorithms", 15.2."""
    sizes = [a.shape[0] if a.ndim == 2 else 1 for a in arrays[:1]] + [a.shape[0] for a in arrays[1:]]
    sizes.append(arrays[-1].shape[1] if arrays[-1].ndim == 2 else 1)
    n = len(arrays)

    @functools.lru_cache(None)
    def best(i: int, j: int):
        if i == j:
            return 0, None
        return min((best(i, k)[0] + best(k + 1, j)[0] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j))

    def product(i: int, j: int):
        if i == j:
            return arrays[i]
        k = best(i, j)[1]
        return dot(product(i, k), product(k + 1, j), precision=precision)
    return product(0, n - 1)


def matmul(x1: ArrayLike, x2: ArrayLike, /, *, precision: PrecisionLike = None,
           preferred_element_type: DTypeLike | None = None) -> Array:
    """`jax.numpy.matmul`.

    Args:
      precision, preferred_element_type: as for `jax.numpy.dot`.

    >>> jnp.linalg.matmul(jnp.array([[1, 2], [3, 4]]), jnp.array([[1], [1]]))
    Array([[3],
           [7]], dtype=int32)
    """
    return _matmul(x1, x2, precision=precision, preferred_element_type=preferred_element_type)


def cross(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> Array:
    """Cross product of vectors of 3 elements.

    Args:
      x1, x2: arrays of vectors of length 3.

    Source: `numpy.linalg.cross`.

    Raises:
      ValueError: the axis is not of length 3 in both.

    >>> jnp.linalg.cross(jnp.array([1, 0, 0]), jnp.array([0, 1, 0]))
    Array([0, 0, 1], dtype=int32)
    """
    check_arraylike("jnp.linalg.cross", x1, x2)
    for x in (x1, x2):
        canonical_axis(axis, len(shape_of(x)), "jnp.linalg.cross: axis")
    if shape_of(x1)[axis] != 3 or shape_of(x2)[axis] != 3:
        raise ValueError(f"jax.numpy.linalg.cross: axis {axis} must be of length 3 in both arrays, got shapes {shape_of(x1)} and "
                         f"{shape_of(x2)}; for vectors of length 2 use jax.numpy.cross")
    return _cross(x1, x2, axis=axis)


def outer(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Outer product of two vectors.

    Args:
      x1, x2: vectors.

    Source: `numpy.linalg.outer`.

    Raises:
      ValueError: an argument is no vector.

    >>> jnp.linalg.outer(jnp.array([1, 2]), jnp.array([3, 4]))
    Array([[3, 4],
           [6, 8]], dtype=int32)
    """
    check_arraylike("jnp.linalg.outer", x1, x2)
    if len(shape_of(x1)) != 1 or len(shape_of(x2)) != 1:
        raise ValueError(f"Input arrays must be one-dimensional, but they are x1.ndim={len(shape_of(x1))} "
                         f"x2.ndim={len(shape_of(x2))}")
    return _outer(x1, x2)


def tensordot(x1: ArrayLike, x2: ArrayLike, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2,
              precision: PrecisionLike = None, preferred_element_type: DTypeLike | None = None,
              out_sharding: Placement | None = None) -> Array:
    """`jax.numpy.tensordot`.

    Args:
      precision, preferred_element_type, out_sharding: as for `jax.numpy.tensordot`.

    >>> jnp.linalg.tensordot(jnp.ones((2, 3)), jnp.ones((3, 4)), axes=1).shape
    (2, 4)
    """
    return _tensordot(x1, x2, axes, precision=precision, preferred_element_type=preferred_element_type,
                      out_sharding=out_sharding)


def vecdot(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1, precision: PrecisionLike = None,
           preferred_element_type: DTypeLike | None = None) -> Array:
    """`jax.numpy.vecdot`.

    Args:
      axis: of both.
      precision, preferred_element_type: as for `jax.numpy.dot`.

    >>> jnp.linalg.vecdot(jnp.array([[1, 2], [3, 4]]), jnp.array([1, 1]))
    Array([3, 7], dtype=int32)
    """
    return _vecdot(x1, x2, axis=axis, precision=precision, preferred_element_type=preferred_element_type)


def diagonal(x: ArrayLike, /, *, offset: int = 0) -> Array:
    """Diagonals of the matrices on the last two axes.

    Args:
      offset: of the diagonal, above the main one where positive.

    Source: `numpy.linalg.diagonal`.

    >>> jnp.linalg.diagonal(jnp.array([[1, 2], [3, 4]]))
    Array([1, 4], dtype=int32)
    """
    return _diagonal(x, offset, -2, -1)


def trace(x: ArrayLike, /, *, offset: int = 0, dtype: DTypeLike | None = None) -> Array:
    """Sums of the diagonals of the matrices on the last two axes.

    Args:
      offset: of the diagonal, above the main one where positive.

    Source: `numpy.linalg.trace`.

    >>> jnp.linalg.trace(jnp.array([[1, 2], [3, 4]]))
    Array(5, dtype=int32)
    """
    return _trace(x, offset, -2, -1, dtype)
