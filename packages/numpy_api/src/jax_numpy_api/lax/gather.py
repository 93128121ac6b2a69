"""Gather: many slices of one array at once, at starts given by an array of indices.

What an index out of bounds reads is the mode's matter (`GatherScatterMode`): the nearest slice, a fill value, or
anything. XLA clamps, which is the mode "clip"; the fill is a select written around it.

Source: StableHLO specification, `gather`.
"""
from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any, NamedTuple, Sequence, Union

import numpy as np

from jax_core.configuration import flags
from jax_core.references.indexing import Index, Slice
from jax_core.references.primitives import addupdate_p
from jax_core.representation import dtypes, partial_sums, splits
from jax_core.representation.array import Array
from jax_core.representation.aval import ShapedArray
from jax_core.representation.errors import ShardingTypeError
from jax_core.representation.primitive import Primitive, Zero
from jax_core.representation.traits import Kind, Part, Traits
from jax_core.representation.typing import ArrayLike, Placement
from jax_core.traces import structural
from jax_core.traces.structural import broadcast_in_dim, check_axes, moved, zeros
from jax_numpy_api import lax

from .nary import int_array
from .positions import LAST, position_dtype

if TYPE_CHECKING:
    from jax_core.representation.aval import AbstractValue
    from jax_core.representation.typing import DTypeLike, Shape


class GatherScatterMode(enum.Enum):
    """What becomes of indices out of bounds.

    >>> jnp.arange(3).at[7].get(mode=lax.GatherScatterMode.FILL_OR_DROP, fill_value=-1)
    Array(-1, dtype=int32)
    """

    CLIP = 1
    """Use the nearest index that is in bounds."""
    FILL_OR_DROP = 2
    """Read a fill value; do not write."""
    PROMISE_IN_BOUNDS = 3
    """The caller promises that there are none."""
    ONE_HOT = 4
    """Read zero: the gather may be a product with one-hot rows."""

    @staticmethod
    def from_any(s: "str | GatherScatterMode | None") -> "GatherScatterMode":
        """The mode of that name ("clip", "fill", "drop", "promise_in_bounds"); None stands for fill or drop."""
        if isinstance(s, GatherScatterMode):
            return s
        try:
            return _MODES[s]
        except (KeyError, TypeError):
            raise ValueError(f'Unknown gather mode "{s}"; choose one of '
                             f'{", ".join(sorted(m for m in _MODES if m))}.') from None


Mode = Union[str, GatherScatterMode, None]  # what users give


_MODES = {"clip": GatherScatterMode.CLIP, "fill": GatherScatterMode.FILL_OR_DROP, "drop": GatherScatterMode.FILL_OR_DROP,
          "promise_in_bounds": GatherScatterMode.PROMISE_IN_BOUNDS, "one_hot": GatherScatterMode.ONE_HOT,
          None: GatherScatterMode.FILL_OR_DROP}


_Axes = tuple[int, ...]


class GatherDimensionNumbers(NamedTuple):
    """How the axes of operand, indices and result of a gather belong together. The last axis of the indices holds
    the index vectors.

    Attributes:
      offset_dims: axes of the result that run within a slice.
      collapsed_slice_dims: axes of the operand, with slice size 1, that the result does not have.
      start_index_map: for each entry of an index vector, the operand axis that it is the start on.
      operand_batching_dims: axes of the operand, with slice size 1, that the result shares with the indices.
      start_indices_batching_dims: the axes of the indices that belong to them.

    >>> rows = lax.GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,))
    >>> lax.gather(jnp.arange(6).reshape(3, 2), jnp.array([[2], [0]]), rows, slice_sizes=(1, 2))
    Array([[4, 5],
           [0, 1]], dtype=int32)
    """

    offset_dims: _Axes
    collapsed_slice_dims: _Axes
    start_index_map: _Axes
    operand_batching_dims: _Axes = ()
    start_indices_batching_dims: _Axes = ()


def _as_tuples(numbers):
    return type(numbers)(*(tuple(map(int, field)) for field in numbers))


# -- type ------------------------------------------------------------------------------------------------------------

def check_indices(name: str, indices: ShapedArray, operand: ShapedArray, index_map: Sequence[int]) -> None:
    """Raise unless ``indices`` is an integer array whose last axis holds one start for each axis in ``index_map``."""
    if not dtypes.issubdtype(indices.dtype, np.integer):
        raise ValueError(f"{name}: indices must have an integer type, got {indices.str_short()}")
    if indices.ndim < 1 or indices.shape[-1] != len(index_map):
        raise TypeError(f"{name}: the last axis of the indices {indices.str_short()} must hold {len(index_map)} entries, "
                        f"one for each operand axis in {tuple(index_map)}.")
    field = "start_index_map" if name == "gather" else "scatter_dims_to_operand_dims"
    check_axes(f"{name}: {field}", index_map, operand.ndim, "operand", operand, increasing=False)


def window_dims(rank: int, *dropped: Sequence[int]) -> list[int]:
    """Operand axes that a slice keeps: all but those collapsed and those shared with the indices."""
    out = set().union(*dropped)
    return [d for d in range(rank) if d not in out]


def _gather_type(x, indices, *, dimension_numbers, slice_sizes, indices_are_sorted, unique_indices, mode, fill_value,
                 out_sharding=None):
    n = dimension_numbers
    check_axes("gather: offset_dims", n.offset_dims, len(n.offset_dims) + max(indices.ndim - 1, 0), "the result for indices", indices)
    check_indices("gather", indices, x, n.start_index_map)
    if len(slice_sizes) != x.ndim:
        raise TypeError(f"gather: slice_sizes={slice_sizes} must have one entry for each of the {x.ndim} axes of operand "
                        f"{x.str_short()}, got {len(slice_sizes)}.")
    for d, (m, size) in enumerate(zip(slice_sizes, x.shape)):
        if not 0 <= m <= size:
            raise TypeError(f"gather: slice_sizes={slice_sizes} asks for slices of length {m} along axis {d} of operand "
                            f"{x.str_short()}, which has length {size}.")
    check_dropped("gather", x, collapsed_slice_dims=n.collapsed_slice_dims, operand_batching_dims=n.operand_batching_dims,
                  start_index_map=n.start_index_map)
    for field, dims in (("collapsed_slice_dims", n.collapsed_slice_dims), ("operand_batching_dims", n.operand_batching_dims)):
        for d in dims:
            if slice_sizes[d] > 1:
                raise TypeError(f"gather: {field}={dims} leaves axis {d} of operand {x.str_short()} out of the result, so its "
                                f"slice size must be 1, got {slice_sizes[d]} in slice_sizes={slice_sizes}.")
    _check_batching("gather", x, indices, n.operand_batching_dims, n.start_indices_batching_dims)
    kept = window_dims(x.ndim, n.collapsed_slice_dims, n.operand_batching_dims)
    if len(kept) != len(n.offset_dims):
        raise TypeError(f"gather: offset_dims={n.offset_dims} must name one result axis for each of the {len(kept)} axes "
                        f"that a slice of operand {x.str_short()} keeps, {tuple(kept)}; the others are in collapsed_slice_dims or "
                        "operand_batching_dims.")
    rank = len(kept) + indices.ndim - 1
    offsets, batch = iter([slice_sizes[d] for d in kept]), iter(indices.shape[:-1])
    return ShapedArray([next(offsets) if d in n.offset_dims else next(batch) for d in range(rank)], x.dtype, x.weak_type)


def check_dropped(name: str, operand: ShapedArray, **fields: _Axes) -> None:
    """Raise unless the two kinds of axes that a slice lacks, and those that the indices address, go together.

    Args:
      fields: by their names in the dimension numbers: axes of length 1 that are left out, axes shared with the indices, and
        axes that the indices address.
    """
    (left_out, dropped), (shared, batching), (addressed, index_map) = fields.items()
    check_axes(f"{name}: {left_out}", dropped, operand.ndim, "operand", operand)
    check_axes(f"{name}: {shared}", batching, operand.ndim, "operand", operand)
    for other, dims in ((left_out, dropped), (addressed, index_map)):
        both = sorted({*dims} & {*batching})
        if both:
            raise TypeError(f"{name}: axis {both[0]} of operand {operand.str_short()} is in {other}={tuple(dims)} and in {shared}="
                            f"{tuple(batching)}; it can be in one of them.")


def _check_batching(name, x, indices, operand_dims, indices_dims):
    field = "start_indices_batching_dims" if name == "gather" else "scatter_indices_batching_dims"
    check_axes(f"{name}: {field}", indices_dims, indices.ndim, "the indices", indices, increasing=False)
    if indices.ndim - 1 in indices_dims:
        raise TypeError(f"{name}: {field}={indices_dims} has the last axis of the indices {indices.str_short()}, which holds the "
                        "index vectors; it cannot be a batch.")
    if len(operand_dims) != len(indices_dims):
        raise TypeError(f"{name}: operand_batching_dims={operand_dims} and {field}={indices_dims} must name equally many axes.")
    for d, e in zip(operand_dims, indices_dims):
        if x.shape[d] != indices.shape[e]:
            raise TypeError(f"{name}: axis {d} of operand {x.str_short()} and axis {e} of the indices {indices.str_short()} are one "
                            f"batch (operand_batching_dims, {field}), so their lengths must be equal.")


# -- rules -----------------------------------------------------------------------------------------------------------

def _gather_jvp(g, out, x, indices, *, fill_value, **params):
    return gather_p.bind(g, indices, fill_value=0 if fill_value is not None else None, **params)


def _gather_transpose(ct, x, indices, *, dimension_numbers, slice_sizes, indices_are_sorted, unique_indices, mode,
                      fill_value, out_sharding=None):
    numbers = scatter_numbers(dimension_numbers)
    if mode is GatherScatterMode.ONE_HOT:
        mode = GatherScatterMode.FILL_OR_DROP
    blank = zeros(splits.cotangent_type(x.aval).update(dtype=ct.dtype))
    return lax.scatter_add_p.bind(blank, indices, ct, dimension_numbers=numbers, indices_are_sorted=indices_are_sorted,
                                  unique_indices=unique_indices, mode=mode, update_jaxpr=None, update_consts=()), None


def _gather_accumulate(refs, cts, args, params):
    """Where the gather reads whole elements along some axes, as ``x[i, j]`` does, the reference is indexed alike."""
    ct, x, indices, n = cts[0], args[0].aval, args[1], params["dimension_numbers"]
    axes, sizes = n.start_index_map, params["slice_sizes"]
    if (refs[1] is not None or params["mode"] is not GatherScatterMode.PROMISE_IN_BOUNDS or n.operand_batching_dims or sorted(axes) !=
            list(n.collapsed_slice_dims) or not axes or any(sizes[a] != x.shape[a] for a in range(x.ndim) if a not in axes)):
        return None
    if isinstance(ct, Zero):
        return [Zero(x), None]
    rank = np.ndim(indices) - 1
    columns = [lax.squeeze(lax.slice_in_dim(indices, j, j + 1, axis=rank), (rank,)) for j in map(axes.index, n.collapsed_slice_dims)]
    beyond = [lax.select(lax.lt(c, lax.full_like(c, 0)), lax.full_like(c, x.shape[a]), c)  # a reference would count what is below zero from the end
              for c, a in zip(columns, n.collapsed_slice_dims)]
    first = n.collapsed_slice_dims[0]
    place = first if n.collapsed_slice_dims == tuple(range(first, first + len(axes))) else 0  # as NumPy puts the axes of such an index
    of_indices = [d for d in range(ct.ndim) if d not in n.offset_dims]
    ct = lax.transpose(ct, [*n.offset_dims[:place], *of_indices, *n.offset_dims[place:]])
    addupdate_p.bind(refs[0], ct, *beyond, index=Index(tuple(None if a in axes else Slice(0, x.shape[a], 1) for a in range(x.ndim))))
    return [Zero(x), None]


def scatter_numbers(n: GatherDimensionNumbers) -> Any:
    """Dimension numbers of the scatter that writes where the gather reads."""
    return lax.ScatterDimensionNumbers(n.offset_dims, n.collapsed_slice_dims, n.start_index_map, n.operand_batching_dims,
                                       n.start_indices_batching_dims)


def _up(dims):
    return tuple(d + 1 for d in dims)


def _gather_batch(axis, args, dims, *, dimension_numbers, slice_sizes, indices_are_sorted, unique_indices, out_sharding=None,
                  **params):
    (x, indices), (dx, di), n = args, dims, dimension_numbers
    offset, collapsed, index_map, batching, index_batching = n
    if di is None:  # the mapped axis is one more axis of every slice
        x = moved(x, dx, 0)
        slice_sizes = (axis.size, *slice_sizes)
        n = GatherDimensionNumbers((0, *_up(offset)), _up(collapsed), _up(index_map), _up(batching), index_batching)
    elif dx is None:
        indices = moved(indices, di, 0)
        n = GatherDimensionNumbers(_up(offset), collapsed, index_map, batching, _up(index_batching))
        indices_are_sorted = unique_indices = False
    else:
        x, indices = moved(x, dx, 0), moved(indices, di, 0)
        slice_sizes = (min(1, axis.size), *slice_sizes)
        n = GatherDimensionNumbers(_up(offset), _up(collapsed), _up(index_map), (0, *_up(batching)),
                                   (0, *_up(index_batching)))
        indices_are_sorted = False
    if out_sharding is not None:
        params["out_sharding"] = structural.batched_placement(axis, out_sharding, 0)
    return gather_p.bind(x, indices, dimension_numbers=n, slice_sizes=slice_sizes,
                         indices_are_sorted=indices_are_sorted, unique_indices=unique_indices, **params), 0


def _gather_lower(b, x, indices, *, dimension_numbers, slice_sizes, indices_are_sorted, unique_indices, mode, fill_value,
                  out_sharding=None):
    params = dict(dimension_numbers=dimension_numbers, slice_sizes=slice_sizes, indices_are_sorted=indices_are_sorted,
                  unique_indices=unique_indices)
    if mode in (GatherScatterMode.FILL_OR_DROP, GatherScatterMode.ONE_HOT):
        return b.fun(_gather_filled, x, indices, fill_value=fill_value, **params)[0]
    out = b.out_avals[0]
    if out.size == 0:
        return b.full(0, out)
    n = dimension_numbers
    order = [*(d for d in range(out.ndim) if d not in n.offset_dims), *n.offset_dims]
    last = b.platform != "cpu" or b.portable or b.one_form or order == [*range(out.ndim)]
    offset = list(n.offset_dims) if last else [*range(out.ndim - len(n.offset_dims), out.ndim)]
    fields = [f"offset_dims = {offset}", f"collapsed_slice_dims = {list(n.collapsed_slice_dims)}",
              f"operand_batching_dims = {list(n.operand_batching_dims)}",
              f"start_indices_batching_dims = {list(n.start_indices_batching_dims)}",
              f"start_index_map = {list(n.start_index_map)}", f"index_vector_dim = {indices.aval.ndim - 1}"]
    sizes = int_array(slice_sizes)
    attrs = (f"{{dimension_numbers = #stablehlo.gather<{', '.join(f for f in fields if not f.endswith('[]'))}>, "
             f"indices_are_sorted = {str(bool(indices_are_sorted)).lower()}, slice_sizes = {sizes}}}")
    found = b.emit(f'"stablehlo.gather"({x}, {indices})', x, indices, out=out if last else out.update(shape=[out.shape[d] for d in order]), attrs=attrs)
    if last:
        return found
    # as the compiler itself would write it; but where all is known before, it reads the bits of what it has found in another order
    return b.emit(f"stablehlo.transpose {found}, dims = {[order.index(d) for d in range(out.ndim)]}", found, out=out)


def _gather_in_kernel(b, x, indices, **params):
    """Elements along one axis, for each element of the result its own: what compilers of kernels have. They refuse anything else."""
    axis = _single_axis(x.aval.shape, indices.aval.shape[:-1], params["dimension_numbers"], params["slice_sizes"])
    if axis is None:
        return _gather_lower(b, x, indices, **params)
    places, length, out = b.reshape(indices, indices.aval.shape[:-1]), x.aval.shape[axis], b.out_avals[0]
    mode, inside = params["mode"], None
    if mode in (GatherScatterMode.FILL_OR_DROP, GatherScatterMode.ONE_HOT):
        inside, = b.fun(lambda i: lax.bitwise_and(lax.ge(i, lax.full_like(i, 0)), lax.lt(i, lax.full_like(i, length))), places)
    if mode is not GatherScatterMode.PROMISE_IN_BOUNDS:
        places, = b.fun(lambda i: lax.clamp(i.dtype.type(0), i, i.dtype.type(length - 1)), places)
    found = b.emit(f"stablehlo.custom_call @kernel.take_along({x}, {places})", x, places, out=out, attrs=f'{{backend_config = "{axis}"}}')
    if inside is None:
        return found
    fill = b.full(np.asarray(params["fill_value"], out.dtype)[()], out)
    return b.emit(f"stablehlo.select {inside}, {found}, {fill}", inside, found, fill, out=out)


def _single_axis(shape, places, n, sizes) -> int | None:
    """The axis along which single elements are taken, if all other axes of the operand and of the indices go together."""
    if len(n.start_index_map) != 1 or n.offset_dims or any(s != 1 for s in sizes) or len(places) != len(shape):
        return None
    axis, = n.start_index_map
    others = tuple(d for d in range(len(shape)) if d != axis)
    if tuple(n.collapsed_slice_dims) != (axis,) or tuple(n.operand_batching_dims) != others or tuple(n.start_indices_batching_dims) != others:
        return None
    return axis


def _gather_filled(x, indices, *, dimension_numbers, slice_sizes, indices_are_sorted, unique_indices, fill_value):
    """A clamped gather, with ``fill_value`` in place of the slices that do not lie in the operand."""
    n = dimension_numbers
    out = gather_p.bind(x, indices, dimension_numbers=n, slice_sizes=slice_sizes, indices_are_sorted=indices_are_sorted,
                        unique_indices=unique_indices, mode=GatherScatterMode.CLIP, fill_value=None)
    inside = in_bounds(indices, x.shape, slice_sizes, n.start_index_map)
    batch_dims = tuple(d for d in range(out.ndim) if d not in n.offset_dims)
    inside = broadcast_in_dim(inside, out.shape, batch_dims)
    return lax.select(inside, out, lax.full_like(out, np.asarray(fill_value, out.dtype)[()]))  # also of 64 bits where x64 is off


def in_bounds(indices: Array, shape: Sequence[int], sizes: Sequence[int], index_map: Sequence[int]) -> Any:
    """For each index vector, whether a slice of ``sizes`` that starts there lies inside ``shape``."""
    if len(index_map) == 0:
        return broadcast_in_dim(np.bool_(True), indices.shape[:-1], ())
    last = [shape[d] - sizes[d] for d in index_map]
    if needs_x64(indices, last):
        with flags.enable_x64(True):
            return in_bounds(indices, shape, sizes, index_map)
    indices, last = _wide_enough(indices, last)
    last = broadcast_in_dim(last, indices.shape, (indices.ndim - 1,))
    inside = lax.le(indices, last)
    if dtypes.issubdtype(indices.dtype, np.signedinteger):
        inside = lax.bitwise_and(inside, lax.ge(indices, broadcast_in_dim(indices.dtype.type(0), indices.shape, ())))
    if len(index_map) == 1:
        return lax.squeeze(inside, (inside.ndim - 1,))
    return lax.reduce_and(inside, (inside.ndim - 1,))


def needs_x64(indices: Any, bounds: Sequence[int]) -> bool:
    """Whether positions are compared in 64 bits, and x64 is off, as it is where their program is lowered."""
    return (np.dtype(indices.dtype).itemsize == 8 or max(bounds) > LAST) and not flags.enable_x64.value


def _wide_enough(indices, bounds):
    """``indices`` and ``bounds`` in a dtype that holds both."""
    dtype = np.dtype(indices.dtype)
    if max(bounds) > dtypes.iinfo(dtype).max:
        dtype = position_dtype(max(bounds))
        indices = lax.convert_element_type(indices, dtype)
    return indices, np.asarray(bounds, dtype)


# -- NumPy -----------------------------------------------------------------------------------------------------------

def _gather_reference(x, indices, *, dimension_numbers, slice_sizes, indices_are_sorted, unique_indices, mode, fill_value,
                      out_sharding=None):
    x, indices, n = np.asarray(x), np.asarray(indices), dimension_numbers
    starts, inside = start_arrays(indices, x.shape, slice_sizes, n.start_index_map)
    out = _gather_at(x, starts, indices.shape[:-1], n, slice_sizes)
    if mode in (GatherScatterMode.FILL_OR_DROP, GatherScatterMode.ONE_HOT) and not inside.all():
        out = np.array(out)
        batch_first = np.moveaxis(out, n.offset_dims, range(-len(n.offset_dims), 0)) if n.offset_dims else out
        batch_first[~inside] = np.asarray(fill_value, x.dtype)
    return out


def start_arrays(indices: np.ndarray, shape: Shape, sizes: Shape, index_map) -> tuple[dict, np.ndarray]:
    """Clamped starts for each indexed operand axis, and which index vectors were in bounds."""
    starts, inside = {}, np.ones(indices.shape[:-1], bool)
    for k, d in enumerate(index_map):
        column, last = indices[..., k], shape[d] - sizes[d]
        if column.dtype.itemsize < 8:
            column = column.astype(np.int64)
        column_inside = (column >= 0) & (column <= last)
        inside &= column_inside
        starts[d] = (column if column_inside.all() else np.clip(column, 0, max(last, 0))).astype(np.intp, copy=False)
    return starts, inside


def _gather_at(x, starts, batch_shape, n, slice_sizes):
    batching = dict(zip(n.operand_batching_dims, n.start_indices_batching_dims))
    kept = window_dims(x.ndim, n.collapsed_slice_dims, n.operand_batching_dims)
    if any(slice_sizes[d] != 1 for d in starts) or any(slice_sizes[d] != x.shape[d] for d in kept if d not in starts):
        return _gather_general(x, starts, batch_shape, n, slice_sizes)
    # Whole slices are read by NumPy's own indexing: indexed axes first, the others behind them
    first = [*starts, *batching, *(d for d in n.collapsed_slice_dims if d not in starts)]
    rest = [d for d in kept if d not in starts]
    index = [starts[d] if d in starts else
             _along(np.arange(x.shape[d]), batching[d], len(batch_shape)) if d in batching else np.intp(0) for d in first]
    out = x.transpose(first + rest)[tuple(index)] if first else x
    out = np.broadcast_to(out.reshape((1,) * (len(batch_shape) + len(rest) - out.ndim) + out.shape),
                          batch_shape + tuple(x.shape[d] for d in rest))
    out = out.reshape(batch_shape + tuple(slice_sizes[d] for d in kept))
    return _place_axes(out, len(batch_shape), n.offset_dims)


def _along(values, axis, rank):
    return values.reshape([-1 if i == axis else 1 for i in range(rank)])


def _place_axes(out, batch_rank, offset_dims):
    """``out`` has its batch axes first; put its window axes at ``offset_dims``."""
    rank, batch, order, window = out.ndim, iter(range(batch_rank)), [], iter(range(batch_rank, out.ndim))
    for d in range(rank):
        order.append(next(window) if d in offset_dims else next(batch))
    return out.transpose(order)


def index_grid(shape: Sequence[int], starts, batch_shape: Shape, batching, window_position, sizes: Shape, rank: int) -> tuple:
    """For every operand axis the index array that, broadcast over batch and window axes of ``rank``, finds the slices.

    Args:
      starts: clamped starts by operand axis. batching: indices axis by operand axis. batch_shape: of the indices, without their vectors.
      window_position: position among the result's axes for each operand axis that slices keep.
      rank: of the result; its batch axes are those that are no window positions, in order.
    """
    taken = set(window_position.values())
    batch_axes = [i for i in range(rank) if i not in taken]
    grid = []
    for d in range(len(shape)):
        index: Any = np.intp(0)
        if d == 0 and not starts:  # index vectors without entries: every slice is the same
            full = np.ones(rank, int)
            full[batch_axes] = batch_shape
            index = np.zeros(full, np.intp)
        if d in window_position:
            index = index + _along(np.arange(sizes[d]), window_position[d], rank)
        if d in batching:
            index = index + _along(np.arange(shape[d]), batch_axes[batching[d]], rank)
        if d in starts:
            full = np.ones(rank, int)
            full[batch_axes] = starts[d].shape
            index = index + starts[d].reshape(full)
        grid.append(index)
    return tuple(grid)


def _gather_general(x, starts, batch_shape, n, slice_sizes):
    rank = len(batch_shape) + len(n.offset_dims)
    kept = window_dims(x.ndim, n.collapsed_slice_dims, n.operand_batching_dims)
    position = dict(zip(kept, n.offset_dims))
    batching = dict(zip(n.operand_batching_dims, n.start_indices_batching_dims))
    return x[index_grid(x.shape, starts, batch_shape, batching, position, slice_sizes, rank)]


# -- the primitive and functions -------------------------------------------------------------------------------------

def slice_entries(x: AbstractValue, indices: AbstractValue, n: GatherDimensionNumbers, slice_sizes: Sequence[int]) -> tuple | None:
    """What the slices at ``indices`` are split over: axes of the operand that are taken whole stay split, as do batch axes that both
    share. None where an axis that is cut is split, or the indices are, as the slices then lie on other devices than they are used on."""
    given = splits.entries(x)
    kept = window_dims(x.ndim, n.collapsed_slice_dims, n.operand_batching_dims)
    shared = dict(zip(n.start_indices_batching_dims, n.operand_batching_dims))
    cut = [d for d, e in enumerate(given) if e is not None and d not in n.operand_batching_dims and slice_sizes[d] != x.shape[d]]
    if cut or any([e is not None for i, e in enumerate(splits.entries(indices)) if i not in shared]):
        return None
    batch = iter([e if e is not None or i not in shared else given[shared[i]]
                  for i, e in enumerate(splits.entries(indices)[:-1])])
    offsets = iter([given[d] for d in kept])
    return tuple(next(offsets) if d in n.offset_dims else next(batch) for d in range(len(kept) + indices.ndim - 1))


def _gather_splits(prim, avals, outs, params):
    found = slice_entries(*avals, params["dimension_numbers"], params["slice_sizes"])
    if found is None:
        raise ShardingTypeError("gather: how the result is split does not follow from the operands; give it by "
                                "`.at[...].get(out_sharding=)`, or reshard the operands, which must be whole along the axes that are "
                                f"indexed, and in the indices. Operands: {splits.types_text(avals)}.")
    return [found]


gather_p = Primitive(
    "gather", out_type=_gather_type, jvp=(_gather_jvp, None), transpose=_gather_transpose, batch=_gather_batch,
    lower=_gather_lower, in_kernel=_gather_in_kernel, reference=_gather_reference, exact=True, traits=Traits(Kind.KERNEL, part=Part.FOUND),
    splits=_gather_splits, sums=partial_sums.as_first, accumulate=_gather_accumulate)


def default_fill(dtype: DTypeLike) -> Any:
    """What the mode "fill" reads by default: NaN, the lowest signed or highest unsigned integer, True; for keys, of words."""
    if isinstance(dtype, dtypes.ExtendedDType):
        return default_fill(dtype.physical_element_aval.dtype)
    if dtypes.issubdtype(dtype, np.inexact):
        return np.nan  # always this object: as no NaN equals another, caches by parameters would miss
    if dtypes.issubdtype(dtype, np.signedinteger):
        return int(dtypes.iinfo(dtype).min)
    if dtypes.issubdtype(dtype, np.unsignedinteger):
        return int(dtypes.iinfo(dtype).max)
    return True if dtype == np.dtype(bool) else 0


def gather(operand: ArrayLike, start_indices: ArrayLike, dimension_numbers: GatherDimensionNumbers,
           slice_sizes: Sequence[int], *, unique_indices: bool = False, indices_are_sorted: bool = False,
           mode: str | GatherScatterMode | None = None, fill_value: ArrayLike | None = None,
           out_sharding: Placement | None = None) -> Array:
    """Slices of ``operand`` at many starts.

    Args:
      operand: an array.
      start_indices: integer array; its last axis holds index vectors.
      dimension_numbers: how the axes belong together.
      slice_sizes: lengths of a slice, one for each operand axis.
      unique_indices, indices_are_sorted: promises that make the derivative cheaper to compute.
      mode: what an index out of bounds reads; by default a promise that there is none, with which XLA reads the nearest slice
        and the derivative drops it.
      fill_value: for the mode "fill", which it does not imply; default NaN, or the integer farthest from zero.
      out_sharding: placement of the result; it must be given where the indices are split, or the operand is along an axis that
        is indexed.

    Raises:
      TypeError: axes or sizes do not fit. ValueError: indices are not integers, or an unknown mode.

    Source: StableHLO `gather`.

    >>> numbers = jax.lax.GatherDimensionNumbers(offset_dims=(), collapsed_slice_dims=(0,), start_index_map=(0,))
    >>> jax.lax.gather(jnp.arange(10, 15), jnp.array([[3], [1]]), numbers, slice_sizes=(1,))
    Array([13, 11], dtype=int32)
    """
    if not isinstance(dimension_numbers, GatherDimensionNumbers):
        raise TypeError(f"lax.gather: dimension_numbers must be lax.GatherDimensionNumbers, got {dimension_numbers!r}")
    dimension_numbers = _as_tuples(dimension_numbers)
    start_indices = _array(start_indices)
    dtype = dtypes.dtype(operand)
    parsed = GatherScatterMode.PROMISE_IN_BOUNDS if mode is None else GatherScatterMode.from_any(mode)
    if parsed is GatherScatterMode.FILL_OR_DROP:
        fill_value = default_fill(dtype) if fill_value is None else _static_fill(fill_value)
    else:
        fill_value = 0 if parsed is GatherScatterMode.ONE_HOT else None
    asked = {} if out_sharding is None else {"out_sharding": structural.resolved(out_sharding)}
    return gather_p.bind(operand, start_indices, dimension_numbers=dimension_numbers,
                         slice_sizes=tuple(map(int, slice_sizes)), unique_indices=bool(unique_indices),
                         indices_are_sorted=bool(indices_are_sorted), mode=parsed, fill_value=fill_value, **asked)


def _static_fill(value):
    if np.ndim(value):
        return value
    number = np.asarray(value).item()
    if number == 0 and isinstance(number, (float, complex)) and np.signbit([number.real, number.imag]).any():
        return np.asarray(number)  # -0.0 and 0.0 are equal keys of what was compiled; an array is none
    return number


def _array(x):
    return x if hasattr(x, "ndim") else np.asarray(x)


def _from_front(index, size):
    """An index with negative ones counted from the front."""
    dtype = dtypes.dtype(index)
    if not dtypes.issubdtype(dtype, np.signedinteger):
        return index
    return lax.select(lax.lt(index, lax.full_like(index, 0)), lax.add(index, lax.full_like(index, size)), index)


def index_take(src: ArrayLike, idxs: Sequence[ArrayLike], axes: Sequence[int]) -> Array:
    """``src`` indexed along ``axes`` by arrays of one length (NumPy's advanced indexing); that axis comes first.

    Negative indices count from the end.

    Raises:
      ValueError: there is no index array, not one for each of ``axes``, or ``src`` has no such axis.

    Source: StableHLO `gather`.

    >>> lax.index_take(jnp.array([10, 20, 30]), (jnp.array([2, 0]),), (0,))
    Array([30, 10], dtype=int32)
    """
    if not len(idxs) or len(idxs) != len(axes):
        raise ValueError(f"index_take: {len(idxs)} index arrays for axes={tuple(axes)}; there must be one for each axis, and at least one")
    if not all(0 <= d < np.ndim(src) for d in axes):
        raise ValueError(f"index_take: axes {tuple(axes)} are not all axes of an array of shape {np.shape(src)}")
    columns = [broadcast_in_dim(_from_front(i, np.shape(src)[d]), (*np.shape(i), 1), tuple(range(np.ndim(i)))) for i, d in zip(idxs, axes)]
    indices, axes = lax.concatenate(columns, np.ndim(idxs[0])), tuple(axes)
    sizes = [1 if d in axes else n for d, n in enumerate(np.shape(src))]
    offsets = tuple(range(1, np.ndim(src) - len(axes) + 1))
    return gather(src, indices, GatherDimensionNumbers(offsets, axes, axes), sizes, mode="promise_in_bounds")
