"""An index taken apart: what is read or written on each axis of the operand, and where it goes in the result.

Three forms of plan, from the cheapest:

- *static*: integers and slices known now;
- *scalar*: some positions are traced numbers, others are static;
- *general*: arrays of positions. Slices with a step become arrays of positions.

`jax.ds(start, size)` with a number known now is a slice like others; with a traced one it has a `Slot` of its own.

Plans are cached, as programs use few forms of indices, many times each, and tracing must not take them apart anew. In a
cached plan a `Slot` stands for each array of positions.
"""
from __future__ import annotations

import operator
from typing import Any, NamedTuple

import numpy as np

from jax_core.configuration import flags
from jax_core.references.indexing import Slice
from jax_core.representation import dtypes, errors, tree
from jax_core.representation.arguments import joint_shape
from jax_core.representation.array import Array
from jax_core.traces.structural import broadcast_in_dim_p

from .. import lax
from ..lax.nary import constant
from ..lax.positions import LAST, position_dtype
from .creation import asarray
from .promotion import as_array, concrete, convert, shape_of, unwrapped

_INTS = (int, np.integer)
_INT32, _ZERO = np.dtype(np.int32), np.int32(0)
_CACHE_SIZE = 16384


class Static(NamedTuple):
    """The plan of an index of integers and slices: bounds on every axis, what to reverse, drop and insert."""

    starts: tuple
    limits: tuple
    strides: tuple | None
    reverse: tuple
    squeeze: tuple
    kept: tuple  # shape before new axes
    shape: tuple  # shape of the result
    dims: tuple  # where the kept axes are in the result
    whole: bool  # nothing is cut off
    contiguous: bool  # steps are 1 and nothing is clamped, so that it can be written as one slice
    clamped: bool  # a number is out of bounds


class Slot:
    """Stands in a cached plan for part ``place`` of the index: an array of integers of this type, or a slice that starts at one."""

    __slots__ = ("place", "shape", "dtype", "size", "stride")

    def __init__(self, place, part):
        start = part.start if type(part) is Slice else part
        self.place, self.shape, self.dtype = place, start.shape, start.dtype
        self.size, self.stride = (part.size, part.stride) if type(part) is Slice else (None, 1)


class Scalar(NamedTuple):
    """The plan of an index of static parts and traced numbers: what is cut off before, one slice, what is changed after."""

    before: Static | None  # of an index with steps: it is done first, whole on the axes of the numbers
    starts: tuple
    sizes: tuple
    numbers: tuple  # (axis, place in the index, length of the axis) for each start that is traced, of one element or of a slice
    dtype: np.dtype  # of the starts
    reverse: tuple
    squeeze: tuple
    new: tuple  # new axes of the result


class General(NamedTuple):
    """The plan of an index with arrays: columns of positions, and the axes of the result."""

    columns: tuple  # (axis, positions, the axes of `batch` that they run along) for each operand axis that is addressed
    batch: tuple  # shape of the arrays of positions
    slice_sizes: tuple
    collapsed: tuple
    offsets: tuple  # positions of the window axes in the result
    kept: tuple  # shape before new axes
    shape: tuple
    dims: tuple
    known: bool  # all positions are known now
    reads: lax.GatherDimensionNumbers
    writes: lax.ScatterDimensionNumbers


# -- taking an index apart ---------------------------------------------------------------------------------------------

def as_tuple(index: object) -> tuple:
    """An index as a tuple of its parts; refuses lists, which NumPy reads in two ways, and strings."""
    if flags.one_form.value is not None:
        index = tuple(map(_plain, index)) if type(index) is tuple else _plain(index)
    if type(index) is tuple:
        return tuple(map(_sized, index)) if Slice in map(type, index) else index
    if type(index) is Slice:
        return (_sized(index),)
    if isinstance(index, str):
        raise TypeError(f"JAX does not support string indexing; got idx={index!r}")
    if isinstance(index, (list, set, dict)):
        raise _sequence_error()
    return tuple(index) if isinstance(index, tuple) else (index,)


def _sized(part: Any) -> Any:
    """A part of an index, where `jax.ds` with a start that is known is a slice, and any other has an array as its start."""
    if type(part) is not Slice:
        return part
    start, size, step = part.start, part.size, part.stride
    if not isinstance(size, _INTS) or not isinstance(step, _INTS) or size < 0 or step < 1:
        raise TypeError(f"jax.ds: the size and the stride of a part of an array must be known integers, at least 0 and 1; got {part}")
    if isinstance(start, _INTS) and not isinstance(start, bool):
        stop = start + (size - 1) * step + 1 if size else start
        return slice(int(start), None if start < 0 <= stop else int(stop), int(step))
    if shape_of(start) or not dtypes.issubdtype(dtypes.dtype(start), np.integer):
        raise TypeError(f"jax.ds: the start of a part of an array must be one integer, got {part}")
    return Slice(as_array(start), int(size), int(step))


def _plain(part: object) -> Any:
    """A part of an index in a program for all lengths, where numbers may be lengths, or symbolic: with plain integers."""
    if isinstance(part, slice):
        return slice(*map(_plain, (part.start, part.stop, part.step)))
    if type(part) is Slice:
        return Slice(*map(_plain, (part.start, part.size, part.stride)))
    return part.__index__() if hasattr(part, "__index__") and not hasattr(part, "dtype") and not isinstance(part, bool) else part


def _sequence_error() -> TypeError:
    return TypeError("an index is a list, which could mean one array of positions or one index per axis; write "
                     "x[jnp.array(seq)] for the first, x[tuple(seq)] for the second")


def _expanded(index: tuple, ndim: int) -> list:
    """The parts with an Ellipsis spelled out and boolean arrays replaced by the positions of their true elements."""
    parts: list = []
    used = 0
    for part in index:
        if part is None or part is Ellipsis or isinstance(part, slice):
            used += isinstance(part, slice)
            parts.append(part)
        elif isinstance(part, _INTS) and not isinstance(part, (bool, np.bool_)):
            used += 1
            parts.append(operator.index(part))
        elif type(part) in (Slot, Slice):
            used += 1
            parts.append(part)
        else:
            for p in _array_parts(part):
                used += not (isinstance(p, tuple))
                parts.append(p)
    if used > ndim:
        raise IndexError(f"Too many indices: array is {ndim}-dimensional, but {used} were indexed")
    if sum(p is Ellipsis for p in parts) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    place = next((i for i, p in enumerate(parts) if p is Ellipsis), None)
    fill = [slice(None)] * (ndim - used)
    return parts + fill if place is None else parts[:place] + fill + parts[place + 1:]


def is_known_number(part: object) -> bool:
    """Whether a part of an index is one integer, Python's or NumPy's."""
    if isinstance(part, (np.ndarray, np.integer)):
        return part.shape == () and dtypes.issubdtype(part.dtype, np.integer)
    return type(part) is int


_FLAG = "flag"


def _array_parts(part: Any) -> list:
    """An array in an index: itself if it holds integers, positions if it holds booleans."""
    if isinstance(part, (set, dict)):
        raise _sequence_error()
    if isinstance(part, (list, tuple)):
        part = _listed(part)
    if isinstance(part, str):
        raise TypeError(f"JAX does not support string indexing; got idx={part!r}")
    part = unwrapped(part)
    if isinstance(part, (bool, np.bool_)):
        return [(_FLAG, bool(part))]
    dtype = getattr(part, "dtype", None)
    if dtype is None:
        kind = "float64" if isinstance(part, float) else type(part)
        raise TypeError(f"Indexer must have integer or boolean type, got indexer with type {kind}: {part!r}")
    if dtypes.issubdtype(dtype, np.integer):
        return [int(part)] if is_known_number(part) else [part]
    if dtype != np.bool_:
        raise TypeError(f"Indexer must have integer or boolean type, got indexer with type {dtype} at value {part!r}")
    known = concrete(part)
    if known is None:
        raise errors.NonConcreteBooleanIndexError(part)
    if not known.shape:
        return [(_FLAG, bool(known))]
    mask_shape = known.shape  # one tuple, by whose identity `_check_mask` knows which positions belong together
    return [_Positions(p, mask_shape) for p in np.nonzero(known)]


def _listed(part: list | tuple) -> Any:
    """A list among the parts of an index, which stands for an array."""
    if any(x is None or x is Ellipsis or isinstance(x, slice) for x in part):
        raise _sequence_error()
    array = asarray(part) if any(isinstance(x, Array) for x in tree.leaves(part)) else np.asarray(part)
    return array if array.size else np.zeros(array.shape, np.int32)


def check_numbers(shape: tuple, index: tuple) -> None:
    """Raise IndexError for a number in ``index`` that lies outside of its axis; what is in an array counts as not known."""
    axis = 0
    index = tuple(slice(None) if isinstance(part, (np.ndarray, Array)) and part.shape == () and part.dtype.kind in "iu" else part for part in index)
    for part in _expanded(index, len(shape)):
        if isinstance(part, int) and not -shape[axis] <= part < shape[axis]:
            raise IndexError(f"index {part} out of bounds for axis {axis} with size {shape[axis]}")
        axis += part is not None and not isinstance(part, tuple)


class _Positions(np.ndarray):
    """Positions of the true elements of a mask, which remember the mask's shape to check it against the operand."""

    def __new__(cls, positions, mask_shape):
        self = np.asarray(positions).view(cls)
        self.mask_shape = mask_shape
        return self

    def __array_finalize__(self, source):
        self.mask_shape = getattr(source, "mask_shape", None)


def _slice_bounds(part: slice, n: int, position: int) -> tuple[int, int, int]:
    """Start, length and step of a slice of an axis of length ``n``."""
    try:
        start, stop, step = part.indices(n)
    except TypeError:
        values = []
        for x in (part.start, part.stop, part.step):
            known = x if x is None else concrete(x) if isinstance(x, (Array, np.ndarray)) else x
            if known is None and x is not None:
                raise IndexError("\n".join(filter(None, (
                    f"Slice entries must be static integers. Got {part} at position {position}.", errors.origin_note(part.start, part.stop, part.step),
                    "For a start that is traced, and a length that is known, use x[jax.ds(start, length)] or lax.dynamic_slice; for a traced "
                    "length, jnp.where over the whole array.")))) from None
            try:
                values.append(None if known is None else operator.index(
                    known.item() if isinstance(known, np.ndarray) else known))
            except TypeError:
                raise TypeError(f"Slice entries must be static integers. Got {part} at position {position}") from None
        start, stop, step = slice(*values).indices(n)
    return start, len(range(start, stop, step)), step


# -- the cache ---------------------------------------------------------------------------------------------------------

_plans: dict = {}


def _key(index: tuple, arrays: bool) -> tuple | None:
    """A hashable form of an index of integers, slices, None, Ellipsis and, if ``arrays``, arrays of integers, of which
    only the types count; None for other indices."""
    key: list = []
    for part in index:
        kind = type(part)
        if kind is int or part is None or part is Ellipsis:
            key.append(part)
        elif kind is slice:
            a, b, c = part.start, part.stop, part.step
            if (a is None or type(a) is int) and (b is None or type(b) is int) and (c is None or type(c) is int):
                key.append((a, b, c))
            else:
                return None
        elif arrays and isinstance(part, Array) and getattr(part.dtype, "kind", "") in "iu":
            key.append((part.shape, part.dtype))
        elif arrays and kind is Slice:
            key.append((Slice, part.start.dtype, part.size, part.stride))
        elif is_known_number(part):
            key.append(int(part))
        else:
            return None
    return tuple(key)


def _cached(make: Any, shape: tuple, index: tuple, key: tuple, *more: Any) -> Any:
    """``make(shape, index, *more)`` with slots for arrays, if it was made before for an index of the same key."""
    key = (make, shape, key, flags.one_form.value is None, *more)
    try:
        return _plans[key]
    except KeyError:
        pass
    if len(_plans) > _CACHE_SIZE:
        _plans.clear()
    slots = tuple(Slot(i, p) if isinstance(p, (Array, Slice)) else p for i, p in enumerate(index))
    return _plans.setdefault(key, make(shape, slots, *more))


# -- static plans ------------------------------------------------------------------------------------------------------

def static_plan(shape: tuple, index: tuple) -> Static | None:
    """The plan of a static index; None if the index is not static."""
    key = _key(index, False)
    return None if key is None else _cached(_make_static, shape, index, key)


def _make_static(shape: tuple, index: tuple) -> Static:
    return _static(shape, _expanded(index, len(shape)))


def _static(shape: tuple, parts: list) -> Static:
    starts, limits, strides, reverse, squeeze, kept, out, dims = [], [], [], [], [], [], [], []
    axis, contiguous, clamped, one_form = 0, True, False, flags.one_form.value is not None
    for position, part in enumerate(parts):
        if part is None:
            out.append(1)
            continue
        n = shape[axis]
        if isinstance(part, int):
            i = part + n if part < 0 else part
            if not 0 <= i < n:
                contiguous, clamped = False, True
                i = min(max(i, 0), n - 1)
                if n == 0:
                    raise IndexError(f"index {part} is out of bounds for axis {axis} with size 0")
            starts.append(i); limits.append(i + 1); strides.append(1); squeeze.append(axis)
        else:
            start, length, step = _slice_bounds(part, n, position)
            contiguous = contiguous and (step == 1 or length <= 1)
            if step < 0:
                start, step = start + (length - 1) * step if length else 0, -step
                if length > 1 or one_form:
                    reverse.append(axis)
            if length == 0 and not one_form:
                step = 1
            starts.append(start); limits.append(start + (length - 1) * step + 1 if length else start)
            strides.append(step); kept.append(length); dims.append(len(out)); out.append(length)
        axis += 1
    whole = tuple(limits) == shape and not any(starts) and all(s == 1 for s in strides)
    if one_form:  # which programs for all lengths of an axis say alike
        whole = all(part is None or part == slice(None) for part in parts)
    return Static(tuple(starts), tuple(limits), None if all(s == 1 for s in strides) else tuple(strides), tuple(reverse),
                  tuple(squeeze), tuple(kept), tuple(out), tuple(dims), whole, contiguous, clamped)


# -- scalar plans ------------------------------------------------------------------------------------------------------

def _make_scalar(shape: tuple, index: tuple) -> Scalar | None:
    """The plan of an index of static parts and slots of rank 0, or numbers out of bounds; None for other indices, for slots with steps,
    and where an axis is empty."""
    parts = _expanded(index, len(shape))
    placed = [p for p in parts if p is not None]
    numbers = tuple((axis, p.place, shape[axis]) for axis, p in enumerate(placed) if type(p) is Slot)
    beyond = {axis: p + n if p < 0 else p for axis, (p, n) in enumerate(zip(placed, shape)) if isinstance(p, int) and n and not -n <= p < n}
    if not (numbers or beyond) or any(type(p) is Slot and (p.shape or p.stride > 1) for p in placed) or any(n == 0 for _, _, n in numbers):
        return None
    axes = (*(axis for axis, _, _ in numbers), *beyond)
    static = _static(shape, [slice(None) if type(p) is Slot or axis in beyond else p for axis, p in enumerate(placed)])
    dtype = np.dtype(np.int64) if any(type(p) is Slot and p.dtype.itemsize == 8 for p in placed) else position_dtype(max(shape))
    if static.strides is None:
        before, starts = None, list(static.starts)
        sizes = [stop - start for start, stop in zip(static.starts, static.limits)]
    else:
        before, starts = static, [0] * len(shape)
        sizes = [len(range(*bounds)) for bounds in zip(static.starts, static.limits, static.strides)]
    slices = {axis: p.size for axis, p in enumerate(placed) if type(p) is Slot and p.size is not None}
    for axis in axes:
        sizes[axis] = _fitting(slices[axis], axis, shape) if axis in slices else 1
    for axis, i in beyond.items():
        starts[axis] = min(max(i, -LAST), max(shape[axis], LAST))  # it stays out of bounds, for checks to see
    rest = [p for p in parts if p is None or isinstance(p, slice) or type(p) is Slot and p.size is not None]
    return Scalar(before, tuple(dtype.type(start) for start in starts), tuple(sizes), numbers, dtype, static.reverse,
                  tuple(sorted({*axes, *static.squeeze} - slices.keys())), tuple(i for i, p in enumerate(rest) if p is None))


# -- general plans -----------------------------------------------------------------------------------------------------

def general_plan(shape: tuple, index: tuple, wrap: bool = True) -> General:
    """The plan of any index; negative positions count from the end if ``wrap``."""
    key = _key(index, True)
    if key is None:
        return _make_general(shape, index, wrap)
    return _filled(_cached(_make_general, shape, index, key, wrap), shape, index, wrap)


def reading_plan(shape: tuple, index: tuple) -> Scalar | General:
    """The cheaper of the plans by which any index can be read."""
    key = _key(index, True)
    if key is None:
        return _make_general(shape, index, True)
    plan = _cached(_make_reading, shape, index, key)
    return plan if type(plan) is Scalar else _filled(plan, shape, index, True)


def _make_reading(shape: tuple, index: tuple) -> Scalar | General:
    return _make_scalar(shape, index) or _make_general(shape, index, True)


def _filled(plan: General, shape: tuple, index: tuple, wrap: bool) -> General:
    """``plan`` with the positions in ``index`` in its slots."""
    if plan.known:
        return plan
    columns = tuple([(axis, positions_of(index[p.place], shape[axis], wrap) if type(p) is Slot else p, dims)
                     for axis, p, dims in plan.columns])
    return General(columns, *plan[1:])


def _make_general(shape: tuple, index: tuple, wrap: bool) -> General:
    entries = _entries(shape, _expanded(index, len(shape)))
    arrays = [e[2] for e in entries if e[0] == "array"]
    try:
        common = joint_shape(*(shape_of(a) for a in arrays))
    except ValueError:
        raise ValueError("shape mismatch: indexing arrays could not be broadcast together with shapes "
                         f"{', '.join(str(shape_of(a)) for a in arrays)}") from None
    return _layout(shape, entries, common, wrap)


def _entries(shape: tuple, parts: list) -> list:
    """(kind, axis, ...) for each part; integers count as arrays, as NumPy has it where arrays are present."""
    entries: list = []
    axis = 0
    for position, part in enumerate(parts):
        if part is None:
            entries.append(("new",))
        elif isinstance(part, tuple):  # a boolean number: an axis of length 0 or 1 that addresses nothing
            entries.append(("array", None, np.zeros(int(part[1]), np.int32)))
        elif isinstance(part, slice):
            entries.append(("slice", axis, *_slice_bounds(part, shape[axis], position)))
            axis += 1
        elif type(part) is Slice or type(part) is Slot and part.size is not None:
            entries.append(("slice", axis, part, _fitting(part.size, axis, shape), part.stride))
            axis += 1
        else:
            if isinstance(part, _Positions):
                _check_mask(part, shape, axis, parts, position)
            entries.append(("array", axis, part))
            axis += 1
    return entries


def _fitting(size: int, axis: int, shape: tuple) -> int:
    if size > shape[axis]:
        raise TypeError(f"jax.ds: {size} elements from a traced start on do not fit into axis {axis} of an array of shape {shape}")
    return size


def _check_mask(part: _Positions, shape: tuple, axis: int, parts: list, position: int) -> None:
    mask = part.mask_shape
    first = axis - sum(isinstance(p, _Positions) and p.mask_shape is mask for p in parts[:position])
    if tuple(shape[first:first + len(mask)]) != tuple(mask):
        raise IndexError(f"boolean index did not match shape of indexed array in index {first}: got {tuple(mask)}, expected "
                         f"{tuple(shape[first:first + len(mask)])}")


def _layout(shape: tuple, entries: list, common: tuple, wrap: bool) -> General:
    advanced = [i for i, e in enumerate(entries) if e[0] == "array"]
    together = bool(advanced) and advanced == list(range(advanced[0], advanced[0] + len(advanced)))
    block = [("batch", n) for n in common]
    axes: list = []  # (kind, length[, entry]) of the result's axes
    if not together:
        axes += block
    for i, e in enumerate(entries):
        if e[0] == "new":
            axes.append(("new", 1))
        elif e[0] == "slice":
            _, axis, start, length, step = e
            axes.append(("window", length, e) if step == 1 else ("steps", length, e))
        elif together and i == advanced[0]:
            axes += block
    batch = tuple(a[1] for a in axes if a[0] in ("batch", "steps"))
    columns, sizes, collapsed = _columns(shape, entries, axes, batch, common, wrap)
    real = [a for a in axes if a[0] != "new"]
    offsets = tuple(i for i, a in enumerate(real) if a[0] == "window")
    addressed = tuple(c[0] for c in columns)
    known = all(isinstance(c[1], np.ndarray) for c in columns)
    return General(tuple(columns), batch, tuple(sizes), tuple(collapsed), offsets,
                   tuple(a[1] for a in real), tuple(a[1] for a in axes),
                   tuple(i for i, a in enumerate(axes) if a[0] != "new"), known,
                   lax.GatherDimensionNumbers(offsets, tuple(collapsed), addressed),
                   lax.ScatterDimensionNumbers(offsets, tuple(collapsed), addressed))


def _columns(shape: tuple, entries: list, axes: list, batch: tuple, common: tuple, wrap: bool) -> tuple:
    """Positions on each addressed axis, with the axes of ``batch`` that they run along; slice sizes; axes that disappear."""
    order = [a for a in axes if a[0] in ("batch", "steps")]
    first = next((i for i, a in enumerate(order) if a[0] == "batch"), 0)
    columns, sizes, collapsed = [], list(shape), []
    for e in entries:
        if e[0] == "array" and e[1] is not None:
            _, axis, positions = e
            end = first + len(common)
            columns.append((axis, positions_of(positions, shape[axis], wrap), tuple(range(end - len(shape_of(positions)), end))))
            sizes[axis] = 1
            collapsed.append(axis)
        elif e[0] == "slice":
            _, axis, start, length, step = e
            traced = not isinstance(start, int)
            if step != 1:
                place = next(i for i, a in enumerate(order) if a[0] == "steps" and a[2] is e)
                columns.append((axis, positions_of(start, shape[axis], wrap) if traced else
                                np.arange(length, dtype=position_dtype(shape[axis])) * step + start, (place,)))
                sizes[axis] = 1
                collapsed.append(axis)
            elif traced or length != shape[axis]:
                columns.append((axis, positions_of(start, shape[axis], wrap) if traced else np.asarray(start, position_dtype(shape[axis])), ()))
                sizes[axis] = length
    return columns, sizes, collapsed


def positions_of(part: Any, n: int, wrap: bool) -> Any:
    """The positions that an array names (`wrapped`), or a slice with a traced start: its start, or, with steps, all of them."""
    if type(part) is not Slice:
        return wrapped(part, n, wrap)
    start = wrapped(part.start, n, wrap)
    return start if part.stride == 1 else lax.add(start, np.arange(part.size, dtype=start.dtype) * start.dtype.type(part.stride))


def wrapped(positions: Any, n: int, wrap: bool) -> Any:
    """Positions as int32 (or int64), negative ones counted from the end if ``wrap``; a slot as it is."""
    if type(positions) is Slot:
        return positions
    if isinstance(positions, int):
        place = positions + n if wrap and positions < 0 else positions
        return _in_range(place, n)
    if isinstance(positions, np.ndarray):
        positions = np.asarray(positions)
        if positions.dtype.kind == "u":
            positions = np.minimum(positions, np.uint64(max(n, 1)).astype(positions.dtype)
                                   if n <= np.iinfo(positions.dtype).max else positions)
        positions = positions.astype(np.int64)
        positions = np.where(positions < 0, positions + n, positions) if wrap else positions
        return _in_range(positions, n)
    if wrap and positions.dtype == _INT32 and n <= LAST:  # the commonest, so a shortcut; the long way gives the same
        return lax.select_n_p.bind(lax.lt_p.bind(positions, _ZERO), positions, lax.add_p.bind(positions, np.int32(n)))
    wide = np.dtype(np.int64) if positions.dtype.itemsize == 8 else position_dtype(n)
    unsigned = dtypes.issubdtype(positions.dtype, np.unsignedinteger)
    if unsigned and positions.dtype.itemsize >= 4:
        positions = lax.min(positions, constant(n, positions))
    if wrap and not unsigned and n <= dtypes.iinfo(positions.dtype).max:  # n fits, so what is small stays small while it is counted
        zero, length = constant(0, positions), constant(n, positions)
        counted = lax.select_n_p.bind(lax.lt_p.bind(positions, zero), positions, lax.add_p.bind(positions, length))
        return convert(counted, wide)
    positions = convert(positions, wide)
    if unsigned or not wrap:
        return positions
    return lax.select_n_p.bind(lax.lt_p.bind(positions, wide.type(0)), positions,
                               lax.add_p.bind(positions, wide.type(n)))


def _in_range(place: Any, n: int) -> np.ndarray:
    """Known positions as they are, out of bounds or not: checks name them. Beyond the range of the dtype its ends are as far out."""
    dtype = position_dtype(n)
    bounds = np.iinfo(dtype)
    return np.asarray(np.clip(place, bounds.min, bounds.max), dtype)


def index_array(plan: General) -> Any:
    """All columns side by side: the array of start indices; a NumPy constant where all positions are known."""
    full = (*plan.batch, 1)
    if plan.known:
        if not plan.columns:
            return np.zeros((*plan.batch, 0), np.int32)
        return np.concatenate([_spread(p, full, dims) for _, p, dims in plan.columns], -1)
    wide = np.dtype(np.int64 if any(c[1].dtype == np.int64 for c in plan.columns) else np.int32)
    pieces = []
    for _, positions, dims in plan.columns:
        if positions.dtype != wide:
            positions = convert(positions, wide)
        if isinstance(positions, np.ndarray):
            if positions.shape:
                pieces.append(as_array(_spread(positions, full, dims)))
                continue
            positions = positions[()]
        pieces.append(broadcast_in_dim_p.bind(positions, shape=full, sharding=None, broadcast_dimensions=dims))
    return pieces[0] if len(pieces) == 1 else lax.concatenate_p.bind(*pieces, dimension=len(plan.batch))


def _spread(positions: np.ndarray, shape: tuple, dims: tuple) -> np.ndarray:
    """`broadcast_in_dim` by NumPy."""
    aligned = [1] * len(shape)
    for d, n in zip(dims, positions.shape):
        aligned[d] = n
    return np.array(np.broadcast_to(positions.reshape(aligned), shape))
