"""Arrays from parts: of the devices of this process, of a callback, of the processes of a program, of a list of devices."""
from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from jax_core.representation import dtypes, tree
from jax_core.representation.aval import ShapedArray, described_value, get_aval
from jax_core.representation.errors import UnexpectedTracerError
from jax_core.representation.placements import is_placement
from jax_core.representation.typing import ArrayLike, DTypeLike, Placement, PyTree
from jax_core.traces.trace import Tracer

from ..jaxlib_compat import make_array
from ..placement import mesh
from ..placement.layout import AutoLayout, Format
from ..placement.partition_spec import PartitionSpec
from ..placement.sharding import NamedSharding, Sharding, make_single_device_sharding
from . import transfer_guards
from .array import ArrayImpl, is_unreduced
from .put import as_sharding, put, put_parts, typed

if TYPE_CHECKING:
    from jax_core.representation.typing import DeviceLike


def make_array_from_single_device_arrays(shape: Sequence[int], sharding: Sharding, arrays: Sequence[ArrayLike], *,
                                         dtype: DTypeLike | None = None) -> ArrayImpl:
    """An array out of the parts that this process's devices hold.

    Args:
      shape: of the whole array.
      sharding: of the whole array.
      arrays: one array for each device of this process that ``sharding`` names, in any order.
      dtype: needed where this process has no part.

    Raises:
      TypeError: ``arrays`` is not a sequence of arrays.
      ValueError: a wrong number of parts, or a part of the wrong shape or dtype or on the wrong device.

    >>> x = jnp.arange(3)
    >>> jax.make_array_from_single_device_arrays((3,), x.sharding, [x])
    Array([0, 1, 2], dtype=int32)
    """
    shape = tuple(shape)
    if isinstance(arrays, (list, tuple)) and any(isinstance(a, Tracer) for a in arrays):
        raise ValueError("make_array_from_single_device_arrays: `arrays` holds traced values; inside a jitted function "
                         "use jax.lax.with_sharding_constraint or jax.shard_map")
    if not isinstance(arrays, (list, tuple)):
        raise TypeError("make_array_from_single_device_arrays: `arrays` must be a list or tuple of jax.Array, got "
                        f"{described_value(arrays)}; for one device write [array]")
    kind = _extended(arrays)
    if kind is not None:
        whole = kind.physical_aval(ShapedArray(shape, kind)).shape
        return kind.wrap(make_array_from_single_device_arrays(whole, sharding, [kind.unwrap(a) for a in arrays]))
    other = next((a for a in arrays if not isinstance(a, ArrayImpl)), None)
    if other is not None:
        raise TypeError("make_array_from_single_device_arrays: `arrays` must be a list or tuple of jax.Array, got one with "
                        f"{described_value(other)}; put each part on its device first, by jax.device_put")
    if not isinstance(sharding, Sharding):
        raise TypeError(f"make_array_from_single_device_arrays: sharding must be a Sharding, got {sharding!r}")
    devices = sharding._addressable_device_assignment
    if not arrays and dtype is None:
        raise ValueError("make_array_from_single_device_arrays: without parts, dtype must be given")
    aval = ShapedArray(shape, arrays[0].dtype if dtype is None else dtypes.canonicalize_dtype(dtype),
                       bool(arrays) and arrays[0].weak_type)
    if len(arrays) != len(devices):
        raise ValueError(f"make_array_from_single_device_arrays: sharding has {len(devices)} devices of this process, so expected "
                         f"as many arrays, got {len(arrays)}")
    part = sharding.shard_shape(shape)
    by_device = {}
    for a in arrays:
        if len(a.sharding.device_set) != 1:
            raise ValueError("make_array_from_single_device_arrays: each of `arrays` must lie on one device, got one of shape "
                             f"{a.shape} that lies on {len(a.sharding.device_set)}; give its parts, [s.data for s in x.addressable_shards]")
        if a.shape != part:
            raise ValueError(f"Expected shard shape {part} doesn't match the single device array shape {a.shape}. Shape of "
                             f"Array is {aval.str_short()} with sharding {sharding}")
        if a.dtype != aval.dtype:
            raise ValueError(f"make_array_from_single_device_arrays: parts have dtypes {aval.dtype} and {a.dtype}; all "
                             "must be the same")
        by_device[a.device] = a
    if set(by_device) != set(devices):
        raise ValueError(f"Addressable devices and per-device arrays devices do not match: the sharding names "
                         f"{sorted(map(str, devices))}, the parts are on {sorted(map(str, by_device))}")
    return make_array(typed(aval, sharding), sharding, [by_device[d] for d in devices], True)


def _extended(values: Sequence[object]) -> Any:
    """The dtype of the arrays, if they are all of one that NumPy does not have, as that of random keys."""
    found = {dtype if isinstance(dtype := getattr(v, "dtype", None), dtypes.ExtendedDType) else None for v in values}
    return found.pop() if len(found) == 1 else None


def make_array_from_callback(shape: Sequence[int], sharding: Placement, data_callback: Callable[[Any], Any],
                             dtype: DTypeLike | None = None) -> ArrayImpl:
    """An array whose parts are made by ``data_callback(index)``, called once for each different part.

    Args:
      shape: of the whole array.
      sharding: of the whole array.
      data_callback: takes a tuple of slices and returns that part.
      dtype: needed where this process has no part.

    Raises:
      ValueError: a part has the wrong shape, or another dtype than ``dtype``.
      TypeError: ``sharding`` is none, or a format that names none or leaves the layout to the compiler; a part is no array.
      NotImplementedError: ``sharding`` names unreduced axes, of whose addends an index says nothing.

    >>> place = jnp.zeros(()).sharding
    >>> jax.make_array_from_callback((4,), place, lambda index: np.arange(4)[index])
    Array([0, 1, 2, 3], dtype=int32)
    """
    if isinstance(sharding, Format):
        if sharding.sharding is None or isinstance(sharding.layout, AutoLayout):
            raise TypeError(f"make_array_from_callback: {sharding} must have a sharding, and a Layout or None")
        made_usual = make_array_from_callback(shape, sharding.sharding, data_callback, dtype)
        return made_usual if sharding.layout is None else put(made_usual, None, sharding)
    if not is_placement(sharding):
        raise TypeError(f"make_array_from_callback: sharding must be a jax.sharding.Sharding, a PartitionSpec or a Format, got {sharding!r} of type "
                        f"{type(sharding).__name__}")
    shape, place = tuple(shape), as_sharding(sharding)
    if is_unreduced(place):
        raise NotImplementedError(f"make_array_from_callback: {place} says that devices hold addends of a sum, and the index of a part does not tell them "
                                  "apart; use make_array_from_single_device_arrays.")
    part_shape = place.shard_shape(shape)
    devices, indices, numbers = _different(place, shape)
    made = []
    for index in indices:
        value = data_callback(index)
        if type(value) is not np.ndarray:
            if isinstance(value, Tracer):
                raise UnexpectedTracerError(f"make_array_from_callback: data_callback({index}) returned {value}, whose contents are not known "
                                            "yet; call make_array_from_callback outside of the jitted function")
            if value is None:
                raise TypeError(f"make_array_from_callback: data_callback({index}) returned None; it must return the part of that index")
        if np.shape(value) != part_shape:
            raise ValueError(f"make_array_from_callback: data_callback({index}) returned an array of shape "
                             f"{np.shape(value)}; the part has shape {part_shape}")
        made.append(value)
    values = [made[i] for i in numbers]
    keys = _extended(made)
    if keys is not None:
        words = [put(keys.unwrap(v), None, make_single_device_sharding(d)) for d, v in zip(devices, values)]
        return make_array_from_single_device_arrays(shape, place, list(map(keys.wrap, words)))
    kinds = {v.dtype if type(v) is np.ndarray else None for v in made}
    if len(kinds) == 1 and None not in kinds and (dtype is None or kinds == {np.dtype(dtype)}):
        kind = get_aval(values[0]).dtype  # TypeError for text and objects
        copies = [np.array(v, kind) for v in made]
        return put_parts(shape, place, [copies[i] for i in numbers])
    made_of = {id(v): get_aval(v).dtype if type(v) in (bool, int, float, complex) else None for v in values}
    values = [v if made_of[id(v)] is None else np.asarray(v, made_of[id(v)]) for v in values]  # a Python number has a dtype then
    parts = [put(v, None, make_single_device_sharding(d, memory_kind=place.memory_kind)) for d, v in zip(devices, values)]
    return make_array_from_single_device_arrays(shape, place, parts, dtype=dtype)


@functools.lru_cache(maxsize=512)
def _different(place: Sharding, shape: tuple[int, ...]) -> tuple[tuple, tuple, tuple[int, ...]]:
    """The devices of this process, the different parts of an array of this shape that they hold, and the number of the part of each."""
    indices = place.addressable_devices_indices_map(shape)
    number_of: dict[tuple, int] = {}
    different: list[tuple] = []
    numbers: list[int] = []
    for index in indices.values():
        key = tuple([(s.start, s.stop) for s in index])
        if key not in number_of:
            number_of[key] = len(different)
            different.append(index)
        numbers.append(number_of[key])
    return tuple(indices), tuple(different), tuple(numbers)


def make_array_from_process_local_data(sharding: Placement, local_data: PyTree,
                                       global_shape: PyTree = None) -> Any:
    """An array, or a tree of arrays, of which each process gives the data that its own devices hold.

    Args:
      sharding: of the whole array (or a tree of shardings).
      local_data: this process's data (a tree).
      global_shape: shape of the whole (or a tree of shapes, a prefix of ``local_data``); default the local shape times the number of
        processes along the axes that are split between processes. Along an axis where both are as long, the local data is all of it.

    Raises:
      ValueError: the local data does not fit.

    >>> jax.make_array_from_process_local_data(jnp.zeros(()).sharding, np.arange(3))
    Array([0, 1, 2], dtype=int32)
    """
    leaves, structure = tree.tree_flatten(local_data)
    if _is_shape(global_shape):
        shapes = [global_shape] * len(leaves)
    else:
        shapes = tree.broadcast_prefix(global_shape, local_data, is_leaf=_is_shape)
    placements = tree.broadcast_prefix(sharding, local_data, is_leaf=lambda s: isinstance(s, (Sharding, PartitionSpec)))
    with transfer_guards.explicit():
        made = [_from_local(where, np.asarray(x), shape) for where, x, shape in zip(placements, leaves, shapes)]
    return tree.tree_unflatten(structure, made)


def _is_shape(x: object) -> bool:
    return x is None or isinstance(x, (tuple, list)) and all(n is None or isinstance(n, (int, np.integer)) for n in x)


def _from_local(sharding: Any, local: np.ndarray, global_shape: Sequence[int] | None) -> ArrayImpl:
    sharding = as_sharding(sharding)
    if sharding.is_fully_addressable:
        shape = local.shape if global_shape is None else tuple(
            n if g is None else g for n, g in zip(local.shape, global_shape))
        if shape != local.shape:
            raise ValueError(f"make_array_from_process_local_data: local data of shape {local.shape} cannot fill an array "
                             f"of shape {shape}; in one process they must be the same")
        return put(local, None, sharding)
    shape = _global_shape(sharding, local) if global_shape is None else tuple(
        n if g is None else g for n, g in zip(_global_shape(sharding, local), global_shape, strict=True))
    boxes = list(sharding.addressable_devices_indices_map(shape).values())
    places = [_local_places(axis, boxes, n, shape, local.shape) for axis, n in enumerate(shape)]
    return make_array_from_callback(shape, sharding, lambda index: local[tuple(
        found[s.start or 0] for found, s in zip(places, index))])


def _local_places(axis: int, boxes: list, length: int, shape: tuple, local: tuple) -> dict[int, slice]:
    """Where in the local data those parts lie, along one axis, that begin at each place of the whole array of ``length``."""
    parts = sorted({(s[axis].start or 0, length if s[axis].stop is None else s[axis].stop) for s in boxes})
    if local[axis] == length:  # the process gives all of it
        return {start: slice(start, stop) for start, stop in parts}
    held = sum(stop - start for start, stop in parts)
    if local[axis] != held:
        raise ValueError(f"make_array_from_process_local_data: local data of shape {local} cannot fill this process's part of an array of shape {shape}, "
                         f"which has {held} of the {length} rows along axis {axis}; give these, or all")
    ends = np.cumsum([0, *(stop - start for start, stop in parts)])
    return {start: slice(int(a), int(b)) for (start, _), a, b in zip(parts, ends, ends[1:])}


def _global_shape(sharding: Any, local: np.ndarray) -> tuple[int, ...]:
    """The local shape, with every axis that is split between processes as often longer as this process's share asks."""
    every = sharding.num_devices
    trial = tuple(n * every for n in local.shape)
    boxes = list(sharding.addressable_devices_indices_map(trial).values())
    shape = []
    for axis, n in enumerate(local.shape):
        own = {(s[axis].start or 0, trial[axis] if s[axis].stop is None else s[axis].stop) for s in boxes}
        held = sum(stop - begin for begin, stop in own)
        shape.append(n * trial[axis] // held)
    return tuple(shape)


def device_put_sharded(shards: Sequence[object], devices: Sequence[DeviceLike]) -> Any:
    """Put the i-th of ``shards`` (trees of one structure) on the i-th device, stacked along a new first axis.

    Raises:
      ValueError: the numbers of shards and devices differ.
    """
    if len(shards) != len(devices):
        raise ValueError(f"device_put_sharded: {len(shards)} shards for {len(devices)} devices; give one for each")
    grid = mesh.Mesh(np.array(devices, dtype=object), ("_device_put_sharded",))
    sharding = NamedSharding(grid, PartitionSpec("_device_put_sharded"))

    def stack(*parts):
        parts = [put(np.asarray(p)[None], None, d) for p, d in zip(parts, devices)]
        return make_array_from_single_device_arrays((len(parts), *parts[0].shape[1:]), sharding, parts)

    return tree.tree_map(stack, *shards)


def device_put_replicated(x: object, devices: Sequence[DeviceLike]) -> Any:
    """Put a copy of ``x`` on each device, stacked along a new first axis.

    Raises:
      ValueError: there are no devices.
    """
    if not devices:
        raise ValueError("device_put_replicated: devices is empty; name at least one")
    return device_put_sharded([x] * len(devices), devices)


__all__ = ["device_put_replicated", "device_put_sharded", "make_array_from_callback", "make_array_from_process_local_data",
           "make_array_from_single_device_arrays"]
