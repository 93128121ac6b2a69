"""Joining arrays along an axis, and splitting them.

They compute nothing, so their results have the operands' dtype (joined by promotion), and eagerly they run on the host without
compiling, because the primitives they bind do.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np
from numpy.exceptions import AxisError

from jax_core import backends
from jax_core.programs.jit import inlined
from jax_core.representation import dtypes, errors
from jax_core.representation.arguments import integer
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike, DTypeLike
from jax_core.traces.structural import broadcast_in_dim_p
from jax_core.traces.trace import Tracer

from .. import lax
from .creation import astype_of
from .promotion import (
    as_array,
    canonical_axis,
    check_arraylike,
    concrete,
    convert,
    evaluating,
    host,
    joined,
    refuse_out,
    shape_of,
    unwrapped,
)
from .rows import Static, adaptive, is_few
from .shaping import _reshape, atleast_1d, atleast_2d, atleast_3d, moveaxis, ravel

if TYPE_CHECKING:
    from typing_extensions import TypeIs

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
    if _is_stack(arrays) and type(axis) is int and -len(shape_of(arrays)) < axis < len(shape_of(arrays)) - 1:
        return _rows_joined(arrays, shape_of(arrays)[1:], axis, dtype, "concatenate")
    if dtype is None and type(axis) is int and _joined_compiled(arrays):
        return _concatenate_at_once(axis, *arrays)
    return _concatenate(arrays, axis, dtype)


def _is_stack(arrays: Any, rank: int = 2) -> TypeIs[Array]:
    """Whether this is one array, of ``rank`` axes at least, whose rows are joined as a whole: a thousand by themselves are as many operations."""
    return isinstance(arrays, (Array, np.ndarray)) and len(shape_of(arrays)) >= rank and shape_of(arrays)[0] > 0


def _rows_joined(arrays: Any, row: Sequence[int], axis: int, dtype: Any, name: str) -> Array:
    """The rows of an array, each of the shape ``row``, joined along one of their axes."""
    x, n, axis = as_array(arrays), shape_of(arrays)[0], canonical_axis(axis, len(row))
    if dtype is not None:
        x = astype_of(x, dtypes.canonicalize_user_dtype(dtype, name))
    x = _reshape(x, (n, *row))
    x = moveaxis(x, 0, axis) if axis else x
    return _reshape(x, (*row[:axis], n * row[axis], *row[axis + 1:]))


_MOST_PARTS = 16


def _joined_compiled(arrays: Any) -> TypeIs[Sequence[Array]]:
    """Whether this is an eager call on not too many arrays, none committed to a placement: one compiled call joins them fastest."""
    return evaluating() and type(arrays) in (list, tuple) and 0 < len(arrays) <= _MOST_PARTS and not any([
        getattr(a, "_committed", True) for a in arrays])


def _at_once(join: Callable[..., Array]) -> Callable[..., Array]:
    """``join(arrays, number)`` as an adaptive function of the number and each array."""
    def joined_at_once(number: int, *arrays: Array) -> Array:
        return join(arrays, number)
    return adaptive("always", (0,))(joined_at_once)


def _concatenate(arrays: Any, axis: int | None, dtype: DTypeLike | None = None) -> Array:
    arrays = _sequence("concatenate", arrays, dtype)
    if axis is None:
        return concatenate([ravel(a) for a in arrays], 0)
    shapes = [shape_of(a) for a in arrays]
    rank = len(shapes[0])
    if rank == 0:
        raise ValueError("concatenation: scalars have no axis to join along; use jnp.stack. The arrays are given as one sequence, "
                         "concatenate([x, y])")
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


_concatenate_at_once = _at_once(_concatenate)


def _joined_on_host(join: Callable, arrays: list, axis: int) -> Array | None:
    """The arrays, which have one dtype, joined by NumPy, if all are ready and small; else None."""
    if not evaluating():
        return None
    if any(not hasattr(a, "aval") for a in arrays):  # numbers and NumPy arrays are promoted by the ordinary way
        return None
    views = [host(a) for a in arrays]
    if any(v is None or v.nbytes > 1 << 20 for v in views):
        return None
    return backends.get().from_host(join(views, axis), all(getattr(a, "weak_type", False) for a in arrays), True)


def concat(arrays: Sequence[ArrayLike], /, *, axis: int | None = 0) -> Array:
    """`concatenate` under its name in the array API standard.

    Args:
      arrays: of one rank.
      axis: along which, or None for flattened arrays.

    Source: array API standard; `numpy.concatenate`.

    >>> jnp.concat([jnp.zeros(1), jnp.ones(2)])
    Array([0., 1., 1.], dtype=float32)
    """
    return concatenate(arrays, axis=axis)


def stack(arrays: ArrayLike | Sequence[ArrayLike], axis: int = 0, out: None = None,
          dtype: DTypeLike | None = None) -> Array:
    """Arrays of one shape joined along a new axis.

    Args:
      out: must be None.

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
        position = canonical_axis(axis, x.ndim)
        return moveaxis(x, 0, position) if position else x
    if dtype is None and type(axis) is int and _joined_compiled(arrays):
        return _stack_at_once(axis, *arrays)
    return _stack(arrays, axis, dtype)


def _stack(arrays: Any, axis: int, dtype: DTypeLike | None = None) -> Array:
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


_stack_at_once = _at_once(_stack)


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
    return lax.unstack(x, canonical_axis(axis, x.ndim))


def vstack(tup: ArrayLike | Sequence[ArrayLike], dtype: DTypeLike | None = None) -> Array:
    """Arrays joined along the first axis; vectors count as rows.

    Args:
      tup: arrays, or one array, whose first axis counts them.

    Source: `numpy.vstack`.

    >>> jnp.vstack([jnp.arange(2), jnp.arange(2) + 2])
    Array([[0, 1],
           [2, 3]], dtype=int32)
    """
    return _stacked("vstack", tup, 2, dtype)


def hstack(tup: ArrayLike | Sequence[ArrayLike], dtype: DTypeLike | None = None) -> Array:
    """Arrays joined along the second axis (vectors along the first).

    Args:
      tup: arrays, or one array, whose first axis counts them.

    Source: `numpy.hstack`.

    >>> jnp.hstack([jnp.arange(2), jnp.arange(3)])
    Array([0, 1, 0, 1, 2], dtype=int32)
    """
    return _stacked("hstack", tup, 1, dtype)


def dstack(tup: ArrayLike | Sequence[ArrayLike], dtype: DTypeLike | None = None) -> Array:
    """Arrays joined along the third axis.

    Args:
      tup: arrays, or one array, whose first axis counts them.
      dtype: of the result.

    Source: `numpy.dstack`.

    >>> jnp.dstack([jnp.arange(2), jnp.arange(2)]).shape
    (1, 2, 2)
    """
    return _stacked("dstack", tup, 3, dtype)


def _stacked(name: str, tup: Any, rank: int, dtype: Any) -> Array:
    if _is_stack(tup, 1):
        *row, = shape_of(tup)[1:]
        if len(row) < rank:
            row = [*[1] * (min(rank, 2) - len(row)), *row, *[1] * (rank - max(len(row), 2))]
        return _rows_joined(tup, row, 0 if len(row) == 1 else _AXIS_OF_RANK[rank], dtype, name)
    if dtype is None and _joined_compiled(tup):
        return _stacked_at_once(rank, *tup)
    return _of_rank_joined(_listed(name, tup), rank, dtype)


def _of_rank_joined(arrays: Sequence[Any], rank: int, dtype: Any = None) -> Array:
    """The arrays, each brought to ``rank`` axes at least, one after another along the axis that ``rank`` stands for."""
    arrays = [_WITH_AXES[rank](a) for a in arrays]
    if not arrays:
        raise ValueError("Need at least one array to concatenate.")
    return concatenate(arrays, 0 if arrays[0].ndim == 1 else _AXIS_OF_RANK[rank], dtype)


_WITH_AXES: dict[int, Callable[..., Any]] = {1: atleast_1d, 2: atleast_2d, 3: atleast_3d}
_AXIS_OF_RANK = {1: 1, 2: 0, 3: 2}


_stacked_at_once = _at_once(_of_rank_joined)


def column_stack(tup: ArrayLike | Sequence[ArrayLike]) -> Array:
    """Arrays joined along the second axis; vectors count as columns.

    Args:
      tup: arrays, or one array, whose first axis counts them.

    Source: `numpy.column_stack`.

    >>> jnp.column_stack([jnp.arange(2), jnp.arange(2) + 5])
    Array([[0, 5],
           [1, 6]], dtype=int32)
    """
    if _is_stack(tup, 1):
        row = shape_of(tup)[1:]
        return _rows_joined(tup, row if len(row) > 1 else (*row, *[1] * (2 - len(row))), 1, None, "column_stack")
    return _columns_at_once(1, *tup) if _joined_compiled(tup) else _columns(_listed("column_stack", tup), 1)


def _columns(arrays: Sequence[Any], axis: int) -> Array:
    return concatenate([a if a.ndim >= 2 else _reshape(a, (-1, 1)) for a in map(as_array, arrays)], axis)


_columns_at_once = _at_once(_columns)


def _listed(name: str, tup: Any) -> list:
    if isinstance(tup, (Array, np.ndarray)):
        return _rows(tup)
    items = list(tup)
    if not items:
        raise ValueError(f"Need at least one array to {name}.")
    check_arraylike(name, *items)
    return items


@inlined()
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
    return _block(arrays, depth, rank)


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


def _block(x: Any, depth: int, rank: int) -> Array:
    if depth == 0:
        a = as_array(x)
        return _reshape(a, (1,) * (rank - a.ndim) + a.shape)
    return concatenate([_block(y, depth - 1, rank) for y in x], rank - depth)


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
    check_arraylike(f"jnp.{name}: indices_or_sections", sections)
    known = _static_value(sections, name)
    if isinstance(known, complex):
        raise TypeError(f"jnp.{name}: the number of pieces must be an integer, got {known}")
    n = int(known)
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
    return integer(f"jnp.{name}: a position to cut at", _static_value(i, name))


def _split(name: str, ary: Any, sections: Any, axis: int, equal: bool = True) -> list:
    check_arraylike(name, ary)
    a = as_array(ary)
    axis = canonical_axis(axis, a.ndim, out_of_range=AxisError)
    bounds = _split_points(name, a.shape[axis], sections, equal)
    return list(_pieces_few(a, Static(bounds), axis)) if is_few(a) and len(bounds) <= _MOST_PARTS else _pieces(a, bounds, axis)


def _pieces(a: Array, bounds: Sequence[int], axis: int) -> list:
    """What lies along the axis between each bound and the next; nothing where that is lower."""
    sizes = [j - i for i, j in zip(bounds, bounds[1:])]
    whole = bounds[0] == 0 and bounds[-1] == a.shape[axis] and min(sizes) >= 0
    if whole and isinstance(a, Tracer):  # one equation, whose transpose is one concatenation; of an array, slices are views
        return list(lax.split(a, sizes, axis))
    return [lax.slice_in_dim(a, i, max(i, j), axis=axis) for i, j in zip(bounds, bounds[1:])]


_pieces_few = adaptive("always", (1, 2))(_pieces)


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
    """As `split`, but the first pieces may be longer by one.

    Args:
      indices_or_sections, axis: as for `split`.

    Source: `numpy.array_split`.

    >>> jnp.array_split(jnp.arange(5), 2)
    [Array([0, 1, 2], dtype=int32), Array([3, 4], dtype=int32)]
    """
    return _split("array_split", ary, indices_or_sections, axis, equal=False)


def vsplit(ary: ArrayLike, indices_or_sections: Sequence[int] | ArrayLike) -> list:
    """`split` along the first axis.

    Args:
      indices_or_sections: as for `split`.

    Source: `numpy.vsplit`.

    >>> [p.shape for p in jnp.vsplit(jnp.zeros((4, 2)), 2)]
    [(2, 2), (2, 2)]
    """
    return _split("vsplit", ary, indices_or_sections, 0)


def hsplit(ary: ArrayLike, indices_or_sections: Sequence[int] | ArrayLike) -> list:
    """`split` along the second axis (the first of vectors).

    Args:
      indices_or_sections: as for `split`.

    Source: `numpy.hsplit`.

    >>> jnp.hsplit(jnp.arange(4), [1, 3])
    [Array([0], dtype=int32), Array([1, 2], dtype=int32), Array([3], dtype=int32)]
    """
    return _split("hsplit", ary, indices_or_sections, 0 if len(shape_of(ary)) == 1 else 1)


def dsplit(ary: ArrayLike, indices_or_sections: Sequence[int] | ArrayLike) -> list:
    """`split` along the third axis.

    Args:
      indices_or_sections: as for `split`.

    Source: `numpy.dsplit`.

    >>> [p.shape for p in jnp.dsplit(jnp.zeros((1, 2, 4)), 2)]
    [(1, 2, 2), (1, 2, 2)]
    """
    return _split("dsplit", ary, indices_or_sections, 2)
