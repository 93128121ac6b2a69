"""Moving elements without computing: reshape, squeeze, concatenate, stack, split, rev, tile, transpose, broadcasts.

All are linear, and exact on the host. Slices are in `slicing`, padding in `pad`, gathers in `gather`, arrays made from nothing in `create`.

Source: StableHLO specification, `reshape`, `concatenate`, `reverse`, `broadcast_in_dim`, `transpose`.
"""
from __future__ import annotations

import math
import operator
from typing import Any, Sequence

import numpy as np

from jax_core.interfaces import JOINED_AT_ONCE, Odd
from jax_core.representation import dtypes, splits
from jax_core.representation.arguments import integer, integers
from jax_core.representation.array import Array
from jax_core.representation.aval import ShapedArray, get_aval
from jax_core.representation.errors import ShardingTypeError
from jax_core.representation.marks import LINEAR
from jax_core.representation.primitive import Primitive, Zero, is_linear
from jax_core.representation.traits import Inner, Kind, Quick, Traits
from jax_core.representation.typing import ArrayLike, Placement, Shape, host_value
from jax_core.traces import structural
from jax_core.traces.structural import broadcast_in_dim_p, instantiate, reduce_sum, transpose_p

from .nary import as_operand, check_same_dtypes


def canonical_axis(name: str, axis: int, rank: int) -> int:
    """``axis`` counted from the front; raises ValueError where there is no such axis."""
    axis = integer(f"lax.{name}: an axis", axis)
    if not -rank <= axis < rank:
        raise ValueError(f"lax.{name}: axis {axis} is out of bounds for array of dimension {rank}")
    return axis % rank if rank else 0


# -- reshape -------------------------------------------------------------------------------------------------------------

def _reshape_type(x, *, new_sizes, dimensions=None, sharding=None):
    if any(n < 0 for n in new_sizes):
        raise TypeError(f"lax.reshape: new_sizes must all be positive or zero, got {tuple(new_sizes)}; jax.numpy.reshape works "
                        "out a size given as -1.")
    if math.prod(new_sizes) != x.size:
        raise ValueError(f"lax.reshape: operand {x.str_short()} has {x.size} elements, new_sizes={tuple(new_sizes)} hold "
                        f"{math.prod(new_sizes)}; they must be equally many.")
    return ShapedArray(new_sizes, x.dtype, x.weak_type, sharding=sharding)


def _reshape_batch(axis, args, dims, *, new_sizes, dimensions=None, sharding=None):
    x = structural.bdim_at_front(args[0], dims[0], axis)
    shape = (np.shape(x)[0], *new_sizes)
    if sharding is not None:
        return reshape_p.bind(x, new_sizes=shape, dimensions=None, sharding=structural.batched_placement(axis, sharding, 0)), 0
    return reshaped(x, shape), 0


reshape_p = Primitive(
    "reshape", out_type=_reshape_type, jvp=LINEAR, batch=_reshape_batch,
    transpose=lambda ct, x, *, new_sizes, dimensions=None, sharding=None: reshaped(ct, x.aval.shape, splits.cotangent_placement(x.aval)),
    lower=lambda b, x, **_: b.emit(f"stablehlo.reshape {x}", x, out=b.out_avals[0]),
    reference=lambda x, *, new_sizes, dimensions=None, sharding=None: np.reshape(x, new_sizes), exact=True,
    traits=Traits(Kind.VIEW, keeps_places=True), splits=splits.regrouped)


def reshaped(x: Any, shape: Sequence[int], placement: Placement | None = None) -> Any:
    """``x`` itself if it has this shape, else `reshape_p`; for use in rules."""
    shape = tuple(shape)
    return x if np.shape(x) == shape else reshape_p.bind(x, new_sizes=shape, dimensions=None, sharding=placement)


def reshape(operand: ArrayLike, new_sizes: Shape, dimensions: Sequence[int] | None = None, *,
            out_sharding: Placement | None = None) -> Array:
    """The elements of ``operand``, in row-major order, in another shape.

    Args:
      operand: array.
      new_sizes: an integer or a sequence of integers.
      dimensions: read the elements with the axes in this order.
      out_sharding: placement of the result.

    Raises:
      TypeError: the number of elements differs, or a size is negative.

    Source: StableHLO `reshape`.

    >>> lax.reshape(jnp.arange(6), (2, 3))
    Array([[0, 1, 2],
           [3, 4, 5]], dtype=int32)
    """
    operand = as_operand("reshape", operand, 0)
    shape = _sizes("reshape", new_sizes)
    if dimensions is not None:
        operand = structural.transpose(operand, integers("lax.reshape: dimensions", dimensions))
    if np.shape(operand) == shape and out_sharding is None and not host_value(operand):
        return operand
    return reshape_p.bind(operand, new_sizes=shape, dimensions=None, sharding=structural.resolved(out_sharding))


def _sizes(name, sizes) -> tuple[int, ...]:
    try:
        return tuple(map(operator.index, sizes)) if np.iterable(sizes) else (operator.index(sizes),)
    except TypeError:
        arrays = any(np.ndim(n) for n in sizes) if np.iterable(sizes) else False
        raise TypeError(f"lax.{name}: a shape holds integers, got {sizes!r}" + ("; write tuple(lengths) for an array of lengths." if arrays else ".")) from None


# -- squeeze -------------------------------------------------------------------------------------------------------------

def _squeeze_type(x, *, dimensions):
    if any(x.shape[d] != 1 for d in dimensions):
        raise ValueError(f"lax.squeeze: dimensions={tuple(dimensions)} of {x.str_short()} are not all of length 1; name only "
                         "those that are")
    return ShapedArray([n for i, n in enumerate(x.shape) if i not in dimensions], x.dtype, x.weak_type)


def _squeeze_batch(axis, args, dims, *, dimensions):
    (x,), (d,) = args, dims
    rest = [i for i in range(np.ndim(x)) if i != d]
    squeezed = tuple(rest[i] for i in dimensions)
    return squeeze_p.bind(x, dimensions=squeezed), d - sum(i < d for i in squeezed)


squeeze_p = Primitive(
    "squeeze", out_type=_squeeze_type, jvp=LINEAR, batch=_squeeze_batch,
    transpose=lambda ct, x, *, dimensions: reshaped(ct, x.aval.shape, splits.cotangent_placement(x.aval)),
    splits=lambda prim, avals, outs, params: [
        tuple(e for i, e in enumerate(splits.entries(avals[0])) if i not in params["dimensions"])],
    lower=lambda b, x, *, dimensions: b.emit(f"stablehlo.reshape {x}", x, out=b.out_avals[0]),
    reference=lambda x, *, dimensions: np.squeeze(x, dimensions), exact=True, traits=Traits(Kind.VIEW, keeps_places=True))


def squeeze(array: ArrayLike, dimensions: Sequence[int]) -> Array:
    """``array`` without the axes ``dimensions``, all of length 1 (negative: counted from the end). Raises ValueError otherwise.

    Source: StableHLO `reshape`.

    >>> lax.squeeze(jnp.zeros((1, 3)), (0,)).shape
    (3,)
    """
    array = as_operand("squeeze", array, 0)
    rank = np.ndim(array)
    dims = tuple(canonical_axis("squeeze", d, rank) for d in integers("lax.squeeze: dimensions", dimensions))
    if len(set(dims)) != len(dims):
        raise ValueError(f"lax.squeeze: dimensions={tuple(dimensions)} name an axis twice.")
    return squeeze_p.bind(array, dimensions=dims) if dims or host_value(array) else array


def expand_dims(array: ArrayLike, dimensions: Sequence[int]) -> Array:
    """``array`` with axes of length 1 at the positions ``dimensions`` of the result. Raises ValueError for bad positions.

    Source: StableHLO `broadcast_in_dim`.

    >>> lax.expand_dims(jnp.zeros((2, 3)), (0,)).shape
    (1, 2, 3)
    """
    array = as_operand("expand_dims", array, 0)
    rank = np.ndim(array) + len(dimensions)
    new = {canonical_axis("expand_dims", d, rank) for d in dimensions}
    if len(new) != len(dimensions):
        raise ValueError(f"lax.expand_dims: dimensions={tuple(dimensions)} name an axis twice.")
    sizes = iter(np.shape(array))
    shape = tuple(1 if i in new else next(sizes) for i in range(rank))
    return structural.broadcast_in_dim(array, shape, tuple(i for i in range(rank) if i not in new))


def collapse(operand: ArrayLike, start_dimension: int, stop_dimension: int | None = None) -> Array:
    """``operand`` with the axes from ``start_dimension`` up to, not including, ``stop_dimension`` merged into one; none make one of length 1.

    Raises:
      ValueError: ``stop_dimension`` comes before ``start_dimension``.

    Source: StableHLO `reshape`.

    >>> lax.collapse(jnp.zeros((2, 3, 4)), 1).shape
    (2, 12)
    """
    shape = np.shape(operand)
    start, stop, _ = slice(start_dimension, stop_dimension).indices(len(shape))
    if stop < start:
        raise ValueError(f"lax.collapse: stop_dimension={stop_dimension} comes before start_dimension={start_dimension} for an "
                         f"operand of {len(shape)} axes.")
    return reshape(operand, (*shape[:start], math.prod(shape[start:stop]), *shape[stop:]))


# -- concatenate and split -----------------------------------------------------------------------------------------------

def _concatenate_type(*xs, dimension):
    if not xs:
        raise ValueError("lax.concatenate requires a non-empty sequence of arrays")
    first = xs[0]
    if not 0 <= dimension < first.ndim:
        raise TypeError(f"lax.concatenate: dimension={dimension} must lie in [0, {first.ndim}) for operand {first.str_short()}.")
    shapes = {x.shape[:dimension] + x.shape[dimension + 1:] for x in xs}
    if len(shapes) > 1 or len({x.ndim for x in xs}) > 1:
        raise TypeError(f"lax.concatenate: operands must have equal shapes apart from axis {dimension}, got "
                        f"{', '.join(x.str_short() for x in xs)}.")
    check_same_dtypes("concatenate", xs)
    length = sum(x.shape[dimension] for x in xs)
    return ShapedArray(first.shape[:dimension] + (length,) + first.shape[dimension + 1:], first.dtype,
                       all(x.weak_type for x in xs))


def _concatenate_transpose(ct, *xs, dimension):
    if isinstance(ct, Zero):
        return [Zero(x.aval) if is_linear(x) else None for x in xs]
    parts = split_p.bind(ct, sizes=tuple(x.shape[dimension] for x in xs), axis=dimension)
    return [part if is_linear(x) else None for part, x in zip(parts, xs)]


def _concatenate_batch(axis, args, dims, *, dimension):
    args = [structural.bdim_at_front(x, d, axis) for x, d in zip(args, dims)]
    return concatenate_p.bind(*args, dimension=dimension + 1), 0


def _concatenate_splits(prim, avals, outs, params):
    """As all of the operands, which must be split alike."""
    if len({splits.entries(a) for a in avals}) > 1:
        raise ShardingTypeError(f"lax.concatenate: All operands should have the same sharding, got {splits.types_text(avals)}; reshard "
                                "some of them.")
    return splits.as_first(prim, avals, outs, params)


def _concatenated(b, parts, dimension, whole):
    """As a part of an array of type ``whole``."""
    shape = list(whole.shape)
    shape[dimension] = sum([x.aval.shape[dimension] for x in parts])
    return b.emit(f"stablehlo.concatenate {', '.join(map(str, parts))}, dim = {dimension}", *parts, out=whole.update(shape=tuple(shape)))


def _joined(b, parts, dimension):
    """One after another along an axis. Elements of two bits are joined as bytes, as XLA's CPU compiler would end the process."""
    out, narrow = b.out_avals[0], dtypes.itemsize_bits(b.out_avals[0].dtype) == 2
    if narrow:
        out = out.update(dtype=np.dtype(np.int8))
        parts = [b.emit(f"stablehlo.convert {x}", x, out=x.aval.update(dtype=out.dtype)) for x in parts]
    while b.odd is Odd.MANY_COMPUTED and len(parts) > JOINED_AT_ONCE:
        groups = [_concatenated(b, parts[i:i + JOINED_AT_ONCE], dimension, out) for i in range(0, len(parts), JOINED_AT_ONCE)]
        parts = [b.in_memory(group, "put together in one kernel with what computes it", few=True) for group in groups]
    whole = _concatenated(b, parts, dimension, out)
    return b.emit(f"stablehlo.convert {whole}", whole, out=b.out_avals[0]) if narrow else whole


concatenate_p = Primitive(
    "concatenate", out_type=_concatenate_type, jvp=LINEAR, transpose=_concatenate_transpose, batch=_concatenate_batch,
    lower=lambda b, *xs, dimension: _joined(b, xs, dimension),
    reference=lambda *xs, dimension: np.concatenate(xs, dimension), exact=True,
    traits=Traits(Kind.MOVE, quick=Quick.SLOW_ON_RESULTS, inner=Inner.WINDOWS, joins=True), splits=_concatenate_splits)


def concatenate(operands: ArrayLike | Sequence[ArrayLike], dimension: int) -> Array:
    """``operands`` one after another along axis ``dimension``.

    Raises:
      ValueError: no operands, or no such axis. TypeError: dtypes or other axes differ.

    Source: StableHLO `concatenate`.

    >>> lax.concatenate([jnp.arange(2), jnp.arange(3)], 0)
    Array([0, 1, 0, 1, 2], dtype=int32)
    """
    given: list[ArrayLike] = [as_operand("concatenate", x, i) for i, x in enumerate(operands)]  # type: ignore[arg-type]  # an array has rows
    if not given:
        raise ValueError("lax.concatenate requires a non-empty sequence of arrays")
    if len(given) == 1 and not host_value(first := given[0]):
        return first
    return concatenate_p.bind(*given, dimension=integer("lax.concatenate: dimension", dimension))


def _split_type(x, *, sizes, axis):
    if not 0 <= axis < x.ndim:
        raise ValueError(f"lax.split: axis={axis} must lie in [0, {x.ndim}) for operand {x.str_short()}.")
    if any(n < 0 for n in sizes) or sum(sizes) != x.shape[axis]:
        raise ValueError(f"lax.split: sizes={tuple(sizes)} must not be negative, and their sum must be the length "
                         f"{x.shape[axis]} of axis {axis} of operand {x.str_short()}.")
    return [ShapedArray((*x.shape[:axis], n, *x.shape[axis + 1:]), x.dtype, x.weak_type) for n in sizes]


def _split_batch(axis_data, args, dims, *, sizes, axis):
    (x,), (d,) = args, dims
    outs = split_p.bind(x, sizes=sizes, axis=axis + (axis >= d))
    return outs, [d] * len(outs)


def _split_lower(b, x, *, sizes, axis):
    outs, start = [], 0
    for size, aval in zip(sizes, b.out_avals):
        bounds = [f"0:{n}" for n in x.aval.shape]
        bounds[axis] = f"{start}:{start + size}"
        outs.append(b.emit(f"stablehlo.slice {x} [{', '.join(bounds)}]", x, out=aval))
        start += size
    return outs


split_p = Primitive(
    "split", multiple_results=True, out_type=_split_type, jvp=LINEAR, batch=_split_batch, lower=_split_lower,
    transpose=lambda cts, x, *, sizes, axis: (concatenate_p.bind(*map(instantiate, cts), dimension=axis),),
    reference=lambda x, *, sizes, axis: np.split(x, np.cumsum(sizes[:-1], dtype=int), axis), exact=True,
    traits=Traits(Kind.MOVE, inner=Inner.PIECES), splits=splits.as_first)


def split(operand: ArrayLike, sizes: Sequence[int], axis: int = 0) -> list:
    """``operand`` cut along ``axis`` into pieces of the given ``sizes``. Raises ValueError unless these add up.

    Source: StableHLO `slice`.

    >>> lax.split(jnp.arange(5), (2, 3))
    [Array([0, 1], dtype=int32), Array([2, 3, 4], dtype=int32)]
    """
    operand = as_operand("split", operand, 0)
    return split_p.bind(operand, sizes=integers("lax.split: sizes", sizes), axis=canonical_axis("split", axis, np.ndim(operand)))


# -- stack and unstack ---------------------------------------------------------------------------------------------------

def _stack_type(*xs, axis):
    if len({x.shape for x in xs}) > 1:
        raise TypeError(f"lax.stack: operands must have equal shapes, got {', '.join(x.str_short() for x in xs)}.")
    check_same_dtypes("stack", xs)
    shape = xs[0].shape
    return ShapedArray((*shape[:axis], len(xs), *shape[axis:]), xs[0].dtype, all(x.weak_type for x in xs))


def _stack_lower(b, *xs, axis):
    shape = xs[0].aval.shape
    row = xs[0].aval.update(shape=(*shape[:axis], 1, *shape[axis:]))
    rows = [b.emit(f"stablehlo.reshape {x}", x, out=row) for x in xs]
    return _joined(b, rows, axis)


def _stack_transpose(ct, *xs, axis):
    if isinstance(ct, Zero):
        return [Zero(x.aval) if is_linear(x) else None for x in xs]
    return [row if is_linear(x) else None for row, x in zip(unstack_p.bind(ct, axis=axis), xs)]


def _stack_batch(axis_data, args, dims, *, axis):
    args = [structural.bdim_at_front(x, d, axis_data) for x, d in zip(args, dims)]
    return stack_p.bind(*args, axis=axis + 1), 0


def _with(entries, axis):
    return (*entries[:axis], None, *entries[axis:])


stack_p = Primitive(
    "stack", out_type=_stack_type, jvp=LINEAR, transpose=_stack_transpose, batch=_stack_batch, lower=_stack_lower,
    reference=lambda *xs, axis: np.stack(xs, axis), exact=True, traits=Traits(Kind.MOVE, inner=Inner.PIECES, joins=True),
    splits=lambda prim, avals, outs, params: [_with(splits.join(prim.name, avals, avals), params["axis"])])


def stack(operands: Sequence[ArrayLike], axis: int = 0) -> Array:
    """``operands``, of one shape and dtype, along a new axis. Raises ValueError if there are none, TypeError if they differ.

    Source: StableHLO `concatenate`.

    >>> lax.stack([jnp.arange(2), jnp.arange(2)]).shape
    (2, 2)
    """
    operands = [as_operand("stack", x, i) for i, x in enumerate(operands)]
    if not operands:
        raise ValueError("lax.stack requires a non-empty sequence of arrays")
    return stack_p.bind(*operands, axis=canonical_axis("stack", axis, np.ndim(operands[0]) + 1))


def _unstack_type(x, *, axis):
    row = ShapedArray(x.shape[:axis] + x.shape[axis + 1:], x.dtype, x.weak_type)
    return [row] * x.shape[axis]


def _unstack_lower(b, x, *, axis):
    shape, outs = x.aval.shape, []
    row = x.aval.update(shape=(*shape[:axis], 1, *shape[axis + 1:]))
    for i, aval in enumerate(b.out_avals):
        bounds = [f"0:{n}" for n in shape]
        bounds[axis] = f"{i}:{i + 1}"
        piece = b.emit(f"stablehlo.slice {x} [{', '.join(bounds)}]", x, out=row)
        outs.append(b.emit(f"stablehlo.reshape {piece}", piece, out=aval))
    return outs


def _unstack_batch(axis_data, args, dims, *, axis):
    (x,), (d,) = args, dims
    shifted = axis + (axis >= d)
    outs = unstack_p.bind(x, axis=shifted)
    return outs, [d - (shifted < d)] * len(outs)


unstack_p = Primitive(
    "unstack", multiple_results=True, out_type=_unstack_type, jvp=LINEAR, batch=_unstack_batch, lower=_unstack_lower,
    transpose=lambda cts, x, *, axis: (stack_p.bind(*map(instantiate, cts), axis=axis),),
    reference=lambda x, *, axis: [x[(*(slice(None),) * axis, i)] for i in range(np.shape(x)[axis])],
    exact=lambda x, *, axis: x.shape[axis] <= 2,  # an array made on the host takes as long as a whole call with all its results
    traits=Traits(Kind.MOVE, inner=Inner.PIECES),
    splits=lambda prim, avals, outs, params: [
        tuple(e for i, e in enumerate(splits.entries(avals[0])) if i != params["axis"])] * len(outs))


def unstack(x: ArrayLike, axis: int = 0) -> tuple[Array, ...]:
    """The slices of ``x`` along ``axis``, without that axis. Raises ValueError where there is no such axis.

    Source: StableHLO `slice`.

    >>> lax.unstack(jnp.array([[1, 2], [3, 4]]))
    (Array([1, 2], dtype=int32), Array([3, 4], dtype=int32))
    """
    x = as_operand("unstack", x, 0)
    return tuple(unstack_p.bind(x, axis=canonical_axis("unstack", axis, np.ndim(x))))


# -- rev -----------------------------------------------------------------------------------------------------------------

def _rev_type(x, *, dimensions):
    if len(set(dimensions)) != len(dimensions) or any(not 0 <= d < x.ndim for d in dimensions):
        raise TypeError(f"lax.rev: dimensions={tuple(dimensions)} must be unique, and lie in [0, {x.ndim}) for operand "
                        f"{x.str_short()}.")
    return x


def _rev_batch(axis, args, dims, *, dimensions):
    (x,), (d,) = args, dims
    return rev_p.bind(x, dimensions=tuple(i + (i >= d) for i in dimensions)), d


rev_p: Primitive = Primitive(
    "rev", out_type=_rev_type, jvp=LINEAR, batch=_rev_batch,
    transpose=lambda ct, x, *, dimensions: rev_p.bind(ct, dimensions=dimensions),
    lower=lambda b, x, *, dimensions: b.emit(f"stablehlo.reverse {x}, dims = {list(dimensions)}", x, out=b.out_avals[0]),
    reference=lambda x, *, dimensions: np.flip(x, dimensions), exact=True,
    traits=Traits(Kind.MOVE, quick=Quick.SLOW_ON_RESULTS), splits=splits.as_first)


def rev(operand: ArrayLike, dimensions: Sequence[int]) -> Array:
    """``operand`` with the order of elements along ``dimensions`` reversed. Raises TypeError for bad dimensions.

    Source: StableHLO `reverse`.

    >>> lax.rev(jnp.arange(3), (0,))
    Array([2, 1, 0], dtype=int32)
    """
    return rev_p.bind(as_operand("rev", operand, 0), dimensions=integers("lax.rev: dimensions", dimensions))


# -- tile ----------------------------------------------------------------------------------------------------------------

def _tile_type(x, *, reps):
    if len(reps) != x.ndim or any(r < 0 for r in reps):
        raise TypeError(f"lax.tile: reps={tuple(reps)} needs one number, not negative, for each axis of operand {x.str_short()}.")
    return ShapedArray([n * r for n, r in zip(x.shape, reps)], x.dtype, x.weak_type)


def _interleaved(shape, reps):
    return tuple(v for pair in zip(reps, shape) for v in pair)


def _tile_transpose(ct, x, *, reps):
    parts = reshaped(ct, _interleaved(x.aval.shape, reps))
    return reduce_sum(parts, tuple(range(0, 2 * len(reps), 2)))


def _tile_batch(axis, args, dims, *, reps):
    (x,), (d,) = args, dims
    return tile_p.bind(x, reps=(*reps[:d], 1, *reps[d:])), d


def _tile_lower(b, x, *, reps):
    parts = b.broadcast(x, _interleaved(x.aval.shape, reps), tuple(range(1, 2 * len(reps), 2)))
    return b.emit(f"stablehlo.reshape {parts}", parts, out=b.out_avals[0])


tile_p = Primitive(
    "tile", out_type=_tile_type, jvp=LINEAR, transpose=_tile_transpose, batch=_tile_batch, lower=_tile_lower,
    reference=lambda x, *, reps: np.tile(x, reps), exact=True, traits=Traits(Kind.MOVE, inner=Inner.PIECES, fast_on_host=True),
    splits=splits.as_first)


def tile(operand: ArrayLike, reps: Sequence[int]) -> Array:
    """``operand`` repeated ``reps[i]`` times along axis ``i``. Raises TypeError unless there is one number for each axis.

    Source: StableHLO `broadcast_in_dim`.

    >>> lax.tile(jnp.array([1, 2]), (2,))
    Array([1, 2, 1, 2], dtype=int32)
    """
    return tile_p.bind(as_operand("tile", operand, 0), reps=integers("lax.tile: reps", reps))


# -- transpose and broadcasts --------------------------------------------------------------------------------------------

def transpose(operand: ArrayLike, permutation: Sequence[int]) -> Array:
    """``operand`` with its axes in the order ``permutation``. Raises TypeError if that is not a permutation of the axes.

    Source: StableHLO `transpose`.

    >>> lax.transpose(jnp.zeros((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
    """
    operand = as_operand("transpose", operand, 0)
    order = integers("lax.transpose: permutation", permutation)
    if order == tuple(range(np.ndim(operand))) and not host_value(operand):
        return operand
    return transpose_p.bind(operand, permutation=order)


def broadcast_in_dim(operand: ArrayLike, shape: Sequence[int], broadcast_dimensions: Sequence[int], *,
                     out_sharding: Placement | None = None) -> Array:
    """``operand`` repeated: its axis ``i`` becomes axis ``broadcast_dimensions[i]`` of ``shape``.

    Raises:
      TypeError: the dimensions do not fit. ValueError: ``out_sharding`` does not.

    Source: StableHLO `broadcast_in_dim`.

    >>> lax.broadcast_in_dim(jnp.arange(2), (2, 3), (0,))
    Array([[0, 0, 0],
           [1, 1, 1]], dtype=int32)
    """
    operand = as_operand("broadcast_in_dim", operand, 0)
    dims = integers("lax.broadcast_in_dim: broadcast_dimensions", broadcast_dimensions)
    if len(dims) == np.ndim(operand) and len(set(dims)) == len(dims) and list(dims) != sorted(dims):
        order = sorted(range(len(dims)), key=dims.__getitem__)
        operand, dims = transpose(operand, order), tuple(dims[i] for i in order)
    return structural.broadcast_in_dim(operand, _sizes("broadcast_in_dim", shape), dims, out_sharding=structural.resolved(out_sharding))


def broadcast(operand: ArrayLike, sizes: Sequence[int], *, out_sharding: Placement | None = None) -> Array:
    """``operand`` repeated along new leading axes of the given ``sizes``.

    Args:
      out_sharding: placement of the result.

    Source: StableHLO `broadcast_in_dim`.

    >>> lax.broadcast(jnp.arange(2), (3,))
    Array([[0, 1],
           [0, 1],
           [0, 1]], dtype=int32)
    """
    operand = as_operand("broadcast", operand, 0)
    sizes, shape = _sizes("broadcast", sizes), np.shape(operand)
    if not sizes and not host_value(operand) and out_sharding is None:
        return operand
    return broadcast_in_dim_p.bind(operand, shape=(*sizes, *shape),
                                   broadcast_dimensions=tuple(range(len(sizes), len(sizes) + len(shape))),
                                   sharding=structural.resolved(out_sharding))


def broadcast_to_rank(x: ArrayLike, rank: int) -> Array:
    """``x`` with leading axes of length 1 up to ``rank`` axes; ``x`` itself if it has as many or more.

    Source: NumPy's rules of broadcasting.

    >>> lax.broadcast_to_rank(jnp.arange(2), 3).shape
    (1, 1, 2)
    """
    missing = integer("lax.broadcast_to_rank: rank", rank) - np.ndim(x)
    return broadcast(x, ()) if missing <= 0 else expand_dims(x, tuple(range(missing)))


def broadcast_shapes(*shapes: Sequence[int]) -> tuple[int, ...]:
    """The shape to which arrays of these shapes broadcast, by NumPy's rules. Raises ValueError if there is none.

    Source: NumPy's rules of broadcasting.

    >>> lax.broadcast_shapes((2, 1), (3,))
    (2, 3)
    """
    if wrong := [s for s in shapes if not hasattr(s, "__len__")]:
        raise TypeError(f"lax.broadcast_shapes: a shape is a sequence of integers, got {wrong[0]!r}")
    rank = max((len(s) for s in shapes), default=0)
    result = []
    for sizes in zip(*((1,) * (rank - len(s)) + tuple(s) for s in shapes)):
        lengths = {n for n in sizes if n != 1} or {1}
        if len(lengths) > 1:
            raise ValueError(f"Incompatible shapes for broadcasting: shapes={[tuple(s) for s in shapes]}; axes, aligned from the "
                             "last, must have equal lengths, or 1.")
        result.append(lengths.pop())
    return tuple(map(operator.index, result))


def broadcast_like(arr: ArrayLike, like_arr: ArrayLike) -> Array:
    """``arr`` broadcast by NumPy's rules to the shape of ``like_arr``.

    Raises:
      ValueError: the shape does not broadcast to that of ``like_arr``, or the shardings contradict each other.

    Source: NumPy's rules of broadcasting.

    >>> jax.lax.broadcast_like(jnp.array([1, 2]), jnp.zeros((2, 2)))
    Array([[1, 2],
           [1, 2]], dtype=int32)
    """
    shape, own = np.shape(like_arr), np.shape(arr)
    if broadcast_shapes(own, shape) != tuple(shape):
        raise ValueError(f"lax.broadcast_like: shape {own} does not broadcast to {shape}.")
    out = broadcast(arr, ()) if own == shape else structural.broadcast_in_dim(arr, shape, tuple(range(len(shape) - len(own), len(shape))))
    like = get_aval(like_arr)
    if like.placement is None:
        return out
    if any(e is not None and e != want for e, want in zip(splits.entries(get_aval(out)), splits.entries(like))):
        raise ValueError(f"lax.broadcast_like: Incompatible shardings for broadcasting: {get_aval(arr).str_short()} to {like.str_short()}; reshard "
                         "the first operand.")
    return structural.reshard(out, like.placement)
