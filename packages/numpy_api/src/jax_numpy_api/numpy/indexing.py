"""``x[index]`` and ``x.at[index]``: NumPy's indexing on immutable arrays.

`index_plans` takes an index apart; here it is done, from the cheapest form of plan to the dearest:

- *static*: `slice`, `rev`, `squeeze` (and `dynamic_update_slice` to write);
- *scalar*: `dynamic_slice`;
- *general*: one `gather`, or one `scatter` to write.

Eagerly, an index into an array that is ready in host memory is done on a NumPy view.

A position out of bounds reads the nearest element, and is dropped in writing, unless ``mode`` says otherwise. Where it is one of an
array of positions, the element gets no derivative from it.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Iterator

import numpy as np

from jax_core import backends
from jax_core.configuration import context, flags
from jax_core.representation import dtypes, source, splits
from jax_core.representation.arguments import check_callable, joint_shape
from jax_core.representation.array import Array
from jax_core.representation.aval import get_aval
from jax_core.representation.errors import ShardingTypeError
from jax_core.representation.source import attributed_to, capture
from jax_core.representation.tracebacks import api_boundary
from jax_core.traces import structural
from jax_core.traces.structural import broadcast_in_dim_p, convert_element_type_p
from jax_core.traces.trace import EVAL, Tracer
from jax_core.transformations.parts import is_large

from .. import lax
from ..lax.nary import flag, promise
from ..lax.positions import wide_positions
from .arithmetic import divide, power
from .creation import asarray, ones_like, placed
from .index_plans import (
    General,
    Scalar,
    Static,
    as_tuple,
    check_numbers,
    general_plan,
    index_array,
    is_known_number,
    positions_of,
    reading_plan,
    static_plan,
)
from .promotion import as_array, broadcast_to, check_arraylike, concrete, convert, host_view, shape_of, unwrapped

if TYPE_CHECKING:
    from jax_core.representation.typing import ArrayLike, Indexer, Placement, PyTree

    from ..lax.gather import Mode

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


_PROMISED = (None, "promise_in_bounds", lax.GatherScatterMode.PROMISE_IN_BOUNDS)
_UNFILLED = (lax.GatherScatterMode.CLIP, lax.GatherScatterMode.PROMISE_IN_BOUNDS)


def _read_general(x: Any, plan: General, mode: Any, fill_value: Any, unique: bool, is_sorted: bool, where: Any = None) -> Any:
    if not plan.columns and plan.kept == x.shape:
        return _with_new_axes(x, plan)
    if 0 in plan.kept:
        nothing = lax.full(plan.shape, 0, x.dtype)
        return convert_element_type_p.bind(nothing, new_dtype=x.dtype, weak_type=True, sharding=None) if x.weak_type else nothing
    if mode is None and fill_value is None:
        mode = lax.GatherScatterMode.PROMISE_IN_BOUNDS
    if 0 in x.shape and mode in (lax.GatherScatterMode.PROMISE_IN_BOUNDS, lax.GatherScatterMode.CLIP, "clip",
                                 "promise_in_bounds"):
        raise IndexError(f"index is out of bounds for an array of shape {x.shape}, which has no elements")
    if where is not None and (asked := splits.in_type(structural.resolved(where), len(plan.shape))) is not None:
        kept = asked if plan.shape == plan.kept else splits.with_entries(asked, tuple(asked.spec.partitions[d] for d in plan.dims))
        return _with_new_axes(lax.gather(x, index_array(plan), plan.reads, plan.slice_sizes, unique_indices=unique, indices_are_sorted=is_sorted,
                                         mode=mode, fill_value=fill_value, out_sharding=kept), plan)
    if fill_value is None and mode in _UNFILLED:
        out = lax.gather_p.bind(x, index_array(plan), dimension_numbers=plan.reads, slice_sizes=plan.slice_sizes,
                                unique_indices=unique, indices_are_sorted=is_sorted, mode=mode, fill_value=None)
    else:
        out = lax.gather(x, index_array(plan), plan.reads, plan.slice_sizes, unique_indices=unique,
                         indices_are_sorted=is_sorted, mode=mode, fill_value=fill_value)
    return _with_new_axes(out, plan)


# -- reading -----------------------------------------------------------------------------------------------------------

_LARGE = 1 << 18
"""Bytes of a slice, or of an array to write to, from which the backend shall choose where it is copied."""


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
    except (IndexError, TypeError, OverflowError):
        return None
    if out.nbytes >= _LARGE and out.base is not None:
        return None
    return backends.get().from_host(np.asarray(out, order="C"), x.weak_type, True)


_FEW_ROWS, _MANY_ROWS = 16, 100
"""How many are made without asking for more than one, and how many one operation makes."""


def rows_of(x: Array) -> Iterator[Any]:
    """The rows of ``x``, made when they are asked for: of a few all, of more of a large array the first, then many at once. The derivative of that joins
    them, where that of each by itself is as large as ``x`` (see `jax_core.transformations.parts`)."""
    n = x.shape[0]
    if dtypes.issubdtype(x.dtype, dtypes.extended) or n > _FEW_ROWS and not is_large(x.aval):
        yield from map(x.__getitem__, range(n))
    elif n <= _FEW_ROWS:
        yield from lax.unstack(x)
    else:
        yield x[0]
        parts = [x] if n <= _MANY_ROWS else lax.split(x, [min(_MANY_ROWS, n - start) for start in range(0, n, _MANY_ROWS)])
        yield from lax.unstack(parts[0])[1:]
        for part in parts[1:]:
            yield from lax.unstack(part)


def getitem(x: Array, index: Indexer, out_sharding: Placement | None = None) -> Any:
    """``x[index]``.

    Args:
      x: one of our arrays.
      index: integers, slices, `jax.ds`, None, Ellipsis, arrays of integers or of booleans, or a tuple of these. Booleans, and the
        bounds of slices, must be known while tracing; of ``jax.ds(start, size)`` only the size. It lies inside the axis, as a
        `lax.dynamic_slice` does, where its start is traced, and else is what a slice takes.
      out_sharding: how the result will be placed, where that does not follow from the operands.

    Raises:
      TypeError: a list or something that is no index. IndexError: too many indices; a slice with a traced bound.
      NonConcreteBooleanIndexError: a traced mask.
    """
    index = as_tuple(index)
    if context.state.trace is EVAL and not isinstance(x, Tracer):
        out = _host_read(x, index)
        if out is not None:
            return out
    if out_sharding is not None and any(splits.entries(get_aval(x))):  # a gather, as slices of what is split have no placement but their own
        return _read_general(x, general_plan(x.shape, index, True), None, None, False, False, out_sharding)
    plan = static_plan(x.shape, index)
    if plan is not None:
        if plan.clamped and flags.check_static_indices.value:
            check_numbers(x.shape, index)
        if not plan.clamped:  # a number out of bounds stays in the program, for checks to see
            return _read_static(x, plan)
    return read(x, index, out_sharding=out_sharding)


def check_filling(name: str, value: Any, dtype: Any) -> None:
    """Raise ValueError or TypeError if ``value`` is no single number that an array of ``dtype`` can have."""
    if np.ndim(value):
        raise ValueError(f"{name}: fill_value must be a single number, got {value!r} of shape {np.shape(value)}")
    if np.iscomplexobj(value) and not dtypes.issubdtype(dtype, np.complexfloating):
        raise TypeError(f"{name}: fill_value={value!r} is complex, and an array of {dtype} has no place for it")


def read(x: Array, index: tuple, *, mode: Mode = None, fill_value: ArrayLike | None = None, unique_indices: bool = False,
         indices_are_sorted: bool = False, wrap: bool = True, out_sharding: Placement | None = None) -> Any:
    """`getitem` with options; ``index`` is a tuple."""
    with attributed_to(capture()), wide_positions(x):  # found once for all operations
        if flags.check_static_indices.value and wrap and fill_value is None and mode in _PROMISED:
            check_numbers(x.shape, index)
        if mode is None and fill_value is None and wrap:
            plan = reading_plan(x.shape, index)
            if isinstance(plan, Scalar):
                return _read_scalar(x, index, plan)
        else:
            plan = general_plan(x.shape, index, wrap)
        return _read_general(x, plan, mode, fill_value, unique_indices, indices_are_sorted, out_sharding)


def _read_scalar(x: Any, index: tuple, plan: Scalar) -> Any:
    """Integers, some of them in arrays of rank 0, and slices: one `dynamic_slice`, after steps of slices."""
    if plan.before is not None and not plan.before.whole:
        x = lax.slice_p.bind(x, start_indices=plan.before.starts, limit_indices=plan.before.limits,
                             strides=plan.before.strides)
    starts: list = list(plan.starts)
    for axis, place, n in plan.numbers:
        starts[axis] = convert(positions_of(index[place], n, True), plan.dtype)
    x = lax.dynamic_slice_p.bind(x, *starts, slice_sizes=plan.sizes)
    if plan.reverse:
        x = lax.rev(x, plan.reverse)
    x = lax.squeeze_p.bind(x, dimensions=plan.squeeze)
    return lax.expand_dims(x, plan.new) if plan.new else x


# -- writing -----------------------------------------------------------------------------------------------------------

def _combine(op: str, old: Any, new: Any) -> Any:
    if op == "set":
        return new
    return {"add": lax.add, "subtract": lax.sub, "multiply": lax.mul, "min": lax.min, "max": lax.max}[op](old, new)


_SCATTERS = {"set": "scatter_p", "add": "scatter_add_p", "subtract": "scatter_sub_p", "multiply": "scatter_mul_p",
             "min": "scatter_min_p", "max": "scatter_max_p"}


def update_value(x: Array, value: ArrayLike, name: str, replaces: bool) -> Any:
    """The new value: one that takes the place of old ones in the dtype of ``x``, one that is combined with them in the dtype
    of both; with a warning where the dtype of ``x`` loses something."""
    if isinstance(value, (list, tuple)):
        value = asarray(value)
    check_arraylike(name, value)
    value = unwrapped(value)
    if hasattr(value, "dtype"):
        joined = x.dtype if value.dtype == x.dtype else _joined(x, value, value.dtype)
    elif getattr(x.dtype, "kind", "V") in _ROOM.get(type(value), ""):
        joined = x.dtype
    else:
        joined = _joined(x, value, dtypes.dtype(value))
    return convert(value, x.dtype if replaces else joined, False)


_ROOM = {bool: "biu", int: "iufc", float: "fc", complex: "c"}  # kinds of dtypes that hold Python numbers, also under strict promotion


def _joined(x: Any, value: Any, dtype: Any) -> Any:
    """The dtype of ``x`` and ``value``, which has dtype ``dtype``, with a warning where it is not that of ``x``."""
    joined = dtypes.result_type(x, value)
    if joined == x.dtype or isinstance(value, (np.ndarray, np.generic)) and dtypes.canonicalize_dtype(dtype) == x.dtype:
        return x.dtype
    source.warn(f"scatter inputs have incompatible types: cannot safely cast value from dtype={dtype} to "
                f"dtype={x.dtype} with jax_numpy_dtype_promotion={_promotion_mode()!r}. In future JAX releases this will "
                "result in an error.", FutureWarning)
    return joined


def _promotion_mode() -> str:
    return str(flags.numpy_dtype_promotion.value)


def write(x: Array, index: Indexer, value: Any, op: str, *, indices_are_sorted: bool = False, unique_indices: bool = False,
          mode: Mode = None, wrap: bool = True, asked: bool = False) -> Any:
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
      asked: the caller will say how the result is split, so that it need not follow from the operands.

    Raises:
      ValueError: ``value`` does not broadcast, or is split otherwise than what it is written to; an unknown ``mode``.
      ShardingTypeError: ``x`` is split along an axis that is indexed, or the index is.
    """
    index = as_tuple(index)
    if mode is not None:
        mode = lax.GatherScatterMode.from_any(mode)
    if op == "set" and wrap and context.state.trace is EVAL and not isinstance(x, Tracer):
        out = _host_write(x, index, value)
        if out is not None:
            return out
    value, own = update_value(x, value, f"x.at[...].{op}", op == "set"), x.dtype
    if value.dtype != own:
        wide = write(convert(x, value.dtype), index, value, op, indices_are_sorted=indices_are_sorted,
                     unique_indices=unique_indices, mode=mode, wrap=wrap, asked=asked)
        return convert_element_type_p.bind(wide, new_dtype=own, weak_type=x.weak_type, sharding=None)
    if x.weak_type:
        value = convert_element_type_p.bind(value, new_dtype=own, weak_type=True, sharding=None)
    plan = static_plan(x.shape, index)
    if plan is not None and plan.contiguous and (wrap or not _has_negative(index)) and not (asked and x.aval.placement is not None):
        return _write_static(x, value, plan, op)
    with attributed_to(capture()), wide_positions(x):  # found once for all operations
        general = general_plan(x.shape, index, wrap)
        return _write_general(x, value, general, op, indices_are_sorted, unique_indices, mode, asked)


def _has_negative(index: tuple) -> bool:
    return any(is_known_number(p) and p < 0 for p in index)


def _fitted(value: Any, plan: Any, what: str) -> Any:
    """``value`` broadcast to the shape of the result, without the new axes."""
    own = shape_of(value)
    target = plan.shape
    if target == plan.kept and (own == target or own == ()):
        return broadcast_to(value, target)
    try:
        fits = joint_shape(own, target) == tuple(target)
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"Incompatible shapes for broadcasting: a value of shape {own} cannot be written to {what} of "
                         f"shape {target}.")
    if target != plan.kept:  # drop what stands at new axes
        aligned = (1,) * (len(target) - len(own)) + tuple(own)
        value = lax.reshape(as_array(value), tuple(aligned[d] for d in plan.dims))
    return broadcast_to(value, plan.kept) if shape_of(value) != plan.kept or not hasattr(value, "shape") else value


def _split_as(value: Any, like: Any, entries: tuple) -> Any:
    """``value``, which is written to ``like``, with these entries, those of its place there."""
    wanted, given = splits.with_entries(like.aval.placement, entries), splits.entries(get_aval(value))
    if any([e is not None and e != w for e, w in zip(given, entries)]):
        raise ValueError(f"a value of type {get_aval(value).str_short()} cannot be written to a part of {like.aval.str_short()}, as that is "
                         f"split as {wanted.spec}; reshard the value first, by jax.sharding.reshard.")
    return value if wanted == get_aval(value).placement else structural.reshard(value, wanted)


def _static_entries(x: Any, plan: Static) -> tuple:
    """What the part of ``x`` that is written is split over."""
    entries = splits.entries(x.aval)
    if any([e is not None and b - a != n for e, a, b, n in zip(entries, plan.starts, plan.limits, x.shape)]):
        raise ShardingTypeError(f"x.at[...]: {x.aval.str_short()} is split along an axis that is indexed, so that how the result is split does "
                                "not follow; give it by out_sharding, or reshard the array first.")
    return tuple(e for d, e in enumerate(entries) if d not in plan.squeeze)


def _write_static(x: Any, value: Any, plan: Static, op: str) -> Any:
    if 0 in plan.kept:
        _fitted(value, plan, "a slice")
        return x
    sizes = tuple(b - a for a, b in zip(plan.starts, plan.limits))
    value = _fitted(value, plan, "a slice")
    if x.aval.placement is not None:
        value = _split_as(value, x, _static_entries(x, plan))
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
    """``value``, which replaces all of ``x``, as an array that is weakly typed as ``x`` is."""
    value = as_array(value)
    if value.weak_type == x.weak_type:
        return value
    return convert_element_type_p.bind(value, new_dtype=x.dtype, weak_type=x.weak_type, sharding=None)


def _write_general(x: Any, value: Any, plan: General, op: str, is_sorted: bool, unique: bool, mode: Any,
                   asked: bool) -> Any:
    value = _fitted(value, plan, "elements")
    if 0 in plan.kept or 0 in x.shape:
        return x
    if not plan.columns and plan.kept == x.shape:
        if x.aval.placement is not None:
            value = _split_as(value, x, splits.entries(x.aval))
        return _full_value(x, _combine(op, x, value))
    where = index_array(plan)
    if not asked and (x.aval.placement is not None or get_aval(where).placement is not None):
        from ..lax.scatter import update_entries  # start-up: with the first scatter
        entries = update_entries(_SCATTERS[op][:-2], x.aval, get_aval(where), plan.writes, plan.slice_sizes)
        if x.aval.placement is not None:
            value = _split_as(value, x, entries)
    if not plan.batch:
        is_sorted = unique = True
    is_sorted, unique = flag(is_sorted), flag(unique)
    return getattr(lax, _SCATTERS[op]).bind(
        x, where, value, dimension_numbers=plan.writes, indices_are_sorted=is_sorted, unique_indices=unique,
        mode=lax.GatherScatterMode.from_any(mode), update_jaxpr=None, update_consts=())


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
    elif getattr(x.dtype, "kind", "V") not in _ROOM[kind] and dtypes.result_type(x, value) != x.dtype:
        return None
    view = host_view(x)
    if view is None or view.nbytes >= _LARGE:
        return None
    if kind not in (bool, int, float, complex) and isinstance(value, Array):
        value = host_view(value)
        if value is None:
            return None
    elif kind is int and view.dtype.kind in "iu":
        value = convert(value, view.dtype)
    out = view.copy()
    try:
        if kind not in _ROOM and np.ndim(value) > np.ndim(out[index]):  # NumPy would ignore leading axes of length 1
            return None
        out[index] = value
    except (IndexError, ValueError, TypeError, OverflowError):
        return None
    return backends.get().from_host(out, x.weak_type, True)


# -- x.at --------------------------------------------------------------------------------------------------------------

class _IndexUpdateHelper:
    """``x.at``: waits for the index. unxt derives from it and from what it gives, and shows their names."""

    __slots__ = ("array",)

    def __init__(self, array):
        self.array = array

    def __getitem__(self, index):
        return _IndexUpdateRef(self.array, index)

    def __setitem__(self, index, value):
        raise TypeError("x.at[index] = value assigns nothing, as arrays do not change; write x = x.at[index].set(value)")

    def __call__(self, *index):
        raise TypeError("x.at is indexed, not called: write x.at[index].set(value)")

    def __getattr__(self, name):
        hint = f"; write x.at[index].{name}(...)" if hasattr(_IndexUpdateRef, name) else ""
        raise AttributeError(f"x.at, which waits for an index, has no attribute {name!r}{hint}", name=name, obj=self)

    def __repr__(self):
        return f"_IndexUpdateHelper({self.array!r})"


class _IndexUpdateRef:
    """``x.at[index]``: its methods return a copy of ``x`` with some elements changed, or read them with options.

    All take ``indices_are_sorted``, ``unique_indices`` (promises that may make them faster), ``mode`` (what becomes of
    positions out of bounds: "drop" or "fill", "clip", "promise_in_bounds") and ``wrap_negative_indices``.
    """

    __slots__ = ("array", "index")

    def __init__(self, array, index):
        self.array, self.index = array, index

    def __repr__(self):
        return f"_IndexUpdateRef({self.array!r}, {self.index!r})"

    def __getattr__(self, name: str) -> Any:
        methods = ", ".join(n for n in vars(_IndexUpdateRef) if not n.startswith("_") and n not in _IndexUpdateRef.__slots__)
        raise AttributeError(f"x.at[index] has no attribute {name!r}; its methods are {methods}", name=name, obj=self)

    @api_boundary
    def get(self, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Mode = None,
            fill_value: ArrayLike | None = None, out_sharding: Placement | None = None, wrap_negative_indices: bool = True,
            strategy: str = "auto") -> Array:
        """``x[index]`` with options. ``fill_value`` is what positions out of bounds read with mode "fill"; other modes have no use for it."""
        index = as_tuple(self.index)
        if mode is None and fill_value is None and wrap_negative_indices and not unique_indices and not indices_are_sorted:
            return placed(getitem(self.array, index, out_sharding), None, out_sharding)
        if mode is None:
            fill_value = None
        if fill_value is not None:
            check_filling("x.at[...].get", fill_value, self.array.dtype)
            fill_value = np.asarray(concrete(fill_value), self.array.dtype)[()] if concrete(fill_value) is not None \
                else fill_value
        out = read(self.array, index, mode=mode, fill_value=fill_value, unique_indices=unique_indices,
                   indices_are_sorted=indices_are_sorted, wrap=wrap_negative_indices, out_sharding=out_sharding)
        return placed(out, None, out_sharding)

    @api_boundary
    def set(self, values: ArrayLike, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Mode = None,
            out_sharding: Placement | None = None, wrap_negative_indices: bool = True) -> Array:
        """``x`` with ``x[index] = values``."""
        return self._write("set", values, indices_are_sorted, unique_indices, mode, out_sharding, wrap_negative_indices)

    @api_boundary
    def add(self, values: ArrayLike, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Mode = None,
            out_sharding: Placement | None = None, wrap_negative_indices: bool = True) -> Array:
        """``x`` with ``x[index] += values``; positions that come twice are added to twice."""
        return self._write("add", values, indices_are_sorted, unique_indices, mode, out_sharding, wrap_negative_indices)

    @api_boundary
    def subtract(self, values: ArrayLike, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Mode = None,
                 out_sharding: Placement | None = None, wrap_negative_indices: bool = True) -> Array:
        """``x`` with ``x[index] -= values``."""
        return self._write("subtract", values, indices_are_sorted, unique_indices, mode, out_sharding,
                           wrap_negative_indices)

    @api_boundary
    def multiply(self, values: ArrayLike, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Mode = None,
                 out_sharding: Placement | None = None, wrap_negative_indices: bool = True) -> Array:
        """``x`` with ``x[index] *= values``."""
        return self._write("multiply", values, indices_are_sorted, unique_indices, mode, out_sharding,
                           wrap_negative_indices)

    mul = multiply

    @api_boundary
    def min(self, values: ArrayLike, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Mode = None,
            out_sharding: Placement | None = None, wrap_negative_indices: bool = True) -> Array:
        """``x`` with the minimum of ``x[index]`` and ``values``."""
        return self._write("min", values, indices_are_sorted, unique_indices, mode, out_sharding, wrap_negative_indices)

    @api_boundary
    def max(self, values: ArrayLike, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Mode = None,
            out_sharding: Placement | None = None, wrap_negative_indices: bool = True) -> Array:
        """``x`` with the maximum of ``x[index]`` and ``values``."""
        return self._write("max", values, indices_are_sorted, unique_indices, mode, out_sharding, wrap_negative_indices)

    @api_boundary
    def divide(self, values: ArrayLike, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Mode = None,
               out_sharding: Placement | None = None, wrap_negative_indices: bool = True) -> Array:
        """``x`` with ``x[index] /= values``, as a quotient of ``x`` by the product of what meets in an element; of integers a
        float, as ``x / values`` is."""
        factors = _IndexUpdateRef(ones_like(self.array), self.index)._write(
            "multiply", values, indices_are_sorted, unique_indices, mode, out_sharding, wrap_negative_indices)
        return divide(self.array, factors)

    @api_boundary
    def power(self, values: ArrayLike, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Mode = None,
              out_sharding: Placement | None = None, wrap_negative_indices: bool = True) -> Array:
        """``x`` with ``x[index] **= values``."""
        exponents = _IndexUpdateRef(ones_like(self.array), self.index)._write(
            "multiply", values, indices_are_sorted, unique_indices, mode, out_sharding, wrap_negative_indices)
        return power(self.array, exponents)

    @api_boundary
    def apply(self, func: Callable[..., PyTree], *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Mode = None,
              wrap_negative_indices: bool = True) -> Array:
        """``x`` with ``func``, a function of one number, applied to ``x[index]``, once for each time a position comes."""
        check_callable("x.at[...].apply", func)
        plan = general_plan(self.array.shape, as_tuple(self.index), wrap_negative_indices)
        if 0 in plan.kept:
            return self.array
        return lax.scatter_apply(self.array, index_array(plan), func, plan.writes, update_shape=plan.kept,
                                 indices_are_sorted=indices_are_sorted, unique_indices=unique_indices, mode=mode)

    def _write(self, op, values, indices_are_sorted, unique_indices, mode, out_sharding, wrap):
        if indices_are_sorted is not False or unique_indices is not False:
            promise(f"x.at[...].{op}: indices_are_sorted", indices_are_sorted), promise(f"x.at[...].{op}: unique_indices", unique_indices)
        out = write(self.array, self.index, values, op, indices_are_sorted=indices_are_sorted,
                    unique_indices=unique_indices, mode=mode, wrap=wrap, asked=out_sharding is not None)
        if out_sharding is None:
            return out
        return placed(out, None, out_sharding)
