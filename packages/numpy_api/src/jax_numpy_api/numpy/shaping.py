"""Functions that change the shape of arrays: reshaping, transposing, repeating, reversing, rotating, diagonals.

They compute nothing, so their results have the operands' dtype (joined by promotion where there are several), and
eagerly they run on the host without compiling, because the primitives they bind do.
"""
from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Sequence, cast, overload

import numpy as np
from numpy.exceptions import AxisError

from jax_core.programs.jit import inlined
from jax_core.representation import source, splits
from jax_core.representation.arguments import integer, integers
from jax_core.representation.array import Array
from jax_core.representation.aval import get_aval
from jax_core.representation.errors import ShardingTypeError
from jax_core.representation.typing import ArrayLike, Axis, Placement, Shape
from jax_core.traces import lengths
from jax_core.traces.structural import broadcast_in_dim_p

from .. import lax
from ..lax.positions import position_dtype, wide_positions
from .arithmetic import remainder
from .broadcasting import broadcast_to
from .creation import eye, tri, zeros
from .promotion import (
    _parse_shape,
    as_array,
    canonical_axes,
    canonical_axis,
    canonical_shape,
    check_arraylike,
    concrete,
    convert,
    evaluating,
    given_axes,
    is_arraylike,
    narrowed,
    several_axes,
    shape_of,
    strong,
    unwrapped,
)
from .rows import Static, adaptive, is_few

if TYPE_CHECKING:
    from jax_core.representation.typing import Axis

# -- reshape -----------------------------------------------------------------------------------------------------------


def reshape(a: ArrayLike, shape: int | Shape, order: str = "C", *, copy: bool | None = None,
            out_sharding: Placement | None = None) -> Array:
    """``a`` with its elements in another shape.

    Args:
      a: array.
      shape: an integer or sequence of integers; one may be -1, and is worked out.
      order: "C", or "F" to read and write with the first axis fastest.
      copy: must not be False, which arrays without memory of their own cannot promise.
      out_sharding: placement.

    Raises:
      TypeError: the number of elements differs. NotImplementedError: ``order="A"``.

    Source: `numpy.reshape`.

    >>> jnp.reshape(jnp.arange(6), (2, -1))
    Array([[0, 1, 2],
           [3, 4, 5]], dtype=int32)
    """
    check_arraylike("reshape", a)
    return _reshape(as_array(a), shape, order, out_sharding)


def _reshape(a: Any, shape: Any, order: str = "C", out_sharding: Any = None) -> Array:
    new = _complete_shape(a, shape)
    if order == "C":
        if new == a.shape and out_sharding is None:
            return a
        if out_sharding is not None:
            return lax.reshape(a, new, out_sharding=out_sharding)
        return _reshape_few(a, Static(new)) if is_few(a) else lax.reshape(a, new)
    if order == "F":
        backwards = lax.transpose(a, tuple(range(a.ndim))[::-1])
        return lax.transpose(lax.reshape(backwards, new[::-1]), tuple(range(len(new)))[::-1])
    if order == "A":
        raise NotImplementedError("np.reshape order=A is not implemented.")
    raise ValueError(f"Unexpected value for 'order' argument: {order}.")


@adaptive("always", (1,))
def _reshape_few(a: Array, shape: tuple[int, ...]) -> Array:
    return lax.reshape(a, tuple(shape))


def _complete_shape(a: Any, shape: Any) -> tuple[int, ...]:
    """The target shape with -1 replaced."""
    if type(shape) is int:
        shape = (shape,)
    elif type(shape) is not tuple or any(type(n) is not int for n in shape):
        shape = _static_shape(tuple(shape) if isinstance(shape, Iterator) else shape)
    unknown = [i for i, n in enumerate(shape) if n < 0]
    size = a.size
    if not unknown:
        if math.prod(shape) != size:
            raise TypeError(f"cannot reshape array of shape {a.shape} (size {size}) into shape {shape} "
                            f"(size {math.prod(shape)})")
        return shape
    if len(unknown) > 1 or shape[unknown[0]] != -1:
        raise TypeError(f"reshape: shape {shape} may have one -1 at most, and no other negative length")
    rest = math.prod(n for n in shape if n >= 0)
    if rest and size % rest == 0:
        return tuple(size // rest if n < 0 else n for n in shape)
    why = f"{size} is not a multiple of {rest}" if rest else "beside a length of 0, any length would do for -1; give it"
    raise TypeError(f"cannot reshape array of shape {a.shape} (size {size}) into shape {shape}: {why}")


def _static_shape(shape: Any) -> tuple[int, ...]:
    return _parse_shape("reshape", shape)


def ravel(a: ArrayLike, order: str = "C", *, out_sharding: Placement | None = None) -> Array:
    """``a`` with one axis; ``order`` "C" or "F" (and "K" is refused).

    Args:
      out_sharding: placement of the result.

    Source: `numpy.ravel`.

    >>> jnp.ravel(jnp.array([[1, 2], [3, 4]]))
    Array([1, 2, 3, 4], dtype=int32)
    """
    if order == "C" and out_sharding is None and is_few(a):
        return a if len(a.shape) == 1 else _ravel_few(a)
    check_arraylike("ravel", a)
    if order == "K":
        raise NotImplementedError("Ravel not implemented for order='K'.")
    return _reshape(as_array(a), (math.prod(shape_of(a)),), order, out_sharding)


@adaptive("always")
def _ravel_few(a: Array) -> Array:
    return lax.reshape(a, (a.size,))


def squeeze(a: ArrayLike, axis: int | Sequence[int] | None = None) -> Array:
    """``a`` without axes of length 1.

    Args:
      a: array.
      axis: which; all of length 1 by default.

    Raises:
      ValueError: an axis whose length is not 1.

    Source: `numpy.squeeze`.

    >>> jnp.squeeze(jnp.zeros((1, 3, 1)), 0).shape
    (3, 1)
    """
    if is_few(a):
        return a if axis is None and 1 not in a.shape else _squeeze_few(a, given_axes(axis))
    check_arraylike("squeeze", a)
    return _squeeze(a, axis)


def _squeeze(a: Any, axis: Axis) -> Array:
    a = as_array(a)
    if axis is None:
        axes = tuple(i for i, n in enumerate(a.shape) if n == 1)
    else:
        axes = canonical_axes(axis, a.ndim)
        if any(a.shape[i] != 1 for i in axes):
            raise ValueError(f"jax.numpy.squeeze: axis={axis} of an array of shape {a.shape} is not of length 1; name only axes that "
                             "are")
    return lax.squeeze(a, axes) if axes else a


_squeeze_few = adaptive("always", (1,))(_squeeze)


def expand_dims(a: ArrayLike, axis: int | Sequence[int]) -> Array:
    """``a`` with axes of length 1 inserted, at positions of the result.

    Args:
      axis: the places of the new axes in the result.

    Source: `numpy.expand_dims`.

    Raises:
      ValueError: a position is named twice or out of range.

    >>> jnp.expand_dims(jnp.zeros((2, 3)), (0, -1)).shape
    (1, 2, 3, 1)
    """
    if is_few(a):
        return _expand_few(a, given_axes(axis))
    check_arraylike("expand_dims", a)
    return _expand(a, axis)


def _expand(a: Any, axis: int | Sequence[int]) -> Array:
    axes = several_axes(axis)
    a = as_array(a)
    rank = a.ndim + len(axes)
    places = tuple(canonical_axis(x, rank) for x in axes)
    if len(set(places)) != len(places):
        raise ValueError(f"repeated axis in expand_dims: {tuple(axes)}")
    old = iter(a.shape)
    shape = tuple(1 if i in places else next(old) for i in range(rank))
    return broadcast_in_dim_p.bind(a, shape=shape, sharding=None,
                                   broadcast_dimensions=tuple(i for i in range(rank) if i not in places))


_expand_few = adaptive("always", (1,))(_expand)


def _at_least(rank: int, arys: tuple, name: str) -> Any:
    if len(arys) == 1 and is_few(a := arys[0]):
        return a if len(a.shape) >= rank else _of_rank(a, rank)
    check_arraylike(name, *arys)
    out = [_of_rank(as_array(a), rank) if len(shape_of(a)) < rank else as_array(a) for a in arys]
    return out[0] if len(out) == 1 else tuple(out)


@adaptive("always", (1,))
def _of_rank(a: Array, rank: int) -> Array:
    """``a``, which has fewer axes, with new ones."""
    if rank == 3:  # NumPy's rule: (n,) -> (1, n, 1), (m, n) -> (m, n, 1)
        return _reshape(a, {0: (1, 1, 1), 1: (1, *a.shape, 1), 2: (*a.shape, 1)}[a.ndim])
    return _reshape(a, (1,) * (rank - a.ndim) + a.shape)


@overload
def atleast_1d(x: ArrayLike, /) -> Array: ...
@overload
def atleast_1d(x: ArrayLike, y: ArrayLike, /, *arys: ArrayLike) -> tuple[Array, ...]: ...
def atleast_1d(*arys: ArrayLike) -> Array | tuple[Array, ...]:
    """Arrays with at least one axis; a tuple for several. Source: `numpy.atleast_1d`.

    >>> jnp.atleast_1d(5).shape
    (1,)
    """
    return _at_least(1, arys, "atleast_1d")


@overload
def atleast_2d(x: ArrayLike, /) -> Array: ...
@overload
def atleast_2d(x: ArrayLike, y: ArrayLike, /, *arys: ArrayLike) -> tuple[Array, ...]: ...
def atleast_2d(*arys: ArrayLike) -> Array | tuple[Array, ...]:
    """Arrays with at least two axes, new ones in front; a tuple for several. Source: `numpy.atleast_2d`.

    >>> jnp.atleast_2d(jnp.arange(3)).shape
    (1, 3)
    """
    return _at_least(2, arys, "atleast_2d")


@overload
def atleast_3d(x: ArrayLike, /) -> Array: ...
@overload
def atleast_3d(x: ArrayLike, y: ArrayLike, /, *arys: ArrayLike) -> tuple[Array, ...]: ...
def atleast_3d(*arys: ArrayLike) -> Array | tuple[Array, ...]:
    """Arrays with at least three axes; a tuple for several. Source: `numpy.atleast_3d`.

    >>> jnp.atleast_3d(jnp.arange(3)).shape
    (1, 3, 1)
    """
    return _at_least(3, arys, "atleast_3d")


def resize(a: ArrayLike, new_shape: Shape) -> Array:
    """The elements of ``a`` in row-major order, repeated or cut off to fill ``new_shape``. Source: `numpy.resize`.

    >>> jnp.resize(jnp.array([1, 2, 3]), (5,))
    Array([1, 2, 3, 1, 2], dtype=int32)
    """
    check_arraylike("resize", a)
    return _resize(a, Static(canonical_shape("resize", new_shape)))


@adaptive("always", (1,))
def _resize(a: Any, shape: tuple[int, ...]) -> Array:
    shape, flat = tuple(shape), ravel(a)
    size = math.prod(shape)
    if flat.size == 0 or size == 0:
        return zeros(shape, flat.dtype)
    if size > flat.size:
        flat = tile(flat, -(-size // flat.size))
    return _reshape(flat[:size], shape)


# -- transpose ---------------------------------------------------------------------------------------------------------

def transpose(a: ArrayLike, axes: Sequence[int] | None = None) -> Array:
    """``a`` with its axes in another order, reversed by default. Source: `numpy.transpose`.

    Raises:
      TypeError: ``axes`` does not name each axis once.

    >>> jnp.transpose(jnp.arange(6).reshape(2, 3))
    Array([[0, 3],
           [1, 4],
           [2, 5]], dtype=int32)
    """
    if is_few(a) and not isinstance(axes, int):
        return _transpose_few(a, given_axes(axes))
    check_arraylike("transpose", a)
    return _transpose(a, axes)


def _transpose(a: Any, axes: Sequence[int] | None) -> Array:
    a = as_array(a)
    if axes is None:
        return lax.transpose(a, tuple(range(a.ndim))[::-1])
    order = tuple(canonical_axis(x, a.ndim) for x in axes)
    if len(order) != a.ndim or len(set(order)) != a.ndim:
        raise TypeError(f"transpose: axes={tuple(axes)} must name each of the {a.ndim} axes of shape {a.shape} once")
    return lax.transpose(a, order)


_transpose_few = adaptive("always", (1,))(_transpose)


def permute_dims(a: ArrayLike, /, axes: tuple[int, ...]) -> Array:
    """`transpose` under its name in the array API standard, where ``axes`` must be given.

    Raises:
      TypeError: ``axes`` is None, or does not name each axis once.

    Source: array API standard; `numpy.transpose`.

    >>> jnp.permute_dims(jnp.zeros((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
    """
    if axes is None:
        raise TypeError(f"jax.numpy.permute_dims: axes must be a sequence of the {len(shape_of(a))} axes, got None")
    return transpose(a, axes)


def matrix_transpose(x: ArrayLike, /) -> Array:
    """``x`` with its last two axes exchanged. Source: `numpy.matrix_transpose`.

    Raises:
      ValueError: fewer than two axes.

    >>> jnp.matrix_transpose(jnp.zeros((5, 2, 3))).shape
    (5, 3, 2)
    """
    check_arraylike("matrix_transpose", x)
    if len(shape_of(x)) < 2:
        raise ValueError(f"jax.numpy.matrix_transpose: expected two axes or more, got shape {shape_of(x)}")
    return swapaxes(x, -1, -2)


@adaptive("always", static_argnames=("axis1", "axis2"))
def swapaxes(a: ArrayLike, axis1: int, axis2: int) -> Array:
    """``a`` with two axes exchanged.

    Args:
      axis1, axis2: the two axes.

    Source: `numpy.swapaxes`.

    >>> jnp.swapaxes(jnp.zeros((2, 3, 4)), 0, 2).shape
    (4, 3, 2)
    """
    check_arraylike("swapaxes", a)
    a = as_array(a)
    order = list(range(a.ndim))
    i, j = [canonical_axis(axis, a.ndim, out_of_range=AxisError) for axis in (axis1, axis2)]
    order[i], order[j] = order[j], order[i]
    return lax.transpose(a, tuple(order))


@adaptive("always", static_argnames=("source", "destination"), lists=("source", "destination"))
def moveaxis(a: ArrayLike, source: int | Sequence[int], destination: int | Sequence[int]) -> Array:
    """``a`` with some axes moved; the others keep their order.

    Args:
      a: array.
      source, destination: one axis, or sequences of the same length.

    Raises:
      ValueError: different numbers of axes, or an axis named twice.

    Source: `numpy.moveaxis`.

    >>> jnp.moveaxis(jnp.zeros((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    check_arraylike("moveaxis", a)
    a = as_array(a)
    source, destination = several_axes(source), several_axes(destination)
    if len(source) != len(destination):
        raise ValueError(f"jax.numpy.moveaxis: source={tuple(source)} and destination={tuple(destination)} must name equally many axes")
    source = canonical_axes(tuple(source), a.ndim)
    destination = canonical_axes(tuple(destination), a.ndim)
    order = [i for i in range(a.ndim) if i not in source]
    for d, s in sorted(zip(destination, source)):
        order.insert(d, s)
    return lax.transpose(a, tuple(order))


def rollaxis(a: ArrayLike, axis: int, start: int = 0) -> Array:
    """``a`` with an axis moved to before position ``start``. Source: `numpy.rollaxis`.

    Raises:
      ValueError: ``start`` is out of range.

    >>> jnp.rollaxis(jnp.zeros((2, 3, 4)), 2).shape
    (4, 2, 3)
    """
    check_arraylike("rollaxis", a)
    a = as_array(a)
    if not -a.ndim <= start <= a.ndim:
        raise ValueError(f"start={start} must satisfy {-a.ndim} <= start <= {a.ndim}")
    axis = canonical_axis(axis, a.ndim)
    start = start + a.ndim if start < 0 else start
    return moveaxis(a, axis, start - (start > axis))


# -- repeating, reversing, rotating ------------------------------------------------------------------------------------

@adaptive("always", static_argnames=("reps",), lists=("reps",))
def tile(A: ArrayLike, reps: int | Sequence[int]) -> Array:
    """``A`` repeated a number of times along each axis.

    Args:
      reps: how often along each axis; fewer numbers are for the last axes.

    Source: `numpy.tile`.

    >>> jnp.tile(jnp.array([1, 2]), (2, 2))
    Array([[1, 2, 1, 2],
           [1, 2, 1, 2]], dtype=int32)
    """
    check_arraylike("tile", A)
    a = as_array(A)
    reps = integers("tile: reps", reps if np.iterable(reps) else (reps,))
    rank = max(a.ndim, len(reps))
    shape = (1,) * (rank - a.ndim) + a.shape
    reps = (1,) * (rank - len(reps)) + reps
    if all(r == 1 for r in reps):
        return _reshape(a, shape)
    paired = [m for r, n in zip(reps, shape) for m in (r, n)]
    start = rank - a.ndim
    dims = tuple(2 * (start + i) + 1 for i in range(a.ndim))
    wide = broadcast_in_dim_p.bind(a, shape=tuple(paired), broadcast_dimensions=dims, sharding=None)
    return lax.reshape(wide, tuple(r * n for r, n in zip(reps, shape)))


@adaptive("always", static_argnames=("axis",), lists=("axis",))
def flip(m: ArrayLike, axis: int | Sequence[int] | None = None) -> Array:
    """``m`` reversed along some axes, all by default. Source: `numpy.flip`.

    >>> jnp.flip(jnp.array([[1, 2], [3, 4]]), axis=1)
    Array([[2, 1],
           [4, 3]], dtype=int32)
    """
    check_arraylike("flip", m)
    m = as_array(m)
    return lax.rev(m, canonical_axes(axis, m.ndim))


@adaptive("always")
def fliplr(m: ArrayLike) -> Array:
    """``m`` reversed along its second axis. Source: `numpy.fliplr`.

    >>> jnp.fliplr(jnp.array([[1, 2], [3, 4]]))
    Array([[2, 1],
           [4, 3]], dtype=int32)
    """
    return flip(m, 1)


@adaptive("always")
def flipud(m: ArrayLike) -> Array:
    """``m`` reversed along its first axis. Source: `numpy.flipud`.

    >>> jnp.flipud(jnp.array([[1, 2], [3, 4]]))
    Array([[3, 4],
           [1, 2]], dtype=int32)
    """
    return flip(m, 0)


@adaptive("always", static_argnames=("k", "axes"))
def rot90(m: ArrayLike, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Array:
    """``m`` turned by ``k`` right angles in the plane of two axes. Source: `numpy.rot90`.

    Raises:
      ValueError: the two axes are the same.

    >>> jnp.rot90(jnp.array([[1, 2], [3, 4]]))
    Array([[2, 4],
           [1, 3]], dtype=int32)
    """
    check_arraylike("rot90", m)
    m = as_array(m)
    plane = integers("rot90: axes", axes)
    if len(plane) != 2:
        raise ValueError(f"rot90: axes must be two, the plane to turn in, got {plane}")
    first, second = (canonical_axis(a, m.ndim) for a in plane)
    if first == second:
        raise ValueError(f"Axes must be different, got axes={tuple(axes)}")
    k = integer("rot90: k", k) % 4
    if k == 0:
        return m
    if k == 2:
        return flip(m, (first, second))
    turned = swapaxes(m, first, second)
    return flip(turned, first) if k == 1 else flip(turned, second)


def roll(a: ArrayLike, shift: ArrayLike | Sequence[int], axis: int | Sequence[int] | None = None) -> Array:
    """``a`` moved along axes, what leaves at one end entering at the other.

    Args:
      a: array.
      shift: how far, one number an axis; may be traced.
      axis: which axes; None to roll the flattened array.

    Raises:
      ValueError: numbers of shifts and of axes that do not go together. ShardingTypeError: an axis that is rolled is split.

    Source: `numpy.roll`.

    >>> jnp.roll(jnp.arange(5), 2)
    Array([3, 4, 0, 1, 2], dtype=int32)
    """
    check_arraylike("roll", a)
    if evaluating():  # whole numbers are part of the program
        shifts = (shift,) if type(shift) is int else shift if type(shift) is tuple else ()
        if shifts and all(type(s) is int for s in shifts):
            return _roll_by(a, Static(shifts), given_axes(axis))
        if isinstance(shift, Array):
            return _roll_by_array(a, shift, given_axes(axis))
    return _roll(a, shift, axis)


@inlined(static_argnums=(2,))
def _roll_by_array(a: Any, shift: Array, axis: Any) -> Array:
    return _roll(a, shift, axis)


@adaptive("always", (1, 2))
def _roll_by(a: Any, shifts: tuple[int, ...], axis: Any) -> Array:
    return _roll(a, tuple(shifts), axis)


def _roll(a: Any, shift: Any, axis: Any) -> Array:
    a = as_array(a)
    if axis is None:
        return _reshape(_roll(ravel(a), shift, 0), a.shape)
    axes = canonical_axes_with_repeats(axis, a.ndim)
    if any([splits.entries(get_aval(a))[d] is not None for d in axes]):
        raise ShardingTypeError(f"roll: {get_aval(a).str_short()} is split along one of the axes {axes} that are rolled; reshard it first, or call "
                                "roll inside jax.shard_map.")
    shifts = _shifts(shift, len(axes))
    check_arraylike("roll: shift", *shifts)
    if len(shifts) != len(axes):
        shifts, axes = (shifts * len(axes) if len(shifts) == 1 else shifts), (
            axes * len(shifts) if len(axes) == 1 else axes)
        if len(shifts) != len(axes):
            raise ValueError(f"roll: {len(shifts)} shifts do not fit {len(axes)} axes")
    for d in dict.fromkeys(axes):
        a = _roll_along(a, [s for s, other in zip(shifts, axes) if other == d], d)
    return a


def canonical_axes_with_repeats(axis: Axis, ndim: int) -> tuple[int, ...]:
    """Axes counted from the front; the same may come twice."""
    return tuple(canonical_axis(x, ndim) for x in several_axes(axis))


def _shifts(shift: Any, count: int) -> tuple:
    if isinstance(shift, (tuple, list)):
        return tuple(shift)
    shift = unwrapped(shift)
    shape = shape_of(shift)
    if len(shape) > 1:
        raise ValueError(f"roll: shift must be a number or a vector, got shape {shape}")
    return tuple(shift[i] for i in range(shape[0])) if shape else (shift,)


def _roll_along(a: Any, shifts: list, axis: int) -> Array:
    """``a`` rolled along one axis by the sum of ``shifts``: as rolls in turn, code would double with each."""
    n = a.shape[axis]
    if n == 0:
        return a
    known = [int(s) for s in map(concrete, shifts) if s is not None]
    if len(known) == len(shifts):
        s = sum(known) % n
        if s == 0:
            return a
        return lax.concatenate([lax.slice_in_dim(a, n - s, n, axis=axis), lax.slice_in_dim(a, 0, n - s, axis=axis)], axis)
    twice = lax.concatenate([a, a], axis)
    with wide_positions(twice):
        dtype = position_dtype(2 * n)  # holds the sum of two remainders
        wide = [convert(s, dtype) if dtype.itemsize == 8 else s for s in shifts]
        by, *others = [convert(remainder(s, n), dtype) for s in wide]
        for other in others:
            by = remainder(lax.add(by, other), n)
        return lax.dynamic_slice_in_dim(twice, lax.sub(dtype.type(n), by), n, axis)


# -- triangles and diagonals -------------------------------------------------------------------------------------------

def _triangle(name: str, m: Any, k: int, lower: bool) -> Array:
    check_arraylike(name, m)
    m = as_array(m)
    if m.ndim < 2:
        raise ValueError(f"Argument to jax.numpy.{name} must be at least 2D, got shape {m.shape}")
    rows, columns = m.shape[-2:]
    mask = broadcast_to(tri(rows, columns, k if lower else k - 1, bool), m.shape)
    zero = lax.full_like(m, 0)
    return lax.select(mask, m, zero) if lower else lax.select(mask, zero, m)


@adaptive("always", static_argnames=("k",))
def tril(m: ArrayLike, k: int = 0) -> Array:
    """The lower triangle, up to diagonal ``k``; zeros elsewhere. Source: `numpy.tril`.

    >>> jnp.tril(jnp.ones((3, 3), int), -1)
    Array([[0, 0, 0],
           [1, 0, 0],
           [1, 1, 0]], dtype=int32)
    """
    return _triangle("tril", m, integer("tril: k", k), True)


@adaptive("always", static_argnames=("k",))
def triu(m: ArrayLike, k: int = 0) -> Array:
    """The upper triangle, from diagonal ``k``; zeros elsewhere. Source: `numpy.triu`.

    >>> jnp.triu(jnp.ones((2, 3), int))
    Array([[1, 1, 1],
           [0, 1, 1]], dtype=int32)
    """
    return _triangle("triu", m, integer("triu: k", k), False)


@adaptive("always", static_argnames=("offset", "axis1", "axis2"))
def diagonal(a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """The diagonal of the matrices in the plane of two axes, as a new last axis.

    Args:
      a: array of rank 2 or more.
      offset: which diagonal; positive ones lie above the main one.
      axis1, axis2: rows and columns.

    Raises:
      ValueError: fewer than two axes. ShardingTypeError: one of the two is split over a mesh axis, so that a diagonal lies scattered.

    Source: `numpy.diagonal`.

    >>> jnp.diagonal(jnp.arange(6).reshape(2, 3), offset=1)
    Array([1, 5], dtype=int32)
    """
    check_arraylike("diagonal", a)
    a = as_array(a)
    a = lax.convert_element_type(a, a.dtype)
    if a.ndim < 2:
        raise ValueError("diagonal requires an array of at least two dimensions.")
    k = integer("diagonal: offset", offset)
    a = moveaxis(a, (integer("diagonal: axis1", axis1), integer("diagonal: axis2", axis2)), (-2, -1))
    if any([e is not None for e in splits.entries(get_aval(a))[-2:]]):
        raise ShardingTypeError(f"diagonal: the two axes that the diagonal runs along are the last ones of {get_aval(a).str_short()} and must be "
                                "whole on each device; reshard the array first.")
    rows, columns = a.shape[-2:]
    length = max(0, min(rows + min(k, 0), columns - max(k, 0)))
    if length == 0:
        return lax.full((*a.shape[:-2], 0), 0, a.dtype)
    start = max(k, 0) - min(k, 0) * columns
    flat = lax.reshape(a, (*a.shape[:-2], rows * columns))
    stop = start + (length - 1) * (columns + 1) + 1
    return lax.slice_in_dim(flat, start, stop, columns + 1, axis=flat.ndim - 1)


@adaptive("always", static_argnames=("k",))
def diag(v: ArrayLike, k: int = 0) -> Array:
    """A matrix with the vector ``v`` on diagonal ``k``, or diagonal ``k`` of a matrix.

    Raises:
      ValueError: another rank than 1 or 2.

    Source: `numpy.diag`.

    >>> jnp.diag(jnp.array([1, 2]))
    Array([[1, 0],
           [0, 2]], dtype=int32)
    >>> jnp.diag(jnp.array([[1, 2], [3, 4]]))
    Array([1, 4], dtype=int32)
    """
    check_arraylike("diag", v)
    k = integer("diag: k", k)
    v = as_array(v)
    if v.ndim == 2:
        return diagonal(v, k)
    if v.ndim != 1:
        raise ValueError(f"jax.numpy.diag: v must be a vector or a matrix, got shape {v.shape}")
    size = v.shape[0] + abs(k)
    padded = lax.pad(v, convert(0, v.dtype, v.weak_type), ((max(-k, 0), max(k, 0), 0),))
    spread = lax.broadcast_in_dim(padded, (size, size), (0,))  # rows, which are split over a mesh as v is
    return lax.select(eye(size, k=k, dtype=bool), spread, lax.full_like(spread, 0))


@adaptive("always", static_argnames=("k",))
def diagflat(v: ArrayLike, k: int = 0) -> Array:
    """A matrix with the elements of ``v``, flattened, on diagonal ``k``. Source: `numpy.diagflat`.

    >>> jnp.diagflat(jnp.array([[1], [2]]), 1)
    Array([[0, 1, 0],
           [0, 0, 2],
           [0, 0, 0]], dtype=int32)
    """
    return narrowed(strong(diag(ravel(v), k)))


# -- questions ---------------------------------------------------------------------------------------------------------

def _lengths(name: str, a: Any) -> tuple[int, ...]:
    """The shape of ``a``; of what is no array, as NumPy has it, with a warning."""
    if hasattr(a, "shape") or is_arraylike(a):
        return tuple(shape_of(a))
    source.warn(f"{name} requires an array or a number, got {type(a)}; jnp.asarray makes arrays", DeprecationWarning)
    return np.shape(a)


def shape(a: ArrayLike) -> tuple[int, ...]:
    """The shape of an array, () for a number. Warns (DeprecationWarning) about what is neither. Source: `numpy.shape`.

    >>> jnp.shape([[1, 2], [3, 4]])
    (2, 2)
    """
    found = _lengths("shape", a)
    return lengths.shown(found) if lengths.active else found


def ndim(a: ArrayLike) -> int:
    """The number of axes of an array. Source: `numpy.ndim`.

    >>> jnp.ndim(jnp.zeros((2, 3)))
    2
    """
    return len(_lengths("ndim", a))


def size(a: ArrayLike, axis: int | Sequence[int] | None = None) -> int:
    """The number of elements, or the length along one axis or several. Source: `numpy.size`.

    >>> jnp.size(jnp.zeros((2, 3)), 1)
    3
    """
    shape = _lengths("size", a)
    found = math.prod(shape if axis is None else [shape[i] for i in canonical_axes(axis, len(shape))])
    return lengths.shown_number(found) if lengths.active else found


def iterable(y: object) -> bool:
    """Whether ``y`` can be iterated over. Source: `numpy.iterable`.

    >>> jnp.iterable(jnp.arange(2))
    True
    """
    try:
        iter(cast(Any, y))
    except TypeError:
        return False
    return True
