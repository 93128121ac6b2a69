"""Points at even distances along a line, and the coordinates of grids.

Eagerly, a line between two numbers is made by NumPy in float64, and is exact at both ends.
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Callable, Literal, Sequence, overload

import numpy as np

from jax_core.programs.jit import inlined
from jax_core.representation import dtypes, errors
from jax_core.representation.arguments import integer, joint_shape
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike, DTypeLike, Placement, Shape
from jax_core.traces.trace import Tracer
from jax_core.transformations.vmap import vmap

from .. import lax
from .arithmetic import power, where
from .broadcasting import broadcast_to
from .creation import _dtype_asked, _put, arange, asarray, placed, zeros
from .joining import stack
from .promotion import (
    as_array,
    canonical_axis,
    canonical_shape,
    check_arraylike,
    check_batch_ranks,
    convert,
    evaluating,
    given_flag,
    promote_dtypes_inexact,
    shape_of,
    strong,
)
from .rows import Static, adaptive
from .shaping import moveaxis
from .ufuncs import less, log10, sign

if TYPE_CHECKING:
    from jax_core.representation.typing import PyTree


_NUMBERS = (bool, int, float, complex, np.generic)
_MANY = 1 << 14  # points from which on to fill an array by NumPy takes longer than to call compiled code


def fromfunction(function: Callable[..., PyTree], shape: Shape, *, dtype: DTypeLike = float, **kwargs: Any) -> Array:
    """``function`` of the coordinate of each element, applied to all elements at once by `vmap`.

    Args:
      function: takes one number an axis, and ``kwargs``.
      shape: of the result.
      dtype: of the coordinates.

    Source: `numpy.fromfunction`.

    >>> jnp.fromfunction(lambda i, j: 10 * i + j, (2, 3), dtype=int)
    Array([[ 0,  1,  2],
           [10, 11, 12]], dtype=int32)
    """
    shape = canonical_shape("fromfunction", shape)
    for axis in reversed(range(len(shape))):  # the last mapped is the outermost, and so the first axis
        function = vmap(function, in_axes=tuple(0 if i == axis else None for i in range(len(shape))))
    return function(*(arange(n, dtype=dtype) for n in shape), **kwargs)


@overload
def linspace(start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: bool = True, retstep: Literal[False] = False,
             dtype: DTypeLike | None = None, axis: int = 0, *, device: Placement | None = None) -> Array: ...
@overload
def linspace(start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: bool = True, *, retstep: Literal[True],
             dtype: DTypeLike | None = None, axis: int = 0, device: Placement | None = None) -> tuple[Array, Array]: ...
def linspace(start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: bool = True, retstep: bool = False,
             dtype: DTypeLike | None = None, axis: int = 0, *,
             device: Placement | None = None) -> Array | tuple[Array, Array]:
    """``num`` evenly spaced values from ``start`` to ``stop``.

    Args:
      start, stop: numbers, or arrays that broadcast.
      num: how many, known while tracing.
      endpoint: whether ``stop`` is the last one.
      retstep: return also the distance between values, of an inexact dtype.
      dtype: by default a float dtype; values of an integer dtype are rounded down.
      axis: of the result along which the values lie.
      device: placement.

    Raises:
      ValueError: ``num`` is negative, or longer than any axis.

    Source: `numpy.linspace`.

    >>> jnp.linspace(0, 1, 5)
    Array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)
    """
    num = _count(num, "linspace")
    asked = None if dtype is None else dtypes.canonicalize_user_dtype(dtype, "linspace")
    check_arraylike("linspace", start, stop)
    axis = canonical_axis(integer("linspace: axis", axis), max(np.ndim(start), np.ndim(stop)) + 1, "linspace: axis")
    numbers = evaluating() and isinstance(start, _NUMBERS) and isinstance(stop, _NUMBERS)
    values, step = (_linspace_of_numbers if numbers else _linspace)(start, stop, num, given_flag(endpoint), asked, axis)
    values = placed(values, device)
    if not retstep:
        return values
    return values, as_array(step) if asked is None else convert(as_array(step), dtypes.to_inexact_dtype(asked))


def _count(num, name):
    if isinstance(num, Tracer):
        known = num.concrete()
        if known is None:
            raise errors.ConcretizationTypeError(num, f"It arose in the 'num' argument of jnp.{name}, the length of the result.")
        num = known
    num = integer(f"{name}: num", num)
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    if num >= 1 << 63:
        raise ValueError(f"{name}: num: {num} samples are more than any axis holds, which has at most 2**63 - 1")
    return num


def _computed(start, stop, dtype):
    """Both ends and the dtype to compute in, which is as wide as the one that was asked for."""
    start, stop = map(strong, promote_dtypes_inexact(start, stop))
    own = np.dtype(lax.dtype(start))
    computed = own if dtype is None else np.dtype(dtypes.common_dtype(own, dtypes.to_inexact_dtype(dtype)))
    return convert(start, computed), convert(stop, computed), computed


def _linspace_of_numbers(start, stop, num, endpoint, dtype, axis):
    if type(start) in (int, float) and type(stop) in (int, float):
        computed = dtypes.default_float_dtype()
        return _host_linspace(start, stop, num, endpoint, dtype or computed, computed)
    start, stop, computed = _computed(start, stop, dtype)
    if computed.kind == "c":
        return _linspace(start, stop, num, endpoint, dtype, axis)
    return _host_linspace(start, stop, num, endpoint, dtype or computed, computed)


def equal_edges(low: Array, high: Array, bins: int, dtype: np.dtype) -> Array:
    """As `linspace`, ``bins + 1`` values, and the same whether compiled or not: the edge between those that are opposite is 0, not a rounding error."""
    return _linspace(low, high, _count(bins + 1, "linspace"), True, dtype, 0, True)[0]


@inlined(static_argnums=(2, 3, 4, 5, 6))
def _linspace(start, stop, num, endpoint, dtype, axis, rounded=False):
    start, stop, computed = _computed(start, stop, dtype)
    dtype = dtype or computed
    check_batch_ranks("linspace", (shape_of(start), 0), (shape_of(stop), 0))
    shape = joint_shape(shape_of(start), shape_of(stop))
    start, stop = broadcast_to(start, shape), broadcast_to(stop, shape)
    gaps = num - 1 if endpoint else num
    # XLA divides by a number that it knows by multiplying with its reciprocal, and 49 * (1 / 49) is less than 1.
    count, half = lax.optimization_barrier(computed.type(max(gaps, 1))), computed.type(0.5)
    low, high = lax.mul(start, half), lax.mul(stop, half)  # halves, so that the widest span does not overflow
    half_step = _quotient(lax.sub(high, low), count, gaps)
    if num == 0:
        values = lax.full((0, *shape), 0, computed)
    elif gaps <= 1:
        values = lax.expand_dims(start, (0,))
    else:
        index = lax.reshape(lax.convert_element_type(lax.iota(np.int32, gaps), computed), (gaps,) + (1,) * len(shape))
        index, first, by = (broadcast_to(x, (gaps, *shape)) for x in (index, low, half_step))
        multiple = lax.mul(index, by)
        if rounded and computed.kind != "c":  # as no multiply-add is
            most = computed.type(dtypes.finfo(computed).max)
            multiple = lax.clamp(-most, multiple, most)
        values = lax.add(first, multiple)
        values = lax.add(values, values)
    if endpoint and num > 1:
        values = lax.concatenate([values, lax.expand_dims(stop, (0,))], 0)
    values = moveaxis(values, 0, axis) if axis else values
    if dtypes.issubdtype(dtype, np.integer) and not dtypes.issubdtype(computed, np.integer):
        values = lax.floor(lax.real(values) if dtypes.issubdtype(computed, np.complexfloating) else values)
    return convert(values, dtype), lax.add(half_step, half_step) if gaps > 0 else lax.full(shape, np.nan, computed)


def _quotient(span, count, gaps):
    """``span / count``, where ``count`` is the integer ``gaps``; exact if it is a number, also on GPUs, whose float32 division is two units off.

    The remainder is exact for counts of 12 bits, as halves of the quotient's digits times the count are.
    """
    quotient = lax.div(span, count)
    if quotient.dtype != np.float32 or gaps < 2:
        return quotient
    count = broadcast_to(count, quotient.shape)
    all_digits = lax.stop_gradient(quotient)
    upper = lax.reduce_precision(all_digits, 8, 11)
    rest = lax.sub(lax.sub(lax.stop_gradient(span), lax.mul(upper, count)), lax.mul(lax.sub(all_digits, upper), count))
    return lax.select(lax.is_finite(rest), lax.add(quotient, lax.div(rest, count)), quotient)


def _host_linspace(start, stop, num, endpoint, dtype, computed):
    low, high, gaps = float(computed.type(start)), float(computed.type(stop)), num - 1 if endpoint else num
    step = (high - low) / gaps if gaps > 0 else 0.0
    if 1e-30 < abs(step) < math.inf and num > _MANY:
        return _linspace(computed.type(start), computed.type(stop), num, endpoint, dtype, 0)
    if 1e-30 < abs(step) < math.inf:
        values = np.arange(num) * step + low
        if endpoint:
            values[-1] = high
    else:  # NumPy knows what to do where this would be inexact
        values, step = np.linspace(np.float64(low), np.float64(high), num, endpoint, retstep=True)
    if dtype.kind in "iu":
        values = np.floor(values.astype(computed))
    return _put(values.astype(dtype)), np.asarray(step, computed)


@inlined(static_argnames=("num", "endpoint", "dtype", "axis"))
def logspace(start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: bool = True, base: ArrayLike = 10.0,
             dtype: DTypeLike | None = None, axis: int = 0) -> Array:
    """``base`` to the power of ``num`` evenly spaced exponents; other arguments as for `linspace`.

    Args:
      start, stop: the first and the last exponent.
      endpoint, axis: as for `linspace`.

    Source: `numpy.logspace`.

    >>> jnp.round(jnp.logspace(0, 2, 3))
    Array([  1.,  10., 100.], dtype=float32)
    """
    asked = None if dtype is None else dtypes.canonicalize_user_dtype(dtype, "logspace")
    check_arraylike("logspace", start, stop, base)
    exponents = linspace(start, stop, num, endpoint, axis=axis)
    values = power(base, exponents)
    return values if asked is None else convert(values, asked)


@inlined(static_argnames=("num", "endpoint", "dtype", "axis"))
def geomspace(start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: bool = True, dtype: DTypeLike | None = None,
              axis: int = 0) -> Array:
    """``num`` values from ``start`` to ``stop`` in geometric progression; arguments as for `linspace`.

    Args:
      endpoint, axis: as for `linspace`.

    Source: `numpy.geomspace`.

    >>> jnp.geomspace(1, 1000, 4)
    Array([   1.,   10.,  100., 1000.], dtype=float32)
    """
    asked = None if dtype is None else dtypes.canonicalize_user_dtype(dtype, "geomspace")
    check_arraylike("geomspace", start, stop)
    start, stop = promote_dtypes_inexact(start, stop)
    if dtypes.issubdtype(lax.dtype(start), np.complexfloating):
        factor = sign(start)
    else:
        factor = where(less(start, 0), np.array(-1, lax.dtype(start)), np.array(1, lax.dtype(start)))
    axis = integer("geomspace: axis", axis)
    exponents = linspace(log10(asarray(start) / factor), log10(asarray(stop) / factor), num, endpoint, axis=0)
    values = power(np.array(10, lax.dtype(exponents)), exponents) * factor  # of 10: decades are exact
    if endpoint and num > 1:  # the ends exactly
        shape = values.shape[1:]
        values = values.at[-1].set(broadcast_to(stop, shape))
    if num > 0:
        values = values.at[0].set(broadcast_to(start, values.shape[1:]))
    values = moveaxis(values, 0, axis) if axis else values
    return values if asked is None else convert(values, asked)


def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple:
    """Coordinate arrays of a grid, from one vector of coordinates an axis.

    Args:
      xi: numbers or 1-d arrays.
      copy: must be true, as arrays are immutable.
      sparse: leave axes of length 1 in place of repeated values.
      indexing: "ij", or "xy" to have the first two axes exchanged.

    Returns:
      a tuple of arrays, one for each vector.

    Raises:
      ValueError: ``copy`` is False, another ``indexing``, an argument of two or more axes.

    Source: `numpy.meshgrid`.

    >>> jnp.meshgrid(jnp.arange(2), jnp.arange(3))[0].shape
    (3, 2)
    """
    check_arraylike("meshgrid", *xi)
    if not copy:
        raise ValueError("jax.numpy.meshgrid: copy=False is not offered, arrays have no views; leave it out")
    if indexing not in ("xy", "ij"):
        raise ValueError(f"Valid values for indexing are 'xy' and 'ij', got {indexing}")
    return _meshgrid(bool(sparse), indexing, *xi)


@adaptive("always", (0, 1))
def _meshgrid(sparse: bool, indexing: str, *xi: Any) -> tuple:
    vectors = [asarray(x) for x in xi]
    if any(v.ndim > 1 for v in vectors):
        raise ValueError(f"Arguments to jax.numpy.meshgrid must be at most 1D, got shapes {[v.shape for v in vectors]}")
    vectors = [v.reshape(-1) for v in vectors]
    order = list(range(len(vectors)))
    if indexing == "xy" and len(order) >= 2:
        order[:2] = [1, 0]
    rank = len(vectors)
    shape = [0] * rank
    for v, axis in zip(vectors, order):
        shape[axis] = v.shape[0]
    grids = []
    for v, axis in zip(vectors, order):
        aligned = v.reshape([v.shape[0] if i == axis else 1 for i in range(rank)])
        grids.append(aligned if sparse else broadcast_to(aligned, tuple(shape)))
    return tuple(grids)


def indices(dimensions: Sequence[int], dtype: DTypeLike | None = None, sparse: bool = False) -> Array | tuple[Array, ...]:
    """The coordinates of every element of a grid, one array an axis; stacked unless ``sparse``.

    Source: `numpy.indices`.

    >>> jnp.indices((2, 2))[0]
    Array([[0, 0],
           [1, 1]], dtype=int32)
    """
    shape = canonical_shape("indices", dimensions)
    kind = _dtype_asked(dtype, "indices", dtypes.default_int_dtype, dimensions)
    return (_indices if math.prod(shape) > _MANY else _indices_few)(Static(shape), kind, bool(sparse))


def _indices(dimensions: tuple[int, ...], dtype: np.dtype, sparse: bool) -> Any:
    dimensions = tuple(dimensions)
    rank, parts = len(dimensions), []
    for axis, n in enumerate(dimensions):
        shape = tuple(n if i == axis else 1 for i in range(rank)) if sparse else dimensions
        parts.append(lax.broadcasted_iota(dtype, shape, axis))
    if sparse:
        return tuple(parts)
    return stack(parts) if parts else zeros((0,), dtype)


_indices_few = adaptive("always", (0, 1, 2))(_indices)
_indices = inlined(static_argnums=(0, 1, 2))(_indices)
