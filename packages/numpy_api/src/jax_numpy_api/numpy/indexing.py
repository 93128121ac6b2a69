"""``x[index]`` and ``x.at[index]``: NumPy's indexing on immutable arrays.

An index is taken apart once into a `Plan`, which says for each axis of the operand how its positions are found and for
each axis of the result where it comes from. Three forms of plan, from the cheapest:

- *static*: integers and slices known now: `slice`, `rev`, `squeeze` (and `dynamic_update_slice` to write);
- *scalar*: some positions are traced numbers: `dynamic_slice`;
- *general*: arrays of positions: one `gather`, or one `scatter` to write. Slices with a step become arrays of positions.

Plans of static indices are cached. Eagerly, an index into an array that is ready in host memory is done on a NumPy view.

A position out of bounds reads the nearest element and is dropped in writing, unless ``mode`` says otherwise.
"""
from __future__ import annotations

import functools
import math
import operator
from typing import Any, NamedTuple

import numpy as np

from jax_core import backends, context, dtypes, errors
from jax_core.array import Array
from jax_core.structural import broadcast_in_dim_p
from jax_core.trace import EVAL, Tracer

from .. import lax
from .promotion import as_array, broadcast_to, check_arraylike, concrete, convert, host_view, shape_of, unwrapped

_INTS = (int, np.integer)


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


class General(NamedTuple):
    """The plan of an index with arrays: columns of positions, and the axes of the result."""

    columns: tuple  # (axis, positions) for each operand axis that is addressed
    batch: tuple  # shape of the arrays of positions
    slice_sizes: tuple
    collapsed: tuple
    offsets: tuple  # positions of the window axes in the result
    kept: tuple  # shape before new axes
    shape: tuple
    dims: tuple


# -- taking an index apart ---------------------------------------------------------------------------------------------

def as_tuple(index: Any) -> tuple:
    """An index as a tuple of its parts; refuses lists, which NumPy reads in two ways, and strings."""
    if type(index) is tuple:
        return index
    if isinstance(index, str):
        raise TypeError(f"JAX does not support string indexing; got idx={index!r}")
    if isinstance(index, (list, set, dict)):
        raise _sequence_error()
    return tuple(index) if isinstance(index, tuple) else (index,)


def _sequence_error() -> TypeError:
    return TypeError("Using a non-tuple sequence for multidimensional indexing is not allowed; use `arr[array(seq)]` "
                     "instead of `arr[seq]`.")


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


_FLAG = "flag"


def _array_parts(part: Any) -> list:
    """An array in an index: itself if it holds integers, positions if it holds booleans."""
    if isinstance(part, (list, tuple, set, dict)):
        raise _sequence_error()
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
        if isinstance(part, np.ndarray) and not part.shape:
            return [int(part)]
        return [part]
    if dtype != np.bool_:
        raise TypeError(f"Indexer must have integer or boolean type, got indexer with type {dtype} at value {part!r}")
    known = concrete(part)
    if known is None:
        raise errors.NonConcreteBooleanIndexError(part)
    if not known.shape:
        return [(_FLAG, bool(known))]
    mask_shape = known.shape  # one tuple, by whose identity `_check_mask` knows which positions belong together
    return [_Positions(p, mask_shape) for p in np.nonzero(known)]


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
                raise IndexError(f"Slice entries must be static integers. Got {part} at position {position}; use "
                                 "lax.dynamic_slice for a start that is traced.") from None
            try:
                values.append(None if known is None else operator.index(
                    known.item() if isinstance(known, np.ndarray) else known))
            except TypeError:
                raise IndexError(f"Slice entries must be static integers. Got {part} at position {position}") from None
        start, stop, step = slice(*values).indices(n)
    return start, len(range(start, stop, step)), step


# -- static plans ------------------------------------------------------------------------------------------------------

_static_plans: dict = {}


def _static_key(index: tuple) -> tuple | None:
    """A hashable form of an index of integers, slices, None and Ellipsis; None for other indices."""
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
        else:
            return None
    return tuple(key)


def static_plan(shape: tuple, index: tuple) -> Static | None:
    """The plan of a static index, from the cache if it was made before; None if the index is not static."""
    key = _static_key(index)
    if key is None:
        return None
    key = (shape, key)
    plan = _static_plans.get(key)
    if plan is None:
        plan = _make_static(shape, _expanded(index, len(shape)))
        if len(_static_plans) > 16384:
            _static_plans.clear()
        _static_plans[key] = plan
    return plan


def _make_static(shape: tuple, parts: list) -> Static:
    starts, limits, strides, reverse, squeeze, kept, out, dims = [], [], [], [], [], [], [], []
    axis, contiguous = 0, True
    for position, part in enumerate(parts):
        if part is None:
            out.append(1)
            continue
        n = shape[axis]
        if isinstance(part, int):
            i = part + n if part < 0 else part
            if not 0 <= i < n:
                contiguous = False
                i = min(max(i, 0), n - 1)
                if n == 0:
                    raise IndexError(f"index {part} is out of bounds for axis {axis} with size 0")
            starts.append(i), limits.append(i + 1), strides.append(1), squeeze.append(axis)
        else:
            start, length, step = _slice_bounds(part, n, position)
            contiguous = contiguous and (step == 1 or length <= 1)
            if length == 0:
                start, step = 0, 1
            elif step < 0:
                start, step = start + (length - 1) * step, -step
                if length > 1:
                    reverse.append(axis)
            if length <= 1:
                step = 1
            starts.append(start), limits.append(start + (length - 1) * step + 1 if length else start)
            strides.append(step), kept.append(length), dims.append(len(out)), out.append(length)
        axis += 1
    whole = tuple(limits) == shape and not any(starts) and all(s == 1 for s in strides)
    return Static(tuple(starts), tuple(limits), None if all(s == 1 for s in strides) else tuple(strides), tuple(reverse),
                  tuple(squeeze), tuple(kept), tuple(out), tuple(dims), whole, contiguous)


def _read_static(x: Any, plan: Static) -> Any:
    if not plan.whole:
        x = lax.slice_p.bind(x, start_indices=plan.starts, limit_indices=plan.limits, strides=plan.strides)
    if plan.reverse:
        x = lax.rev(x, plan.reverse)
    if plan.squeeze:
        x = lax.squeeze_p.bind(x, dimensions=plan.squeeze)
    return _with_new_axes(x, plan)


def _with_new_axes(x: Any, plan: Any) -> Any:
    if plan.shape == plan.kept:
        return x
    return broadcast_in_dim_p.bind(x, shape=plan.shape, broadcast_dimensions=plan.dims, sharding=None)


# -- general plans -----------------------------------------------------------------------------------------------------

def general_plan(shape: tuple, index: tuple, wrap: bool = True) -> General:
    """The plan of any index."""
    plan = _leading_plan(shape, index, wrap)
    if plan is not None:
        return plan
    parts = _expanded(index, len(shape))
    entries = _entries(shape, parts)
    arrays = [e[2] for e in entries if e[0] == "array"]
    try:
        common = np.broadcast_shapes(*(shape_of(a) for a in arrays))
    except ValueError:
        raise IndexError("shape mismatch: indexing arrays could not be broadcast together with shapes "
                         f"{', '.join(str(shape_of(a)) for a in arrays)}") from None
    return _layout(shape, entries, common, wrap)


def _leading_plan(shape: tuple, index: tuple, wrap: bool) -> General | None:
    """The plan of the commonest indices: one array of integers, or numbers for the first axes. (A shortcut: `_layout`
    gives the same.)"""
    count = len(index)
    if count > len(shape) or not all(_is_positions(p) for p in index):
        return None
    batch = shape_of(index[0]) if count == 1 else ()
    if count > 1 and any(shape_of(p) for p in index):
        return None
    rank = len(batch)
    rest = shape[count:]
    columns = tuple((axis, _wrapped(p, shape[axis], wrap), batch) for axis, p in enumerate(index))
    result = batch + rest
    return General(columns, batch, (1,) * count + rest, tuple(range(count)), tuple(range(rank, rank + len(rest))), result,
                   result, tuple(range(len(result))))


def _is_positions(part: Any) -> bool:
    if type(part) is int:
        return True
    return hasattr(part, "aval") and getattr(part.dtype, "kind", "") in "iu"


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
        else:
            if isinstance(part, _Positions):
                _check_mask(part, shape, axis, parts, position)
            entries.append(("array", axis, part))
            axis += 1
    return entries


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
    return General(tuple(columns), batch, tuple(sizes), tuple(collapsed),
                   tuple(i for i, a in enumerate(real) if a[0] == "window"),
                   tuple(a[1] for a in real), tuple(a[1] for a in axes),
                   tuple(i for i, a in enumerate(axes) if a[0] != "new"))


def _columns(shape: tuple, entries: list, axes: list, batch: tuple, common: tuple, wrap: bool) -> tuple:
    """Positions on each addressed axis, with the shape they broadcast from; slice sizes; axes that disappear."""
    order = [a for a in axes if a[0] in ("batch", "steps")]
    first = next((i for i, a in enumerate(order) if a[0] == "batch"), 0)
    columns, sizes, collapsed = [], list(shape), []
    for e in entries:
        if e[0] == "array" and e[1] is not None:
            _, axis, positions = e
            own = shape_of(positions)
            aligned = (1,) * (len(common) - len(own)) + own
            padded = [1] * first + list(aligned) + [1] * (len(order) - first - len(common))
            columns.append((axis, _wrapped(positions, shape[axis], wrap), tuple(padded)))
            sizes[axis] = 1
            collapsed.append(axis)
        elif e[0] == "slice":
            _, axis, start, length, step = e
            if step != 1:
                place = next(i for i, a in enumerate(order) if a[0] == "steps" and a[2] is e)
                padded = [length if i == place else 1 for i in range(len(order))]
                columns.append((axis, np.arange(length, dtype=np.int32) * step + start, tuple(padded)))
                sizes[axis] = 1
                collapsed.append(axis)
            elif length != shape[axis]:
                columns.append((axis, np.asarray(start, np.int32), (1,) * len(order)))
                sizes[axis] = length
    return columns, sizes, collapsed


def _wrapped(positions: Any, n: int, wrap: bool) -> Any:
    """Positions as int32 (or int64), negative ones counted from the end."""
    if isinstance(positions, int):
        return np.asarray(positions + n if wrap and positions < 0 else positions, np.int64 if n >= 1 << 31 else np.int32)
    if isinstance(positions, np.ndarray):
        positions = np.asarray(positions)
        if positions.dtype.kind == "u":
            positions = np.minimum(positions, np.uint64(max(n, 1)).astype(positions.dtype)
                                   if n <= np.iinfo(positions.dtype).max else positions)
        positions = positions.astype(np.int64)
        positions = np.where(positions < 0, positions + n, positions) if wrap else positions
        return np.clip(positions, -1, n).astype(np.int64 if n >= 1 << 31 else np.int32)
    wide = np.dtype(np.int64 if positions.dtype.itemsize == 8 else np.int32)
    unsigned = dtypes.issubdtype(positions.dtype, np.unsignedinteger)
    if unsigned and positions.dtype.itemsize >= 4:
        positions = lax.min(positions, np.asarray(n, positions.dtype)[()])
    positions = convert(positions, wide)
    if unsigned or not wrap:
        return positions
    return lax.select_n_p.bind(lax.lt_p.bind(positions, wide.type(0)), positions,
                               lax.add_p.bind(positions, wide.type(n)))


def _index_array(plan: General) -> Any:
    """All columns side by side: the array of start indices; a NumPy constant where all positions are known."""
    if not plan.columns:
        return np.zeros((*plan.batch, 0), np.int32)
    known = all(isinstance(c[1], np.ndarray) for c in plan.columns)
    if known:
        return np.stack([np.broadcast_to(p.reshape(s), plan.batch) for _, p, s in plan.columns], -1)
    wide = np.dtype(np.int64 if any(c[1].dtype == np.int64 for c in plan.columns) else np.int32)
    pieces = []
    for _, positions, shape in plan.columns:
        positions = convert(positions, wide)
        if isinstance(positions, np.ndarray):
            pieces.append(as_array(np.array(np.broadcast_to(positions.reshape(shape), plan.batch)[..., None])))
            continue
        if positions.shape != shape and math.prod(shape) == positions.size:
            positions = lax.reshape(positions, shape)
        target = (*plan.batch, 1)
        pieces.append(broadcast_in_dim_p.bind(positions, shape=target, sharding=None,
                                              broadcast_dimensions=tuple(range(len(plan.batch)))))
    return pieces[0] if len(pieces) == 1 else lax.concatenate(pieces, len(plan.batch))


def _in_bounds(plan: General, shape: tuple) -> bool:
    """Whether all positions are known and lie inside."""
    return all(isinstance(p, np.ndarray) and (p.size == 0 or p.min() >= 0 and p.max() + plan.slice_sizes[axis] <= shape[axis])
               for axis, p, _ in plan.columns)


def _read_general(x: Any, plan: General, mode: Any, fill_value: Any, unique: bool, is_sorted: bool) -> Any:
    if not plan.columns and plan.kept == x.shape:
        return _with_new_axes(x, plan)
    if 0 in plan.kept:
        return lax.full(plan.shape, 0, x.dtype)
    if mode is None and fill_value is None:
        mode = lax.GatherScatterMode.PROMISE_IN_BOUNDS if _in_bounds(plan, x.shape) else lax.GatherScatterMode.CLIP
    if 0 in x.shape and mode in (lax.GatherScatterMode.PROMISE_IN_BOUNDS, lax.GatherScatterMode.CLIP, "clip",
                                 "promise_in_bounds"):
        raise IndexError(f"index is out of bounds for an array of shape {x.shape}, which has no elements")
    numbers = lax.GatherDimensionNumbers(plan.offsets, plan.collapsed, tuple(c[0] for c in plan.columns))
    out = lax.gather(x, _index_array(plan), numbers, plan.slice_sizes, unique_indices=unique,
                     indices_are_sorted=is_sorted, mode=mode, fill_value=fill_value)
    return _with_new_axes(out, plan)


# -- reading -----------------------------------------------------------------------------------------------------------

def _host_read(x: Any, index: tuple) -> Any | None:
    """The result by NumPy, if that is possible at once with the same result."""
    view = host_view(x)
    if view is None:
        return None
    parts = []
    for part in index:
        if type(part) in (int, slice, type(None), type(Ellipsis)):
            parts.append(part)
            continue
        if isinstance(part, (list, tuple, str, bool, float, complex)) or isinstance(part, Tracer):
            return None
        if isinstance(part, np.ndarray) or isinstance(part, np.generic):
            parts.append(part)
        elif isinstance(part, Array):
            part = host_view(part)
            if part is None:
                return None
            parts.append(part)
        else:
            return None
        if parts[-1].dtype.kind not in "iub" or parts[-1].dtype.kind == "b" and not parts[-1].shape:
            return None
    try:
        out = view[tuple(parts)]
    except (IndexError, TypeError):
        return None
    weak = x.weak_type
    return backends.get().from_host(np.array(out, order="C"), weak)


def getitem(x: Any, index: Any) -> Any:
    """``x[index]``.

    Args:
      x: one of our arrays.
      index: integers, slices, None, Ellipsis, arrays of integers or of booleans, or a tuple of these. Booleans, and the
        bounds of slices, must be known while tracing.

    Raises:
      TypeError: a list or something that is no index. IndexError: too many indices; a slice with a traced bound.
      NonConcreteBooleanIndexError: a traced mask.
    """
    if isinstance(index, Tracer) and _is_one_position(index, x):
        return _read_element(x, index)
    index = as_tuple(index)
    if context.state.trace is EVAL and not isinstance(x, Tracer):
        out = _host_read(x, index)
        if out is not None:
            return out
    plan = static_plan(x.shape, index)
    if plan is not None:
        return _read_static(x, plan)
    return read(x, index)


def _is_one_position(index: Tracer, x: Any) -> bool:
    """Whether a traced ``index`` is one signed integer, and ``x`` has something to index. (The commonest index of all, in
    bodies of loops, so there are shortcuts for it; the long way gives the same.)"""
    aval = index.aval
    return aval.shape == () and getattr(aval.dtype, "kind", "") == "i" and x.ndim > 0 and x.shape[0] > 0


def _read_element(x: Any, index: Any) -> Any:
    """``x[index]`` for one position: `_scalar_read`."""
    n, *rest = x.shape
    start = _wrapped(index, n, True)
    others = [start.dtype.type(0)] * len(rest)
    return lax.squeeze_p.bind(lax.dynamic_slice_p.bind(x, start, *others, slice_sizes=(1, *rest)), dimensions=(0,))


def read(x: Any, index: tuple, *, mode: Any = None, fill_value: Any = None, unique_indices: bool = False,
         indices_are_sorted: bool = False, wrap: bool = True) -> Any:
    """`getitem` with options; ``index`` is a tuple."""
    if mode is None and fill_value is None and wrap:
        scalars = _scalar_read(x, index)
        if scalars is not None:
            return scalars
    plan = general_plan(x.shape, index, wrap)
    return _read_general(x, plan, mode, fill_value, unique_indices, indices_are_sorted)


def _is_traced_int(part: Any) -> bool:
    return isinstance(part, Array) and part.shape == () and dtypes.issubdtype(part.dtype, np.integer)


def _scalar_read(x: Any, index: tuple) -> Any | None:
    """Integers, some of them in arrays of rank 0, and slices: `dynamic_slice` after what is static."""
    if not all(p is None or p is Ellipsis or type(p) in (int, slice) or _is_traced_int(p) for p in index):
        return None
    parts = _expanded(index, x.ndim)
    axes = [i for i, p in enumerate(q for q in parts if q is not None) if _is_traced_int(p)]
    if not axes or any(x.shape[a] == 0 for a in axes):
        return None
    numbers = [p for p in parts if p is not None and _is_traced_int(p)]
    around = _make_static(x.shape, [slice(None) if p is not None and _is_traced_int(p) else p for p in parts if p is not None])
    if not around.whole:
        x = lax.slice_p.bind(x, start_indices=around.starts, limit_indices=around.limits, strides=around.strides)
    if around.reverse:
        x = lax.rev(x, around.reverse)
    starts: list = [np.int32(0)] * x.ndim
    sizes = list(x.shape)
    for axis, number in zip(axes, numbers):
        starts[axis], sizes[axis] = _wrapped(number, x.shape[axis], True), 1
    wide = next((s.dtype for s in starts if s.dtype == np.int64), np.dtype(np.int32))
    starts = [convert(s, wide) for s in starts]
    x = lax.dynamic_slice_p.bind(x, *starts, slice_sizes=tuple(sizes))
    drop = tuple(sorted((*axes, *around.squeeze)))
    x = lax.squeeze_p.bind(x, dimensions=drop)
    if None not in parts:
        return x
    rest = [p for p in parts if p is None or isinstance(p, slice)]
    new = tuple(i for i, p in enumerate(rest) if p is None)
    return lax.expand_dims(x, new)


# -- writing -----------------------------------------------------------------------------------------------------------

def _combine(op: str, old: Any, new: Any) -> Any:
    if op == "set":
        return new
    return {"add": lax.add, "subtract": lax.sub, "multiply": lax.mul, "min": lax.min, "max": lax.max}[op](old, new)


_SCATTERS = {"set": "scatter", "add": "scatter_add", "subtract": "scatter_sub", "multiply": "scatter_mul",
             "min": "scatter_min", "max": "scatter_max"}


def _update_value(x: Any, value: Any, name: str) -> Any:
    """The new value in the dtype of ``x``, with a warning where that loses something."""
    if isinstance(value, (list, tuple)):
        from .creation import asarray
        value = asarray(value)
    check_arraylike(name, value)
    value = unwrapped(value)
    if hasattr(value, "dtype"):
        if value.dtype != x.dtype:
            _warn_unsafe(x, value, value.dtype)
    elif getattr(x.dtype, "kind", "V") not in _ROOM.get(type(value), ""):
        _warn_unsafe_number(x, value)
    return convert(value, x.dtype, False)


_ROOM = {bool: "biufc", int: "iufc", float: "fc", complex: "c"}  # kinds of dtypes that hold Python numbers


def _warn_unsafe(x: Any, value: Any, dtype: Any) -> None:
    joined = dtypes.result_type(x, value)
    if joined == x.dtype or isinstance(value, (np.ndarray, np.generic)) and dtypes.canonicalize_dtype(dtype) == x.dtype:
        return
    import warnings
    warnings.warn(f"scatter inputs have incompatible types: cannot safely cast value from dtype={dtype} to "
                  f"dtype={x.dtype} with jax_numpy_dtype_promotion={_promotion_mode()!r}. In future JAX releases this will "
                  "result in an error.", FutureWarning, stacklevel=5)


def _warn_unsafe_number(x: Any, value: Any) -> None:
    if dtypes.result_type(x, value) != x.dtype:
        _warn_unsafe(x, value, dtypes.dtype(value))


def _promotion_mode() -> str:
    from jax_core import config
    return str(config.numpy_dtype_promotion.value)


def write(x: Any, index: Any, value: Any, op: str, *, indices_are_sorted: bool = False, unique_indices: bool = False,
          mode: Any = None, wrap: bool = True) -> Any:
    """``x`` with ``value`` written to, or combined with, the elements at ``index``.

    Args:
      x: one of our arrays.
      index: as for `getitem`.
      value: broadcast to the shape of ``x[index]`` and converted to the dtype of ``x``.
      op: "set", "add", "subtract", "multiply", "min" or "max".
      indices_are_sorted, unique_indices: promises about the positions.
      mode: "drop" (default) or "fill": positions out of bounds are ignored; "clip": the nearest is written;
        "promise_in_bounds".
      wrap: whether negative positions count from the end.

    Raises:
      ValueError: ``value`` does not broadcast.
    """
    index = as_tuple(index)
    if op == "set" and context.state.trace is EVAL and not isinstance(x, Tracer):
        out = _host_write(x, index, value)
        if out is not None:
            return out
    value = _update_value(x, value, f"scatter_{op}")
    if len(index) == 1 and isinstance(index[0], Tracer) and _is_one_position(index[0], x):
        rest = x.shape[1:]
        if 0 not in rest and shape_of(value) in (rest, ()):
            return _write_element(x, index[0], value, op, mode, wrap)
    plan = static_plan(x.shape, index)
    if plan is not None and plan.contiguous and (wrap or not _has_negative(index)):
        return _write_static(x, value, plan, op)
    general = general_plan(x.shape, index, wrap)
    return _write_general(x, value, general, op, indices_are_sorted, unique_indices, mode)


def _write_element(x: Any, index: Any, value: Any, op: str, mode: Any, wrap: bool) -> Any:
    """`write` at one position: `_write_general`."""
    start = broadcast_in_dim_p.bind(_wrapped(index, x.shape[0], wrap), shape=(1,), sharding=None, broadcast_dimensions=())
    return getattr(lax, _SCATTERS[op] + "_p").bind(
        x, start, broadcast_to(value, x.shape[1:]), dimension_numbers=_element_numbers(x.ndim), indices_are_sorted=True,
        unique_indices=True, mode=lax.GatherScatterMode.from_any(mode), update_jaxpr=None, update_consts=())


@functools.lru_cache(None)
def _element_numbers(rank: int) -> Any:
    return lax.ScatterDimensionNumbers(tuple(range(rank - 1)), (0,), (0,))


def _has_negative(index: tuple) -> bool:
    return any(type(p) is int and p < 0 for p in index)


def _fitted(value: Any, plan: Any, what: str) -> Any:
    """``value`` broadcast to the shape of the result, without the new axes."""
    own = shape_of(value)
    target = plan.shape
    if target == plan.kept and (own == target or own == ()):
        return broadcast_to(value, target)
    extra = len(own) - len(target)
    if extra > 0 and all(n == 1 for n in own[:extra]):  # as NumPy: leading axes of length 1 are ignored
        value = lax.reshape(value, own[extra:])
        own = own[extra:]
    try:
        fits = np.broadcast_shapes(own, target) == tuple(target)
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"Incompatible shapes for broadcasting: a value of shape {own} cannot be written to {what} of "
                         f"shape {target}.")
    if target != plan.kept:  # drop what stands at new axes
        aligned = (1,) * (len(target) - len(own)) + tuple(own)
        value = lax.reshape(as_array(value), tuple(aligned[d] for d in plan.dims))
    return broadcast_to(value, plan.kept) if shape_of(value) != plan.kept or not hasattr(value, "shape") else value


def _write_static(x: Any, value: Any, plan: Static, op: str) -> Any:
    if 0 in plan.kept:
        _fitted(value, plan, "a slice")
        return x
    sizes = tuple(b - a for a, b in zip(plan.starts, plan.limits))
    value = _fitted(value, plan, "a slice")
    if plan.squeeze:
        value = lax.reshape(value, sizes) if isinstance(value, Array) or value.shape else \
            broadcast_in_dim_p.bind(value, shape=sizes, broadcast_dimensions=(), sharding=None)
    if op != "set":
        old = x if plan.whole else lax.slice_p.bind(x, start_indices=plan.starts, limit_indices=plan.limits, strides=None)
        value = _combine(op, old, value)
    if plan.whole:
        return _full_value(x, value)
    return lax.dynamic_update_slice(x, value, plan.starts)


def _full_value(x: Any, value: Any) -> Any:
    """``value``, which replaces all of ``x``, as an array of its weakness."""
    return as_array(value)


def _write_general(x: Any, value: Any, plan: General, op: str, is_sorted: bool, unique: bool, mode: Any) -> Any:
    value = _fitted(value, plan, "elements")
    if 0 in plan.kept or 0 in x.shape:
        return x
    if not plan.columns and plan.kept == x.shape:
        return _full_value(x, _combine(op, x, value))
    if not plan.batch:
        is_sorted = unique = True
    numbers = lax.ScatterDimensionNumbers(plan.offsets, plan.collapsed, tuple(c[0] for c in plan.columns))
    scatter = getattr(lax, _SCATTERS[op])
    return scatter(x, _index_array(plan), value, numbers, indices_are_sorted=is_sorted, unique_indices=unique, mode=mode)


def _host_write(x: Any, index: tuple, value: Any) -> Any | None:
    """`write` of "set" by NumPy for a static index in bounds, if that is possible at once with the same result."""
    for part in index:
        if type(part) not in (int, slice, type(None), type(Ellipsis)):
            return None
    kind = type(value)
    if kind not in (bool, int, float, complex):
        if isinstance(value, Tracer) or not isinstance(value, (Array, np.ndarray, np.generic)):
            return None
        if value.dtype != x.dtype:
            return None
    elif dtypes.result_type(x, value) != x.dtype:
        return None
    view = host_view(x)
    if view is None:
        return None
    if kind not in (bool, int, float, complex) and isinstance(value, Array):
        value = host_view(value)
        if value is None:
            return None
    elif kind is int and view.dtype.kind in "iu":
        value = convert(value, view.dtype)
    out = view.copy()
    try:
        out[index] = value
    except (IndexError, ValueError, TypeError):
        return None
    return backends.get().from_host(out, x.weak_type)


# -- x.at --------------------------------------------------------------------------------------------------------------

class _At:
    """``x.at``: waits for the index."""

    __slots__ = ("array",)

    def __init__(self, array):
        self.array = array

    def __getitem__(self, index):
        return _AtIndex(self.array, index)

    def __repr__(self):
        return f"_At({self.array!r})"


class _AtIndex:
    """``x.at[index]``: its methods return a copy of ``x`` with some elements changed, or read them with options.

    All take ``indices_are_sorted``, ``unique_indices`` (promises that may make them faster), ``mode`` (what becomes of
    positions out of bounds: "drop" or "fill", "clip", "promise_in_bounds") and ``wrap_negative_indices``.
    """

    __slots__ = ("array", "index")

    def __init__(self, array, index):
        self.array, self.index = array, index

    def __repr__(self):
        return f"_AtIndex({self.array!r}, {self.index!r})"

    def get(self, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None,
            fill_value: Any = None, out_sharding: Any = None, wrap_negative_indices: bool = True,
            strategy: str = "auto") -> Array:
        """``x[index]`` with options. ``fill_value`` is what positions out of bounds read with mode "fill"."""
        from .creation import placed
        index = as_tuple(self.index)
        if mode is None and fill_value is None and wrap_negative_indices and not unique_indices and not indices_are_sorted:
            return placed(getitem(self.array, index), None, out_sharding)
        if fill_value is not None and mode is None:
            mode = "fill"
        if fill_value is not None:
            fill_value = np.asarray(concrete(fill_value), self.array.dtype)[()] if concrete(fill_value) is not None \
                else fill_value
        out = read(self.array, index, mode=mode, fill_value=fill_value, unique_indices=unique_indices,
                   indices_are_sorted=indices_are_sorted, wrap=wrap_negative_indices)
        return placed(out, None, out_sharding)

    def set(self, values: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None,
            out_sharding: Any = None, wrap_negative_indices: bool = True) -> Array:
        """``x`` with ``x[index] = values``."""
        return self._write("set", values, indices_are_sorted, unique_indices, mode, out_sharding, wrap_negative_indices)

    def add(self, values: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None,
            out_sharding: Any = None, wrap_negative_indices: bool = True) -> Array:
        """``x`` with ``x[index] += values``; positions that come twice are added to twice."""
        return self._write("add", values, indices_are_sorted, unique_indices, mode, out_sharding, wrap_negative_indices)

    def subtract(self, values: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None,
                 out_sharding: Any = None, wrap_negative_indices: bool = True) -> Array:
        """``x`` with ``x[index] -= values``."""
        return self._write("subtract", values, indices_are_sorted, unique_indices, mode, out_sharding,
                           wrap_negative_indices)

    def multiply(self, values: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None,
                 out_sharding: Any = None, wrap_negative_indices: bool = True) -> Array:
        """``x`` with ``x[index] *= values``."""
        return self._write("multiply", values, indices_are_sorted, unique_indices, mode, out_sharding,
                           wrap_negative_indices)

    mul = multiply

    def min(self, values: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None,
            out_sharding: Any = None, wrap_negative_indices: bool = True) -> Array:
        """``x`` with the minimum of ``x[index]`` and ``values``."""
        return self._write("min", values, indices_are_sorted, unique_indices, mode, out_sharding, wrap_negative_indices)

    def max(self, values: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None,
            out_sharding: Any = None, wrap_negative_indices: bool = True) -> Array:
        """``x`` with the maximum of ``x[index]`` and ``values``."""
        return self._write("max", values, indices_are_sorted, unique_indices, mode, out_sharding, wrap_negative_indices)

    def divide(self, values: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None,
               out_sharding: Any = None, wrap_negative_indices: bool = True) -> Array:
        """``x`` with ``x[index] /= values``, as a quotient of ``x`` by the product of what meets in an element."""
        from .creation import ones_like
        from .arithmetic import divide
        factors = _AtIndex(ones_like(self.array), self.index)._write(
            "multiply", values, indices_are_sorted, unique_indices, mode, out_sharding, wrap_negative_indices)
        return convert(divide(self.array, factors), self.array.dtype)

    def power(self, values: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None,
              out_sharding: Any = None, wrap_negative_indices: bool = True) -> Array:
        """``x`` with ``x[index] **= values``."""
        from .creation import ones_like
        from .arithmetic import power
        exponents = _AtIndex(ones_like(self.array), self.index)._write(
            "multiply", values, indices_are_sorted, unique_indices, mode, out_sharding, wrap_negative_indices)
        return power(self.array, exponents)

    def apply(self, func: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None,
              wrap_negative_indices: bool = True) -> Array:
        """``x`` with ``func``, a function of one number, applied to ``x[index]``, once for each time a position comes."""
        plan = general_plan(self.array.shape, as_tuple(self.index), wrap_negative_indices)
        if 0 in plan.kept:
            return self.array
        numbers = lax.ScatterDimensionNumbers(plan.offsets, plan.collapsed, tuple(c[0] for c in plan.columns))
        return lax.scatter_apply(self.array, _index_array(plan), func, numbers, update_shape=plan.kept,
                                 indices_are_sorted=indices_are_sorted, unique_indices=unique_indices, mode=mode)

    def _write(self, op, values, indices_are_sorted, unique_indices, mode, out_sharding, wrap):
        out = write(self.array, self.index, values, op, indices_are_sorted=indices_are_sorted,
                    unique_indices=unique_indices, mode=mode, wrap=wrap)
        if out_sharding is None:
            return out
        from .creation import placed
        return placed(out, None, out_sharding)


# -- take --------------------------------------------------------------------------------------------------------------

def take(a: Any, indices: Any, axis: int | None = None, out: None = None, mode: str | None = None,
         unique_indices: bool = False, indices_are_sorted: bool = False, fill_value: Any = None) -> Array:
    """The slices of ``a`` at ``indices`` along an axis.

    Args:
      a: array.
      indices: array of integers of any shape, which takes the place of the axis.
      axis: None to take from the flattened array.
      out: must be None.
      mode: for positions out of bounds: "fill" (default: NaN, or the lowest or largest integer), "clip", "wrap".
      unique_indices, indices_are_sorted: promises about the positions.
      fill_value: what "fill" gives instead.

    Raises:
      TypeError: indices that are not integers. NotImplementedError: ``mode="raise"``.

    Source: `numpy.take`.
    """
    from .promotion import canonical_axis, refuse_out
    from .shaping import ravel
    refuse_out("take", out)
    check_arraylike("take", a, indices)
    a = ravel(a) if axis is None else as_array(a)
    axis = canonical_axis(0 if axis is None else axis, a.ndim)
    indices = unwrapped(indices)
    if not dtypes.issubdtype(dtypes.dtype(indices), np.integer):
        raise TypeError(f"take indices must be integers, got {dtypes.dtype(indices)}; round and convert them, or use a "
                        "boolean mask in a[mask].")
    if mode == "raise":
        raise NotImplementedError("The 'raise' mode to jnp.take is not supported.")
    if mode == "wrap":
        from .arithmetic import remainder
        if a.shape[axis]:
            indices = remainder(indices, a.shape[axis])
        mode = "promise_in_bounds"
    if not isinstance(indices, (Array, np.ndarray)):
        indices = np.asarray(indices)
    index = (*[slice(None)] * axis, indices)
    return _AtIndex(a, index).get(mode="fill" if mode is None else mode, fill_value=fill_value,
                                  unique_indices=unique_indices, indices_are_sorted=indices_are_sorted)


def take_along_axis(arr: Any, indices: Any, axis: int | None = -1, mode: Any = None, fill_value: Any = None, *,
                    wrap_negative_indices: bool = True) -> Array:
    """For each line along an axis, the elements at that line's own indices.

    Args:
      arr: array.
      indices: integers, of the rank of ``arr``; other axes broadcast against those of ``arr``.
      axis: None for the flattened array.
      mode: "fill" (default), "clip" or "promise_in_bounds", for positions out of bounds.
      fill_value: what "fill" reads.
      wrap_negative_indices: whether negative positions count from the end.

    Raises:
      TypeError: indices that are not integers. ValueError: another rank than that of ``arr``.

    Source: `numpy.take_along_axis`.
    """
    from .promotion import canonical_axis
    from .shaping import ravel
    check_arraylike("take_along_axis", arr, indices)
    indices = as_array(indices)
    if not dtypes.issubdtype(indices.dtype, np.integer):
        raise TypeError(f"take_along_axis indices must be of integer type, got {indices.dtype}")
    if axis is None:
        if indices.ndim != 1:
            raise ValueError(f"take_along_axis indices must be 1D if axis=None, got shape {indices.shape}")
        arr, axis = ravel(arr), 0
    arr = as_array(arr)
    if arr.ndim != indices.ndim:
        raise ValueError(f"indices and arr must have the same number of dimensions; {indices.ndim} vs. {arr.ndim}")
    axis = canonical_axis(axis, arr.ndim)
    lead = np.broadcast_shapes(_without(arr.shape, axis), _without(indices.shape, axis))
    return _take_along(arr, indices, axis, lead, mode, fill_value, wrap_negative_indices)


def _without(shape: tuple, axis: int) -> tuple:
    return shape[:axis] + (1,) + shape[axis + 1:]


def _take_along(arr, indices, axis, lead, mode, fill_value, wrap):
    """A gather with batching axes: the other axes are shared, so no positions are written out for them."""
    n, m = arr.shape[axis], indices.shape[axis]
    full_indices = (*lead[:axis], m, *lead[axis + 1:])
    if 0 in full_indices:
        return lax.full(full_indices, 0, arr.dtype)
    operand = broadcast_to(arr, (*lead[:axis], n, *lead[axis + 1:]))
    indices = broadcast_to(_wrapped(indices, n, wrap), full_indices)
    shared = tuple(i for i in range(arr.ndim) if i != axis)
    numbers = lax.GatherDimensionNumbers((), (axis,), (axis,), shared, shared)
    starts = lax.reshape(indices, (*full_indices, 1))
    return lax.gather(operand, starts, numbers, (1,) * arr.ndim, mode="fill" if mode is None else mode,
                      fill_value=fill_value)
