"""Helpers that make indices: grids, diagonals, triangles, and the objects that turn slices into arrays (`r_`, `mgrid`)."""
from __future__ import annotations

import math
import operator
from typing import Any, Callable, Sequence

import numpy as np

from jax_core.representation import dtypes, errors
from jax_core.representation.arguments import integer
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike, DTypeLike, Shape
from jax_core.traces.trace import Tracer

from .. import lax
from . import arithmetic
from .broadcasting import broadcast_to
from .creation import arange, array, ones
from .grids import linspace
from .joining import concatenate, stack
from .promotion import as_array, check_arraylike, concrete, convert, shape_of
from .selection import limited, nonzero


class _Slices:
    """``s_[i, j:k]`` is the index itself; as ``index_exp`` always a tuple."""

    def __init__(self, always_tuple: bool):
        self._always_tuple = always_tuple

    def __getitem__(self, index: Any) -> Any:
        return (index,) if self._always_tuple and not isinstance(index, tuple) else index


s_, index_exp = _Slices(False), _Slices(True)


def ix_(*args: Any) -> tuple:
    """Vectors shaped so that together they index a grid; of a vector of booleans, the true positions.

    Raises:
      ValueError: an argument is no vector.

    Source: `numpy.ix_`.

    >>> jnp.arange(9).reshape(3, 3)[jnp.ix_(jnp.array([0, 2]), jnp.array([1, 2]))]
    Array([[1, 2],
           [7, 8]], dtype=int32)
    """
    check_arraylike("ix_", *args)
    out = []
    for i, a in enumerate(args):
        a = as_array(a)
        if a.ndim != 1:
            raise ValueError(f"Arguments to jax.numpy.ix_ must be 1-dimensional, got shape {a.shape}")
        if a.dtype == np.bool_:
            a, = nonzero(a)
        if a.size == 0:
            a = a.astype(int)
        out.append(lax.reshape(a, (1,) * i + (a.size,) + (1,) * (len(args) - i - 1)))
    return tuple(out)


# -- ranges written as slices ------------------------------------------------------------------------------------------

def _range_of(part: slice, name: str) -> Array:
    """``start:stop:step`` of ``name[...]`` as a range; with an imaginary step ``nj``, n values with both ends."""
    for end in ("start", "stop", "step"):
        x = getattr(part, end)
        if isinstance(x, Tracer) and x.concrete() is None:
            raise errors.ConcretizationTypeError(x, f"It is the {end} of a slice of jnp.{name}[...], from which the length of the result "
                                                 "follows; of a known length, write jnp.arange(length) * step + start.")
    start = 0 if part.start is None else part.start
    if part.stop is None:  # in NumPy, too, a lone number is the end
        start, part = 0, slice(0, start, part.step)
    step = 1 if part.step is None else part.step
    if isinstance(step, complex) or np.iscomplexobj(step):
        return linspace(start, part.stop, int(abs(step)))
    return arange(start, part.stop, step)


class _Grid:
    """``mgrid[0:2, 0:3]``: coordinates of a grid, one array an axis; `ogrid` leaves axes of length 1."""

    def __init__(self, name: str, sparse: bool):
        self._name, self._sparse = name, sparse

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return _range_of(index, self._name)
        vectors = [_range_of(part, self._name) for part in index]
        dtype = dtypes.result_type(*vectors)
        vectors = [v.astype(dtype) for v in vectors]
        rank = len(vectors)
        grids = [lax.reshape(v, tuple(v.size if i == d else 1 for i in range(rank))) for d, v in enumerate(vectors)]
        if self._sparse:
            return grids
        shape = tuple(v.size for v in vectors)
        return stack([broadcast_to(g, shape) for g in grids], 0)


mgrid, ogrid = _Grid("mgrid", False), _Grid("ogrid", True)


class _Concatenator:
    """``r_[1:4, 0, x]``: ranges, numbers and arrays joined; a leading string of up to three integers says along which
    axis, to which rank, and where the axes of the parts go, and "r" or "c" that a vector be the row or the column of a matrix."""

    def __init__(self, name: str, axis: int, ndmin: int, place: int):
        self._name, self._axis, self._ndmin, self._place = name, axis, ndmin, place

    def __getitem__(self, index: Any) -> Array:
        parts = list(index) if isinstance(index, tuple) else [index]
        axis, ndmin, place = self._axis, self._ndmin, self._place
        matrix = None
        if isinstance(parts[0], str):
            directive = parts.pop(0)
            if directive in ("r", "c"):
                matrix = directive
            else:
                numbers = [int(n) for n in directive.split(",")]
                if len(numbers) > 3:
                    raise ValueError(f"could not parse directive {directive!r}: give axis, ndmin and trans1d")
                axis, ndmin, place = (*numbers, *(axis, ndmin, place)[len(numbers):])
        joined = concatenate([self._part(p, ndmin, place) for p in parts], axis)
        return joined.reshape((1, -1) if matrix == "r" else (-1, 1)) if matrix and joined.ndim == 1 else joined

    def _part(self, part: Any, ndmin: int, place: int) -> Array:
        a = _range_of(part, self._name) if isinstance(part, slice) else array(part)
        own = a.ndim
        missing = ndmin - own
        if missing <= 0:
            return a if a.ndim else a.reshape(1)
        if isinstance(part, slice) or own:
            first = place % (ndmin - own + 1) if place >= 0 else missing + place + 1
            return a.reshape((1,) * first + a.shape + (1,) * (missing - first))
        return a.reshape((1,) * ndmin)


class RClass(_Concatenator):
    """The class of `r_`, from which quaxed derives its own."""

    def __init__(self) -> None:
        super().__init__("r_", 0, 1, -1)


class CClass(_Concatenator):
    """The class of `c_`."""

    def __init__(self) -> None:
        super().__init__("c_", -1, 2, 0)


r_, c_ = RClass(), CClass()


# -- diagonals and triangles -------------------------------------------------------------------------------------------

def diag_indices(n: int, ndim: int = 2) -> tuple:
    """Indices of the main diagonal of an array of ``ndim`` axes of length ``n``. Source: `numpy.diag_indices`.

    Raises:
      ValueError: ``n`` or ``ndim`` is negative.

    >>> jnp.ones((2, 2)).at[jnp.diag_indices(2)].set(7)
    Array([[7., 1.],
           [1., 7.]], dtype=float32)
    """
    n, ndim = integer("diag_indices: n", n), integer("diag_indices: ndim", ndim)
    if n < 0:
        raise ValueError(f"n argument to diag_indices must be nonnegative, got {n}")
    if ndim < 0:
        raise ValueError(f"ndim argument to diag_indices must be nonnegative, got {ndim}")
    return (arange(n),) * ndim


def diag_indices_from(arr: ArrayLike) -> tuple:
    """Indices of the main diagonal of ``arr``. Source: `numpy.diag_indices_from`.

    Raises:
      ValueError: fewer than two axes, or axes of different lengths.

    >>> jnp.diag_indices_from(jnp.zeros((2, 2)))
    (Array([0, 1], dtype=int32), Array([0, 1], dtype=int32))
    """
    check_arraylike("diag_indices_from", arr)
    shape = shape_of(arr)
    if len(shape) < 2:
        raise ValueError(f"jax.numpy.diag_indices_from: expected two axes or more, got shape {shape_of(arr)}")
    if len(set(shape)) != 1:
        raise ValueError(f"jax.numpy.diag_indices_from: all axes must be equally long, got shape {shape_of(arr)}")
    return diag_indices(shape[0], len(shape))


def _triangle(n: int, k: int, m: int | None, lower: bool) -> tuple:
    n, k, m = (integer(f"{'tril' if lower else 'triu'}_indices: {what}", x) for what, x in (("n", n), ("k", k), ("m", n if m is None else m)))
    find = np.tril_indices if lower else np.triu_indices
    return tuple(array(i.astype(dtypes.default_int_dtype())) for i in find(n, k, m))


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple:
    """Indices of the lower triangle of an ``n`` by ``m`` matrix, up to diagonal ``k``. Source: `numpy.tril_indices`.

    >>> jnp.tril_indices(2)
    (Array([0, 1, 1], dtype=int32), Array([0, 0, 1], dtype=int32))
    """
    return _triangle(n, k, m, True)


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple:
    """Indices of the upper triangle of an ``n`` by ``m`` matrix, from diagonal ``k``. Source: `numpy.triu_indices`.

    >>> jnp.triu_indices(2)
    (Array([0, 0, 1], dtype=int32), Array([0, 1, 1], dtype=int32))
    """
    return _triangle(n, k, m, False)


def _matrix_shape(name: str, arr: Any) -> tuple:
    check_arraylike(name, arr)
    if len(shape_of(arr)) != 2:
        raise ValueError("Only 2-D inputs are accepted")
    return shape_of(arr)


def tril_indices_from(arr: ArrayLike, k: int = 0) -> tuple:
    """`tril_indices` for the shape of a matrix.

    Args:
      k: of the diagonal, above the main one where positive.

    Source: `numpy.tril_indices_from`.

    >>> jnp.tril_indices_from(jnp.zeros((2, 2)), -1)
    (Array([1], dtype=int32), Array([0], dtype=int32))
    """
    n, m = _matrix_shape("tril_indices_from", arr)
    return tril_indices(n, k, m)


def triu_indices_from(arr: ArrayLike, k: int = 0) -> tuple:
    """`triu_indices` for the shape of a matrix.

    Args:
      k: of the diagonal, above the main one where positive.

    Source: `numpy.triu_indices_from`.

    >>> jnp.triu_indices_from(jnp.zeros((2, 2)), 1)
    (Array([0], dtype=int32), Array([1], dtype=int32))
    """
    n, m = _matrix_shape("triu_indices_from", arr)
    return triu_indices(n, k, m)


def mask_indices(n: int, mask_func: Callable[[ArrayLike, int], ArrayLike], k: int = 0, *, size: int | None = None) -> tuple:
    """Indices at which ``mask_func(ones((n, n)), k)`` is not zero.

    Args:
      size: how many pairs there are, needed under `jit`.

    Source: `numpy.mask_indices`.

    >>> jnp.mask_indices(2, jnp.triu)
    (Array([0, 0, 1], dtype=int32), Array([0, 1, 1], dtype=int32))
    """
    return nonzero(mask_func(ones((n, n)), k), size=size)


# -- flat positions ----------------------------------------------------------------------------------------------------

def ravel_multi_index(multi_index: Sequence[ArrayLike], dims: Sequence[int], mode: str = "raise", order: str = "C", *,
                      dtype: DTypeLike | None = None) -> Array:
    """Positions in the flattened array from indices, one array an axis.

    Args:
      multi_index: sequence of integer arrays.
      dims: shape of the array.
      mode: "raise" (outside of tracing only), "wrap" or "clip", or one of these an axis.
      order: "C" or "F".
      dtype: of the result.

    Raises:
      ValueError: not one array for each of ``dims``; another ``order``.
      TypeError: indices are not integers.

    Source: `numpy.ravel_multi_index`.

    >>> jnp.ravel_multi_index((jnp.array([1, 0]), jnp.array([2, 1])), (2, 3))
    Array([5, 1], dtype=int32)
    """
    if len(multi_index) != len(dims):
        raise ValueError(f"len(multi_index)={len(multi_index)} != len(dims)={len(dims)}")
    check_arraylike("ravel_multi_index", *multi_index)
    indices = [as_array(i) for i in multi_index]
    for i in indices:
        if not dtypes.issubdtype(i.dtype, np.integer):
            raise TypeError("jax.numpy.ravel_multi_index: the indices must be integers")
    modes = (mode,) * len(dims) if isinstance(mode, str) else tuple(mode)
    indices = [limited(i, operator.index(n), m, "ravel_multi_index", "coordinates array") for i, n, m in zip(indices, dims, modes)]
    if order not in ("C", "F"):
        raise ValueError(f"invalid order={order!r}. Expected 'C' or 'F'")
    pairs = list(zip(indices, dims))
    wanted = dtypes.default_int_dtype() if dtype is None else dtypes.canonicalize_user_dtype(dtype, "ravel_multi_index")
    result: Any = np.zeros((), wanted)
    for i, n in pairs if order == "C" else reversed(pairs):
        result = result * n + i.astype(wanted)
    return as_array(result)


def unravel_index(indices: ArrayLike, shape: Shape | int) -> tuple:
    """Indices, one array an axis, from positions in the flattened array; those out of bounds are limited to it.

    Returns:
      the positions along each axis, of the dtype of ``indices`` where that can hold them.

    Raises:
      ConcretizationTypeError: ``shape`` is traced.
      TypeError: indices are not integers.

    Source: `numpy.unravel_index`.

    >>> jnp.unravel_index(5, (2, 3))
    (Array(1, dtype=int32, weak_type=True), Array(2, dtype=int32, weak_type=True))
    """
    check_arraylike("unravel_index", indices)
    dims: list[int] = []
    for n in (shape,) if isinstance(shape, (int, np.integer)) else shape:
        known = concrete(n)
        if known is None:
            raise errors.ConcretizationTypeError(n, "unravel_index: shape must be known")
        dims.append(int(known))
    rest = as_array(indices)
    if not dtypes.issubdtype(rest.dtype, np.integer):
        raise TypeError(f"unravel_index: indices must be integers, got dtype {rest.dtype}")
    size, kept = math.prod(dims), rest.dtype
    if size > dtypes.iinfo(kept).max:  # of the arithmetic, where it is not for the index itself
        rest = convert(rest, dtypes.canonicalize_dtype(np.int64 if size >= 2**31 else np.int32), rest.weak_type)
        kept = kept if max(dims) - 1 <= dtypes.iinfo(kept).max else rest.dtype
    rest = arithmetic.clip(arithmetic.where(lax.lt(rest, np.zeros((), rest.dtype)[()]), rest + size, rest), 0, max(size - 1, 0))
    out = []
    for n in reversed(dims):
        out.append(convert(arithmetic.remainder(rest, max(n, 1)), kept, rest.weak_type))
        rest = arithmetic.floor_divide(rest, max(n, 1))
    return tuple(reversed(out))
