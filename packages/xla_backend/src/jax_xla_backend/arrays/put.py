"""Making arrays: from host values, from other devices, from parts.

`from_host` and `put` are what the rest of the system calls; the public functions (`device_put`, `device_get`,
`make_array_from_callback`, …) are built on them.

Values without a placement are *uncommitted*: they live on the default device and follow the committed operands of a
computation. Naming a device or a sharding commits.
"""
from __future__ import annotations

from typing import Any, Callable, Sequence

import numpy as np
from jax_core.configuration import engine, flags
from jax_core.representation import dtypes, tree
from jax_core.representation.dtypes import canonicalize_dtype
from jax_core.representation.aval import ShapedArray, foreign_value, get_aval, is_open
from jax_core.representation.primitive import LINEAR, Primitive
from jax_core.traces.trace import Tracer
from jax_core.representation.tracebacks import api_boundary
from jax_core.representation.typing import ArrayLike, DTypeLike, Placement, PyTree

from ..platforms import client
from . import transfer_guards
from ..placement import mesh
from .array import ArrayImpl, check_not_deleted, host_value, ready
from ..jaxlib_compat import _jax, make_array
from ..placement.layout import Format, Space
from ..placement.no_collectives import check_no_collectives, no_collectives
from ..placement.partition_spec import PartitionSpec
from ..placement.sharding import NamedSharding, Sharding, make_single_device_sharding

_put_cpp = _jax.batched_device_put
_COPY = _jax.HostBufferSemantics.IMMUTABLE_ONLY_DURING_CALL
_ALIAS = _jax.HostBufferSemantics.ZERO_COPY
_NUMBERS = (int, float, complex, np.generic)


class _Default:
    """The default device, as the arguments that `batched_device_put` wants; made anew when the setting changes."""

    __slots__ = ("sharding", "devices", "platform")

    def __init__(self, device: Any):
        self.sharding, self.devices = make_single_device_sharding(device), [device]
        self.platform = device.platform


_default: _Default | None = None


def _forget_default(*_: Any) -> None:
    global _default
    _default = None


engine.on_change("jax_default_device", _forget_default)
client.on_fork(_forget_default)


def default_placement() -> _Default:
    """The default device of this thread."""
    global _default
    found = _default
    if found is None:
        found = _Default(client.default_device())
        if flags.default_device.value is flags.default_device.global_value:  # else it holds in this thread only
            _default = found
    return found


def from_host(x: np.ndarray, weak_type: bool = False) -> ArrayImpl:
    """An uncommitted array of the contents of ``x``, which nobody writes to from now on.

    No copy is made where the buffer is aligned as XLA wants it (64 bytes).
    """
    where = _default or default_placement()
    dtype = x.dtype
    if not dtype.itemsize:  # float0: without contents, so it stays
        return x
    if dtype.itemsize >= 8 and (narrow := canonicalize_dtype(dtype)) != dtype:  # 64 bits wide, and x64 is off
        x, dtype = x.astype(narrow), narrow
    return _put_cpp(ShapedArray(x.shape, dtype, weak_type), where.sharding, [x], where.devices, False)


def put(x: Any, aval: Any = None, placement: Any = None, may_alias: bool = False) -> ArrayImpl:
    """An array with the contents of ``x``.

    Args:
      x: an array, a NumPy value or a Python scalar. NumPy contents are copied.
      aval: type of the result, default that of ``x``.
      placement: a device or a sharding; None leaves an array where it is and puts all else on the default device.
      may_alias: the result may share memory with a NumPy array, which nobody writes to from now on.

    Raises:
      TypeError: ``x`` is not a valid JAX value.
      ValueError: the shape does not fit the sharding.
    """
    if type(x) is ArrayImpl:
        if isinstance(placement, Space):  # only the memory changes, not the devices
            x = x if placement is Space.Any else _move(x, x.sharding.with_memory_kind(placement.value))
        elif placement is not None:
            x = _move(x, as_sharding(placement))
        return x if aval is None or aval is x.aval or aval == x.aval else _retype(x, aval)
    if aval is None:
        aval = get_aval(x)
    if not isinstance(x, np.ndarray | np.generic | bool | int | float | complex):
        if hasattr(x, "__jax_array__"):
            return put(x.__jax_array__(), aval, placement, may_alias)
        x = foreign_value(x)
    value = np.asarray(x, dtype=aval.dtype)
    if value.shape != aval.shape:
        raise ValueError(f"put: a value of shape {value.shape} cannot become an array of type {aval.str_short()}")
    if value.dtype == dtypes.float0:
        return value
    ours = isinstance(x, _NUMBERS) or isinstance(x, np.ndarray) and x.dtype != value.dtype  # made just now, by NumPy
    how = _ALIAS if may_alias or ours else _COPY
    if placement is None:
        where = _default or default_placement()
        return _put_cpp(aval, where.sharding, [value], where.devices, False, False, how)
    return _distribute(value, aval, as_sharding(placement), how)


def _retype(x: ArrayImpl, aval: Any) -> ArrayImpl:
    """The same buffers with another weak type (or, if the dtype differs, a converted copy)."""
    if x.dtype != aval.dtype or x.shape != aval.shape:
        return put(host_value(x).astype(aval.dtype).reshape(aval.shape), aval, x.sharding if x.committed else None)
    check_not_deleted(x)
    return make_array(aval, x.sharding, x._arrays, x.committed)


def as_sharding(placement: Any) -> Sharding:
    """``placement`` (a device, a sharding, a `Format`, a `PartitionSpec`, a kind of memory) as a sharding.

    Raises:
      ValueError: it is none of these.
    """
    if isinstance(placement, Sharding):
        return default_placement().sharding if is_open(placement) else placement
    if isinstance(placement, client.Device):
        client.get_client(placement.client)
        return make_single_device_sharding(placement)
    if isinstance(placement, Format):
        return placement.sharding if placement.sharding is not None else default_placement().sharding
    if isinstance(placement, Space):
        here = default_placement().sharding
        return here if placement is Space.Any else here.with_memory_kind(placement.value)
    if isinstance(placement, PartitionSpec):
        current = mesh.current_mesh()
        if current is None or current.empty:
            raise ValueError(f"device_put: {placement} names axes of a mesh, and none is set; call jax.set_mesh(mesh), or pass "
                             "NamedSharding(mesh, spec)")
        return NamedSharding(current, placement)
    raise ValueError(f"device_put: device={placement!r}, of type {type(placement).__name__}, names no place; give a Device, a "
                     "Sharding, a PartitionSpec, a Format or None, or a pytree of such")


def _check_fits(shape: tuple[int, ...], sharding: Sharding) -> None:
    try:
        sharding.shard_shape(shape)
    except ValueError as error:
        raise ValueError(f"device_put: an array of shape {shape} cannot be placed with {sharding}: {error}") from None


def _distribute(value: np.ndarray, aval: Any, sharding: Sharding, how: Any = _COPY) -> ArrayImpl:
    """A committed array of the contents of ``value`` with the given sharding.

    jaxlib cannot copy on behalf of several devices while the call lasts, so for those NumPy makes the copies.
    """
    devices = sharding._addressable_device_assignment
    if len(sharding._internal_device_list) == 1:
        return _put_cpp(aval, sharding, [value], list(devices), True, False, how)
    _check_fits(value.shape, sharding)
    parts = sharding.addressable_devices_indices_map(value.shape)
    if how == _COPY:
        value = value.copy()
    return _put_cpp(aval, sharding, [np.asarray(value[parts[d]]) for d in devices], list(devices), True)


def _move(x: ArrayImpl, sharding: Sharding) -> ArrayImpl:
    """``x`` with another sharding, committed; the same buffers where that is the same placement."""
    check_not_deleted(x)
    if x._sharding == sharding or x._sharding.is_equivalent_to(sharding, x.ndim):
        if x._committed and x._sharding == sharding:
            return x
        return make_array(x.aval, sharding, x._arrays, True)
    _check_fits(x.shape, sharding)
    old, new = x._sharding._internal_device_list, sharding._internal_device_list
    if len(old) == len(new) and (len(new) == 1 or _same_parts(x, sharding)):
        moved = _jax.batched_copy_array_to_devices_with_sharding(
            [x], [new], [sharding], [_jax.ArrayCopySemantics.ALWAYS_COPY])[0]
        return moved if moved._committed else make_array(x.aval, sharding, moved._arrays, True)
    return _distribute(host_value(x), x.aval, sharding)


def _same_parts(x: ArrayImpl, sharding: Sharding) -> bool:
    """Whether the i-th device holds the same part before and after."""
    before, after = x._sharding.devices_indices_map(x.shape), sharding.devices_indices_map(x.shape)
    return list(before.values()) == list(after.values())


# -- the primitive: device_put inside transformations ---------------------------------------------------------------

def _device_put_lower(b, x, *, placement):
    return b.sharding_constraint(x, placement) if isinstance(placement, NamedSharding) else x


device_put_p = Primitive(
    "device_put",
    out_type=lambda x, *, placement: x,
    jvp=LINEAR,
    transpose=lambda ct, x, *, placement: ct,
    batch=lambda axis, args, dims, *, placement: (device_put_p.bind(*args, placement=None), dims[0]),
    lower=_device_put_lower,
    impl=lambda x, *, placement: put(x, None, placement),
)


_PLACEMENTS = (client.Device, Sharding, Format, PartitionSpec, Space)


def _placements(device: Any, treedef: Any, count: int) -> list[Any]:
    """One placement for each leaf; ``device`` may be a tree that is a prefix of the values' tree."""
    if device is None or isinstance(device, _PLACEMENTS):
        return [device] * count
    leaf = lambda p: p is None or isinstance(p, _PLACEMENTS)
    if tree.tree_structure(device, leaf).num_leaves == 1 and leaf(device) is False and tree.all_leaves([device]):
        as_sharding(device)  # raises, and says what is allowed
    full = tree.tree_unflatten(treedef, range(count))
    return tree.broadcast_prefix(device, full, is_leaf=leaf)


@api_boundary
def device_put(x: PyTree, device: PyTree = None, *, src: PyTree = None, donate: bool = False,
               may_alias: bool | None = None) -> Any:
    """Copy values to devices.

    Args:
      x: a tree of arrays, NumPy values and Python scalars.
      device: a device, a sharding, a `Format`, a tree of these that is a prefix of ``x``; or None, which leaves arrays
        where they are and puts all else on the default device, uncommitted.
      src: where ``x`` is now; used by transposition only.
      donate: ``x`` is not used afterwards, so its memory may be freed.
      may_alias: the result may share memory with ``x``.

    Returns:
      the tree of arrays.

    Raises:
      TypeError: a leaf is not a valid JAX value.
      ValueError: ``device`` is of another kind, or a shape does not fit a sharding.
    """
    leaves, treedef = tree.tree_flatten(x)
    placements = _placements(device, treedef, len(leaves))
    donated = donate if isinstance(donate, bool) else False
    with transfer_guards.explicit():
        out = [_device_put_leaf(leaf, where, bool(may_alias), donated) for leaf, where in zip(leaves, placements)]
    return tree.tree_unflatten(treedef, out)


def _device_put_leaf(x: Any, placement: Any, may_alias: bool, donate: bool) -> Any:
    if isinstance(x, Tracer):
        return device_put_p.bind(x, placement=None if placement is None else as_sharding(placement))
    if not isinstance(x, (ArrayImpl, np.ndarray)) and hasattr(x, "_device_put"):
        return x._device_put(placement)  # arrays of extended types (keys) know their own parts
    try:
        result = put(x, None, placement, may_alias)
    except TypeError as error:
        raise TypeError(f"device_put: {error}") from None
    if donate and type(x) is ArrayImpl and result is not x:
        x.delete()
    return result


def reshard(xs: PyTree, out_shardings: PyTree) -> Any:
    """``xs`` (a tree of arrays) with other shardings.

    Args:
      xs: a tree of arrays.
      out_shardings: a sharding or `PartitionSpec`, or a tree of them that is a prefix of ``xs``.

    Raises:
      ValueError: a spec names a mesh axis that is not ``Explicit``.
    """
    for where in tree.tree_leaves(out_shardings, is_leaf=lambda p: isinstance(p, (Sharding, PartitionSpec))):
        sharding = as_sharding(where)
        if isinstance(sharding, NamedSharding):
            kinds = dict(zip(sharding.mesh.axis_names, sharding.mesh.axis_types))
            bad = [name for name in sharding.spec.axis_names() if kinds[name] is not mesh.AxisType.Explicit]
            if bad:
                raise ValueError(f"reshard: {sharding.spec} names axis {bad[0]!r}, which is {kinds[bad[0]].name}; only Explicit axes "
                                 "can be asked for here, for others use jax.lax.with_sharding_constraint")
    if no_collectives.value:
        wanted = tree.broadcast_prefix(out_shardings, xs, is_leaf=lambda p: isinstance(p, (Sharding, PartitionSpec)))
        for x, where in zip(tree.tree_leaves(xs), wanted):
            check_no_collectives(getattr(x, "sharding", None), as_sharding(where))
    return device_put(xs, out_shardings)


def device_get(x: PyTree) -> Any:
    """Copy a tree of values to the host: arrays become NumPy arrays, all else (tracers too) stays as it is.

    The transfers run at the same time.
    """
    leaves, treedef = tree.tree_flatten(x)
    with transfer_guards.explicit():
        copy_to_host_async(leaves)
        return tree.tree_unflatten(treedef, [_get_leaf(leaf) for leaf in leaves])


def _get_leaf(x: Any) -> Any:
    if isinstance(getattr(x, "dtype", None), dtypes.ExtendedDType):
        return x  # keys have no NumPy counterpart
    if isinstance(x, Tracer):
        return x  # it has no contents yet
    return np.asarray(x) if hasattr(x, "__array__") and not isinstance(x, np.generic) else x


def copy_to_host_async(x: PyTree) -> Any:
    """Begin the transfer of all arrays in the tree ``x`` to the host, and return ``x``."""
    for leaf in tree.tree_leaves(x):
        begin = getattr(leaf, "copy_to_host_async", None)
        if begin is not None:
            begin()
    return x


def block_until_ready(x: PyTree) -> Any:
    """Wait until all arrays in the tree ``x`` are computed, and return ``x``."""
    done = []
    for leaf in tree.tree_leaves(x):
        if type(leaf) is ArrayImpl and not leaf.is_deleted() and ready(leaf):
            done.append(leaf)  # or failed: asked about below, all at once
        else:
            wait = getattr(leaf, "block_until_ready", None)
            if wait is not None:
                wait()
    try:
        _jax.batched_block_until_ready(done)
    except Exception:
        for leaf in done:
            leaf.block_until_ready()  # one of them raises the error
        raise
    return x


def device_put_sharded(shards: Sequence[Any], devices: Sequence[Any]) -> Any:
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


def device_put_replicated(x: Any, devices: Sequence[Any]) -> Any:
    """Put a copy of ``x`` on each device, stacked along a new first axis.

    Raises:
      ValueError: there are no devices.
    """
    if not devices:
        raise ValueError("device_put_replicated: devices is empty; name at least one")
    return device_put_sharded([x] * len(devices), devices)


# -- arrays from parts -----------------------------------------------------------------------------------------------

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
    """
    shape = tuple(shape)
    if not isinstance(arrays, (list, tuple)) or not all(isinstance(a, ArrayImpl) for a in arrays):
        raise TypeError("make_array_from_single_device_arrays: `arrays` must be a list or tuple of jax.Array, got "
                        f"{type(arrays).__name__}{' of ' + type(arrays[0]).__name__ if len(arrays) else ''}")
    if not isinstance(sharding, Sharding):
        raise TypeError(f"make_array_from_single_device_arrays: sharding must be a Sharding, got {sharding!r}")
    devices = sharding._addressable_device_assignment
    if not arrays and dtype is None:
        raise ValueError("make_array_from_single_device_arrays: without parts, dtype must be given")
    aval = ShapedArray(shape, arrays[0].dtype if dtype is None else np.dtype(dtype),
                       bool(arrays) and arrays[0].weak_type)
    if len(arrays) != len(devices):
        raise ValueError(f"make_array_from_single_device_arrays: sharding has {len(devices)} devices of this process, so expected "
                         f"as many arrays, got {len(arrays)}")
    part = sharding.shard_shape(shape)
    by_device = {}
    for a in arrays:
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
    return make_array(aval, sharding, [by_device[d] for d in devices], True)


def make_array_from_callback(shape: Sequence[int], sharding: Placement, data_callback: Callable[[Any], Any],
                             dtype: DTypeLike | None = None) -> ArrayImpl:
    """An array whose parts are made by ``data_callback(index)``, called once for each different part.

    Args:
      shape: of the whole array.
      sharding: of the whole array.
      data_callback: takes a tuple of slices and returns that part.
      dtype: needed where this process has no part.

    Raises:
      ValueError: a part has the wrong shape.
    """
    shape, sharding = tuple(shape), as_sharding(sharding)
    part_shape = sharding.shard_shape(shape)
    made: dict[Any, Any] = {}
    parts = []
    for device, index in sharding.addressable_devices_indices_map(shape).items():
        key = tuple((s.start, s.stop) for s in index)
        if key not in made:
            made[key] = value = data_callback(index)
            if np.shape(value) != part_shape:
                raise ValueError(f"make_array_from_callback: data_callback({index}) returned an array of shape "
                                 f"{np.shape(value)}; the part has shape {part_shape}")
        value = made[key]
        parts.append(put(value if dtype is None else np.asarray(value, dtypes.canonicalize_dtype(dtype)), None, device))
    return make_array_from_single_device_arrays(shape, sharding, parts, dtype=dtype)


def make_array_from_process_local_data(sharding: Placement, local_data: PyTree,
                                       global_shape: Sequence[int] | None = None) -> Any:
    """An array, or a tree of arrays, of which each process gives the data that its own devices hold.

    Args:
      sharding: of the whole array (or a tree of shardings).
      local_data: this process's data (a tree).
      global_shape: shape of the whole; default the local shape times the number of processes along the axes that
        are split between processes.

    Raises:
      ValueError: the local data does not fit.
    """
    return tree.tree_map(lambda x: _from_local(sharding, np.asarray(x), global_shape), local_data)


def _from_local(sharding: Any, local: np.ndarray, global_shape: Sequence[int] | None) -> ArrayImpl:
    sharding = as_sharding(sharding)
    if sharding.is_fully_addressable:
        shape = local.shape if global_shape is None else tuple(
            n if g is None else g for n, g in zip(local.shape, global_shape))
        if shape != local.shape:
            raise ValueError(f"make_array_from_process_local_data: local data of shape {local.shape} cannot fill an array "
                             f"of shape {shape}; in one process they must be the same")
        return put(local, None, sharding)
    shape = _global_shape(sharding, local) if global_shape is None else tuple(global_shape)
    boxes = list(sharding.addressable_devices_indices_map(shape).values())
    start = [min(s[axis].start or 0 for s in boxes) for axis in range(len(shape))]

    def part(index):
        return local[tuple(slice(None) if local.shape[axis] == shape[axis] else slice((s.start or 0) - o, s.stop - o)
                           for axis, (s, o) in enumerate(zip(index, start)))]

    return make_array_from_callback(shape, sharding, part)


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


def live_arrays(platform: str | None = None) -> list[ArrayImpl]:
    """All arrays on the devices of a platform (default: the default platform) that are not deleted."""
    return [a for a in client.get_client(platform).live_arrays() if not a.is_deleted()]


__all__ = ["block_until_ready", "copy_to_host_async", "device_get", "device_put",
           "device_put_replicated", "device_put_sharded", "from_host", "live_arrays", "make_array_from_callback",
           "make_array_from_process_local_data", "make_array_from_single_device_arrays", "put", "reshard"]
