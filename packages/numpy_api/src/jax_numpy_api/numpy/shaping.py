"""Functions that change the shape of arrays: reshaping, transposing, joining, splitting, repeating.

They compute nothing, so their results have the operands' dtype (joined by promotion where there are several), and
eagerly they run on the host without compiling, because the primitives they bind do.
"""
from __future__ import annotations

import math
import operator
from typing import Any, Callable, Sequence, cast, overload

import numpy as np

from jax_core import backends
from jax_core.representation import dtypes, errors, source
from jax_core.representation.array import Array
from jax_core.traces.structural import broadcast_in_dim_p
from jax_core.traces.trace import Tracer
from jax_core.representation.typing import ArrayLike, DTypeLike, Placement, Shape

from .. import lax
from .arithmetic import remainder
from .broadcasting import broadcast_to
from .creation import astype_of, eye, tri, zeros
from .promotion import (_parse_shape, as_array, canonical_axes, canonical_axis, canonical_shape, check_arraylike, concrete,
                        convert, evaluating, host, is_arraylike, joined, refuse_out, several_axes, shape_of, strong, unwrapped)
from .rows import adaptive

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
        return lax.reshape(a, new, out_sharding=out_sharding) if out_sharding is not None else lax.reshape(a, new)
    if order == "F":
        backwards = lax.transpose(a, tuple(range(a.ndim))[::-1])
        return lax.transpose(lax.reshape(backwards, new[::-1]), tuple(range(len(new)))[::-1])
    if order == "A":
        raise NotImplementedError("np.reshape order=A is not implemented.")
    raise ValueError(f"Unexpected value for 'order' argument: {order}.")


def _complete_shape(a: Any, shape: Any) -> tuple[int, ...]:
    """The target shape with -1 replaced."""
    if type(shape) is int:
        shape = (shape,)
    elif type(shape) is not tuple or any(type(n) is not int for n in shape):
        shape = _static_shape(shape)
    unknown = [i for i, n in enumerate(shape) if n < 0]
    size = a.size
    if not unknown:
        if math.prod(shape) != size:
            raise TypeError(f"cannot reshape array of shape {a.shape} (size {size}) into shape {shape} "
                            f"(size {math.prod(shape)})")
        return shape
    if len(unknown) > 1 or shape[unknown[0]] != -1:
        raise ValueError(f"reshape: shape {shape} may have one -1 at most, and no other negative length")
    rest = math.prod(n for n in shape if n >= 0)
    if rest == 0 and size == 0 or rest and size % rest == 0:
        length = size // rest if rest else 0
        return tuple(length if n < 0 else n for n in shape)
    raise TypeError(f"cannot reshape array of shape {a.shape} (size {size}) into shape {shape}: {size} is not a multiple "
                    f"of {rest}")


def _static_shape(shape: Any) -> tuple[int, ...]:
    return _parse_shape(shape)


def ravel(a: ArrayLike, order: str = "C", *, out_sharding: Placement | None = None) -> Array:
    """``a`` with one axis; ``order`` "C" or "F" (and "K" is refused). Source: `numpy.ravel`.

    >>> jnp.ravel(jnp.array([[1, 2], [3, 4]]))
    Array([1, 2, 3, 4], dtype=int32)
    """
    check_arraylike("ravel", a)
    if order == "K":
        raise NotImplementedError("Ravel not implemented for order='K'.")
    return _reshape(as_array(a), (math.prod(shape_of(a)),), order, out_sharding)


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
    check_arraylike("squeeze", a)
    a = as_array(a)
    if axis is None:
        axes = tuple(i for i, n in enumerate(a.shape) if n == 1)
    else:
        axes = canonical_axes(axis, a.ndim)
        if any(a.shape[i] != 1 for i in axes):
            raise ValueError(f"jax.numpy.squeeze: axis={axis} of an array of shape {a.shape} is not of length 1; name only axes that "
                             "are")
    return lax.squeeze(a, axes) if axes else a


def expand_dims(a: ArrayLike, axis: int | Sequence[int]) -> Array:
    """``a`` with axes of length 1 inserted, at positions of the result. Source: `numpy.expand_dims`.

    Raises:
      ValueError: a position is named twice or out of range.

    >>> jnp.expand_dims(jnp.zeros((2, 3)), (0, -1)).shape
    (1, 2, 3, 1)
    """
    check_arraylike("expand_dims", a)
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


def _at_least(rank: int, arys: tuple, name: str) -> Any:
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
    shape = canonical_shape(new_shape)
    flat = ravel(a)
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
    check_arraylike("transpose", a)
    a = as_array(a)
    if axes is None:
        return lax.transpose(a, tuple(range(a.ndim))[::-1])
    order = tuple(canonical_axis(x, a.ndim) for x in axes)
    if len(order) != a.ndim or len(set(order)) != a.ndim:
        raise TypeError(f"transpose: axes={tuple(axes)} must name each of the {a.ndim} axes of shape {a.shape} once")
    return lax.transpose(a, order)


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
    """``a`` with two axes exchanged. Source: `numpy.swapaxes`.

    >>> jnp.swapaxes(jnp.zeros((2, 3, 4)), 0, 2).shape
    (4, 3, 2)
    """
    check_arraylike("swapaxes", a)
    a = as_array(a)
    order = list(range(a.ndim))
    i, j = canonical_axis(axis1, a.ndim), canonical_axis(axis2, a.ndim)
    order[i], order[j] = order[j], order[i]
    return lax.transpose(a, tuple(order))


@adaptive("always", static_argnames=("source", "destination"))
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


# -- joining -----------------------------------------------------------------------------------------------------------

def _sequence(name: str, arrays: Any, dtype: Any = None) -> list:
    """The arrays of a sequence argument, of one dtype."""
    if isinstance(arrays, (Array, np.ndarray)):
        if not shape_of(arrays):
            raise TypeError(f"jnp.{name} takes a sequence of arrays, got an array of rank 0.")
        arrays = _rows(arrays)
    elif np.iterable(arrays):
        arrays = list(arrays)
    else:
        raise TypeError(f"jnp.{name} takes a sequence of arrays, got {arrays!r} of type {type(arrays).__name__}.")
    if not arrays:
        raise ValueError(f"Need at least one array to {name}.")
    check_arraylike(name, *arrays)
    if dtype is not None:
        asked = dtypes.canonicalize_user_dtype(dtype, name)
        return [convert(unwrapped(a), asked) for a in arrays]
    dtype, weak = joined(*arrays)
    return [convert(unwrapped(a), dtype, weak) for a in arrays]


def _rows(arrays: Any) -> list:
    arrays = as_array(arrays)
    if arrays.ndim == 0:
        raise ValueError("expected a sequence of arrays, or an array of at least one axis, got a number")
    return [arrays[i] for i in range(arrays.shape[0])]


def concatenate(arrays: ArrayLike | Sequence[ArrayLike], axis: int | None = 0, dtype: DTypeLike | None = None) -> Array:
    """Arrays joined along an existing axis.

    Args:
      arrays: sequence of arrays whose shapes agree except along ``axis``, or one array, whose rows are joined.
      axis: None to flatten the arrays first.
      dtype: of the result; by promotion if None.

    Raises:
      ValueError: no arrays. TypeError: shapes that do not fit.

    Source: `numpy.concatenate`.

    >>> jnp.concatenate([jnp.array([[1, 2]]), jnp.array([[3, 4]])], axis=1)
    Array([[1, 2, 3, 4]], dtype=int32)
    """
    if isinstance(arrays, (Array, np.ndarray)) and len(shape_of(arrays)) >= 2 and axis == 0 and dtype is None:
        x = as_array(arrays)
        return _reshape(x, (x.shape[0] * x.shape[1], *x.shape[2:]))
    arrays = _sequence("concatenate", arrays, dtype)
    if axis is None:
        return concatenate([ravel(a) for a in arrays], 0)
    shapes = [shape_of(a) for a in arrays]
    rank = len(shapes[0])
    if rank == 0:
        raise ValueError("concatenation: scalars have no axis to join along; use jnp.stack")
    if any(len(s) != rank for s in shapes):
        raise TypeError("concatenation: the arrays differ in their number of axes, got shapes "
                        f"{', '.join(map(str, shapes))}; add axes by jnp.expand_dims")
    axis = canonical_axis(axis, rank)
    if any(s[:axis] != shapes[0][:axis] or s[axis + 1:] != shapes[0][axis + 1:] for s in shapes):
        raise TypeError(f"concatenation along axis {axis}: the other axes must be equally long, got shapes "
                        f"{', '.join(map(str, shapes))}")
    if len(arrays) == 1:
        return as_array(arrays[0])
    found = _joined_on_host(np.concatenate, arrays, axis)
    return lax.concatenate(arrays, axis) if found is None else found


def _joined_on_host(join: Callable, arrays: list, axis: int) -> Array | None:
    """The arrays, which have one dtype, joined by NumPy, if all are ready and small; else None."""
    if not evaluating():
        return None
    if any(not hasattr(a, "aval") for a in arrays):  # numbers and NumPy arrays are promoted by the ordinary way
        return None
    views = [host(a) for a in arrays]
    if any(v is None or v.nbytes > 1 << 20 for v in views):
        return None
    return backends.get().from_host(join(views, axis), all(getattr(a, "weak_type", False) for a in arrays))


def concat(arrays: Sequence[ArrayLike], /, *, axis: int | None = 0) -> Array:
    """`concatenate` under its name in the array API standard. Source: array API standard; `numpy.concatenate`.

    >>> jnp.concat([jnp.zeros(1), jnp.ones(2)])
    Array([0., 1., 1.], dtype=float32)
    """
    return concatenate(arrays, axis=axis)


def stack(arrays: ArrayLike | Sequence[ArrayLike], axis: int = 0, out: None = None,
          dtype: DTypeLike | None = None) -> Array:
    """Arrays of one shape joined along a new axis.

    Raises:
      ValueError: no arrays, or different shapes.

    Source: `numpy.stack`.

    >>> jnp.stack([jnp.array([1, 2]), jnp.array([3, 4])], axis=1)
    Array([[1, 3],
           [2, 4]], dtype=int32)
    """
    refuse_out("stack", out)
    if isinstance(arrays, (Array, np.ndarray)):
        x = as_array(arrays)
        if not x.ndim:
            raise TypeError(f"jax.numpy.stack: arrays must be a sequence, or an array with an axis to take apart; got a number of {x.dtype.name}.")
        x = x if dtype is None else astype_of(x, dtypes.canonicalize_user_dtype(dtype, "stack"))
        return moveaxis(x, 0, canonical_axis(axis, x.ndim)) if axis else x
    arrays = _sequence("stack", arrays, dtype)
    shapes = [shape_of(a) for a in arrays]
    if any(s != shapes[0] for s in shapes):
        raise ValueError(f"All input arrays must have the same shape; stack got {', '.join(map(str, shapes))}.")
    shape = shapes[0]
    axis = canonical_axis(axis, len(shape) + 1)
    found = _joined_on_host(np.stack, arrays, axis)
    if found is not None:
        return found
    new = (*shape[:axis], 1, *shape[axis:])
    dims = tuple(i for i in range(len(new)) if i != axis)
    parts = [broadcast_in_dim_p.bind(a, shape=new, broadcast_dimensions=dims, sharding=None) for a in arrays]
    return lax.concatenate(parts, axis) if len(parts) > 1 else parts[0]


@adaptive("always", static_argnames=("axis",))
def unstack(x: ArrayLike, /, *, axis: int = 0) -> tuple:
    """The slices of ``x`` along an axis, which they do not have. Source: `numpy.unstack`, array API standard.

    Raises:
      ValueError: ``x`` is a scalar.

    >>> jnp.unstack(jnp.array([[1, 2], [3, 4]]))
    (Array([1, 2], dtype=int32), Array([3, 4], dtype=int32))
    """
    check_arraylike("unstack", x)
    x = as_array(x)
    if not x.ndim:
        raise ValueError("Unstack requires arrays with rank > 0, however a scalar array was passed.")
    axis = canonical_axis(axis, x.ndim)
    return tuple(lax.index_in_dim(x, i, axis, keepdims=False) for i in range(x.shape[axis]))


def vstack(tup: ArrayLike | Sequence[ArrayLike], dtype: DTypeLike | None = None) -> Array:
    """Arrays joined along the first axis; vectors count as rows. Source: `numpy.vstack`.

    >>> jnp.vstack([jnp.arange(2), jnp.arange(2) + 2])
    Array([[0, 1],
           [2, 3]], dtype=int32)
    """
    arrays = atleast_2d(*_listed("vstack", tup))
    return concatenate(arrays if isinstance(arrays, tuple) else (arrays,), 0, dtype)


def hstack(tup: ArrayLike | Sequence[ArrayLike], dtype: DTypeLike | None = None) -> Array:
    """Arrays joined along the second axis (vectors along the first). Source: `numpy.hstack`.

    >>> jnp.hstack([jnp.arange(2), jnp.arange(3)])
    Array([0, 1, 0, 1, 2], dtype=int32)
    """
    arrays = atleast_1d(*_listed("hstack", tup))
    arrays = arrays if isinstance(arrays, tuple) else (arrays,)
    return concatenate(arrays, 0 if arrays[0].ndim == 1 else 1, dtype)


def dstack(tup: ArrayLike | Sequence[ArrayLike], dtype: DTypeLike | None = None) -> Array:
    """Arrays joined along the third axis. Source: `numpy.dstack`.

    >>> jnp.dstack([jnp.arange(2), jnp.arange(2)]).shape
    (1, 2, 2)
    """
    arrays = atleast_3d(*_listed("dstack", tup))
    return concatenate(arrays if isinstance(arrays, tuple) else (arrays,), 2, dtype)


def column_stack(tup: ArrayLike | Sequence[ArrayLike]) -> Array:
    """Arrays joined along the second axis; vectors count as columns. Source: `numpy.column_stack`.

    >>> jnp.column_stack([jnp.arange(2), jnp.arange(2) + 5])
    Array([[0, 5],
           [1, 6]], dtype=int32)
    """
    arrays = [a if a.ndim >= 2 else _reshape(a, (-1, 1)) for a in map(as_array, _listed("column_stack", tup))]
    return concatenate(arrays, 1)


def _listed(name: str, tup: Any) -> list:
    if isinstance(tup, (Array, np.ndarray)):
        return _rows(tup)
    items = list(tup)
    if not items:
        raise ValueError(f"Need at least one array to {name}.")
    check_arraylike(name, *items)
    return items


def block(arrays: ArrayLike | list[Any]) -> Array:
    """An array put together from nested lists of blocks, the innermost along the last axis. Source: `numpy.block`.

    >>> jnp.block([[jnp.eye(2, dtype=int), jnp.zeros((2, 1), int)]])
    Array([[1, 0, 0],
           [0, 1, 0]], dtype=int32)
    """
    depth = _block_depth(arrays)
    leaves = _block_leaves(arrays)
    check_arraylike("block", *leaves)
    rank = max(depth, *(len(shape_of(x)) for x in leaves))
    return _block(arrays, depth, rank, rank)


def _block_depth(x: Any) -> int:
    if isinstance(x, tuple):
        raise ValueError("jnp.block does not allow tuples, got (...)")
    if not isinstance(x, list):
        return 0
    if not x:
        raise ValueError("jax.numpy.block: a list is empty; leave it out")
    depths = {_block_depth(y) for y in x}
    if len(depths) > 1:
        raise ValueError(f"Mismatched list depths in jnp.block: {sorted(depths)}")
    return 1 + depths.pop()


def _block_leaves(x: Any) -> list:
    return [leaf for y in x for leaf in _block_leaves(y)] if isinstance(x, list) else [x]


def _block(x: Any, depth: int, rank: int, full: int) -> Array:
    if depth == 0:
        a = as_array(x)
        return _reshape(a, (1,) * (full - a.ndim) + a.shape)
    return concatenate([_block(y, depth - 1, rank, full) for y in x], full - depth)


@adaptive("always", static_argnames=("axis",))
def append(arr: ArrayLike, values: ArrayLike, axis: int | None = None) -> Array:
    """``values`` after ``arr`` along an axis; both flattened if it is None. Source: `numpy.append`.

    >>> jnp.append(jnp.array([1, 2]), 3)
    Array([1, 2, 3], dtype=int32)
    """
    if axis is None:
        return concatenate([ravel(arr), ravel(values)], 0)
    return concatenate([arr, values], axis)


# -- splitting ---------------------------------------------------------------------------------------------------------

def _split_points(name: str, length: int, sections: Any, equal: bool) -> list[int]:
    """Where to cut: the bounds of the pieces, first and last included."""
    sections = unwrapped(sections)
    if isinstance(sections, (tuple, list)) or len(shape_of(sections)) > 0:
        if any(np.ndim(i) for i in sections):
            raise TypeError(f"jnp.{name}: the positions of the cuts must be integers, got {sections!r}")
        values = [_static_index(i, name) for i in sections]
        clipped = [min(max(i + length if i < 0 else i, 0), length) for i in values]
        return [0, *clipped, length]
    n = int(_static_value(sections, name))
    if n <= 0:
        raise ValueError(f"jnp.{name}: number of sections must be larger than 0, got {n}")
    small, extra = divmod(length, n)
    if extra and equal:
        raise ValueError(f"array split does not result in an equal division: jnp.{name} of length {length} into {n}")
    bounds = [0]
    for i in range(n):
        bounds.append(bounds[-1] + small + (i < extra))
    return bounds


def _static_value(i: Any, name: str) -> Any:
    known = concrete(i)
    if known is None:
        raise errors.ConcretizationTypeError(i, f"It arose in jax.numpy.{name} argument 1, the positions of the cuts.")
    return known.item()


def _static_index(i: Any, name: str) -> int:
    return operator.index(_static_value(i, name))


def _split(name: str, ary: Any, sections: Any, axis: int, equal: bool = True) -> list:
    check_arraylike(name, ary)
    a = as_array(ary)
    axis = canonical_axis(axis, a.ndim)
    bounds = _split_points(name, a.shape[axis], sections, equal)
    sizes = [j - i for i, j in zip(bounds, bounds[1:])]
    whole = bounds[0] == 0 and bounds[-1] == a.shape[axis] and min(sizes) >= 0
    if whole and isinstance(a, Tracer):  # one equation, whose transpose is one concatenation; of an array, slices are views
        return list(lax.split(a, sizes, axis))
    return [lax.slice_in_dim(a, i, max(i, j), axis=axis) for i, j in zip(bounds, bounds[1:])]


def split(ary: ArrayLike, indices_or_sections: Sequence[int] | ArrayLike, axis: int = 0) -> list:
    """``ary`` cut into pieces along an axis.

    Args:
      ary: array.
      indices_or_sections: number of equal pieces, or the indices at which to cut; known while tracing.
      axis: to cut along.

    Raises:
      ValueError: the length is not a multiple of the number of pieces.

    Source: `numpy.split`.

    >>> jnp.split(jnp.arange(6), [2, 5])
    [Array([0, 1], dtype=int32), Array([2, 3, 4], dtype=int32), Array([5], dtype=int32)]
    """
    return _split("split", ary, indices_or_sections, axis)


def array_split(ary: ArrayLike, indices_or_sections: Sequence[int] | ArrayLike, axis: int = 0) -> list:
    """As `split`, but the first pieces may be longer by one. Source: `numpy.array_split`.

    >>> jnp.array_split(jnp.arange(5), 2)
    [Array([0, 1, 2], dtype=int32), Array([3, 4], dtype=int32)]
    """
    return _split("array_split", ary, indices_or_sections, axis, equal=False)


def vsplit(ary: ArrayLike, indices_or_sections: Sequence[int] | ArrayLike) -> list:
    """`split` along the first axis. Source: `numpy.vsplit`.

    >>> [p.shape for p in jnp.vsplit(jnp.zeros((4, 2)), 2)]
    [(2, 2), (2, 2)]
    """
    return _split("vsplit", ary, indices_or_sections, 0)


def hsplit(ary: ArrayLike, indices_or_sections: Sequence[int] | ArrayLike) -> list:
    """`split` along the second axis (the first of vectors). Source: `numpy.hsplit`.

    >>> jnp.hsplit(jnp.arange(4), [1, 3])
    [Array([0], dtype=int32), Array([1, 2], dtype=int32), Array([3], dtype=int32)]
    """
    return _split("hsplit", ary, indices_or_sections, 0 if len(shape_of(ary)) == 1 else 1)


def dsplit(ary: ArrayLike, indices_or_sections: Sequence[int] | ArrayLike) -> list:
    """`split` along the third axis. Source: `numpy.dsplit`.

    >>> [p.shape for p in jnp.dsplit(jnp.zeros((1, 2, 4)), 2)]
    [(1, 2, 2), (1, 2, 2)]
    """
    return _split("dsplit", ary, indices_or_sections, 2)


# -- repeating, reversing, rotating ------------------------------------------------------------------------------------

@adaptive("always", static_argnames=("reps",))
def tile(A: ArrayLike, reps: int | Sequence[int]) -> Array:
    """``A`` repeated a number of times along each axis. Source: `numpy.tile`.

    >>> jnp.tile(jnp.array([1, 2]), (2, 2))
    Array([[1, 2, 1, 2],
           [1, 2, 1, 2]], dtype=int32)
    """
    check_arraylike("tile", A)
    a = as_array(A)
    reps = tuple(operator.index(r) for r in (cast(Sequence[int], reps) if np.ndim(reps) else (reps,)))  # type: ignore[arg-type]
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


@adaptive("always", static_argnames=("axis",))
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
    first, second = (canonical_axis(a, m.ndim) for a in axes)
    if first == second:
        raise ValueError(f"Axes must be different, got axes={tuple(axes)}")
    k = operator.index(k) % 4
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
      ValueError: numbers of shifts and of axes that do not go together.

    Source: `numpy.roll`.

    >>> jnp.roll(jnp.arange(5), 2)
    Array([3, 4, 0, 1, 2], dtype=int32)
    """
    check_arraylike("roll", a)
    a = as_array(a)
    if axis is None:
        return _reshape(roll(ravel(a), shift, 0), a.shape)
    axes = canonical_axes_with_repeats(axis, a.ndim)
    shifts = _shifts(shift, len(axes))
    if len(shifts) != len(axes):
        shifts, axes = (shifts * len(axes) if len(shifts) == 1 else shifts), (
            axes * len(shifts) if len(axes) == 1 else axes)
        if len(shifts) != len(axes):
            raise ValueError(f"roll: {len(shifts)} shifts do not fit {len(axes)} axes")
    for s, d in zip(shifts, axes):
        a = _roll_one(a, s, d)
    return a


def canonical_axes_with_repeats(axis: Any, ndim: int) -> tuple[int, ...]:
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


def _roll_one(a: Any, shift: Any, axis: int) -> Array:
    n = a.shape[axis]
    if n == 0:
        return a
    known = concrete(shift)
    if known is not None:
        s = int(known) % n
        if s == 0:
            return a
        return lax.concatenate([lax.slice_in_dim(a, n - s, n, axis=axis), lax.slice_in_dim(a, 0, n - s, axis=axis)], axis)
    twice = lax.concatenate([a, a], axis)
    start = lax.sub(np.int32(n), convert(remainder(shift, n), np.dtype(np.int32)))
    return lax.dynamic_slice_in_dim(twice, start, n, axis)


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
    return _triangle("tril", m, operator.index(k), True)


@adaptive("always", static_argnames=("k",))
def triu(m: ArrayLike, k: int = 0) -> Array:
    """The upper triangle, from diagonal ``k``; zeros elsewhere. Source: `numpy.triu`.

    >>> jnp.triu(jnp.ones((2, 3), int))
    Array([[1, 1, 1],
           [0, 1, 1]], dtype=int32)
    """
    return _triangle("triu", m, operator.index(k), False)


@adaptive("always", static_argnames=("offset", "axis1", "axis2"))
def diagonal(a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """The diagonal of the matrices in the plane of two axes, as a new last axis.

    Args:
      a: array of rank 2 or more.
      offset: which diagonal; positive ones lie above the main one.
      axis1, axis2: rows and columns.

    Raises:
      ValueError: fewer than two axes.

    Source: `numpy.diagonal`.

    >>> jnp.diagonal(jnp.arange(6).reshape(2, 3), offset=1)
    Array([1, 5], dtype=int32)
    """
    check_arraylike("diagonal", a)
    a = as_array(a)
    a = lax.convert_element_type(a, a.dtype)
    if a.ndim < 2:
        raise ValueError("diagonal requires an array of at least two dimensions.")
    k = operator.index(offset)
    a = moveaxis(a, (operator.index(axis1), operator.index(axis2)), (-2, -1))
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
    k = operator.index(k)
    v = as_array(v)
    if v.ndim == 2:
        return diagonal(v, k)
    if v.ndim != 1:
        raise ValueError(f"jax.numpy.diag: v must be a vector or a matrix, got shape {v.shape}")
    size = v.shape[0] + abs(k)
    padded = lax.pad(v, convert(0, v.dtype, v.weak_type), ((max(k, 0), max(-k, 0), 0),))
    spread = broadcast_to(padded, (size, size))
    return lax.select(eye(size, k=k, dtype=bool), spread, lax.full_like(spread, 0))


@adaptive("always", static_argnames=("k",))
def diagflat(v: ArrayLike, k: int = 0) -> Array:
    """A matrix with the elements of ``v``, flattened, on diagonal ``k``. Source: `numpy.diagflat`.

    >>> jnp.diagflat(jnp.array([[1], [2]]), 1)
    Array([[0, 1, 0],
           [0, 0, 2],
           [0, 0, 0]], dtype=int32)
    """
    return strong(diag(ravel(v), k))


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
    return _lengths("shape", a)


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
    lengths = _lengths("size", a)
    if axis is None:
        return math.prod(lengths)
    return math.prod(lengths[i] for i in canonical_axes(axis, len(lengths)))


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
