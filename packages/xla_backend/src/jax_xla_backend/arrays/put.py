"""Making arrays: from host values, and from arrays on other devices.

`from_host` and `put` are what the rest of the system calls; the public functions are built on them, in `device_put` and
`from_parts`.

Values without a placement are *uncommitted*: they live on the default device and follow the committed operands of a
computation. Naming a device or a sharding commits.
"""
from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Mapping, Sequence

import numpy as np

from jax_core import backends
from jax_core.configuration import context, engine, flags
from jax_core.programs.jit import jit
from jax_core.representation import dtypes
from jax_core.representation.aval import ShapedArray, ShapeDtypeStruct, foreign_value, get_aval
from jax_core.representation.dtypes import explicit_dtype
from jax_core.representation.manual_axis_type import UnreducedKind
from jax_core.representation.memory import Space, of_kind
from jax_core.representation.placements import is_open
from jax_core.representation.splits import in_type
from jax_core.traces import structural
from jax_core.traces.trace import EVAL, Tracer, escaped

from ..jaxlib_compat import _jax, make_array
from ..placement import mesh
from ..placement.layout import AutoLayout, Format, Layout
from ..placement.partition_spec import UNCONSTRAINED, PartitionSpec
from ..placement.sharding import NamedSharding, Sharding, make_single_device_sharding
from ..platforms import client
from . import own_layouts, transfer_guards
from .array import ArrayImpl, check_not_deleted, host_value, is_unreduced

if TYPE_CHECKING:
    from jax_core.representation.aval import AbstractValue
    from jax_core.representation.typing import Shape

put_cpp = functools.partial(_jax.batched_device_put, enable_x64=True)  # we narrow where narrowing is due
put_now = _jax.batched_device_put  # the same for the most frequent calls, which give all arguments: a partial costs 0.3 us
_COPY = _jax.HostBufferSemantics.IMMUTABLE_ONLY_DURING_CALL
_ALIAS = _jax.HostBufferSemantics.ZERO_COPY


class _Default:
    """The default device, as the arguments that `batched_device_put` wants; made anew when the setting changes."""

    __slots__ = ("sharding", "devices", "platform")

    def __init__(self, device: Any):
        self.sharding, self.devices = make_single_device_sharding(device), [device]
        self.platform = device.platform


_default: _Default | None = None
_host: _Default | None = None


def _forget_default(*_: Any) -> None:
    global _default, _host
    _default = _host = None


engine.on_change("jax_default_device", _forget_default)
client.process_forked.add(_forget_default)
mesh.first_used.add(_forget_default)


def default_placement() -> _Default:
    """The default device of this thread."""
    global _default
    found = _default
    if found is None:
        found = _Default(client.default_device())
        if flags.default_device.value is flags.default_device.global_value and not mesh.ever_used():  # else it holds in this thread only
            _default = found
    return found


def _mesh_for_new(ndim: int = 0) -> NamedSharding | None:
    """Where new arrays go: whole to each device of the mesh set by `set_mesh`; None while there is none, and while a program is traced.

    Those with an ``ndim`` are results of functions, whose types have an entry for each axis.
    """
    here = mesh.get_mesh()
    if here.empty or context.state.trace is not EVAL:
        return None
    return NamedSharding(here, PartitionSpec(*[None] * (ndim if here.explicit_axes else 0)))


def from_host(x: np.ndarray, weak_type: bool = False, computed: bool = False) -> Any:
    """An array of the contents of ``x``, uncommitted, but where a mesh is set.

    They are copied: XLA could share only what happens to be aligned to 64 bytes, and what is shared cannot be donated in place.
    """
    if computed and transfer_guards.used():
        with transfer_guards.own():
            return _from_host(x, weak_type)
    dtype = x.dtype
    if dtype.itemsize >= 8 and not computed and (narrow := explicit_dtype(dtype)) != dtype:  # 64 bits wide, and x64 is off
        x = x.astype(narrow)
    return _from_host(x, weak_type)


def _from_host(x, weak_type):
    where, dtype = _default, x.dtype
    if not dtype.itemsize:  # float0: without contents, so it stays
        return x
    if where is None:
        where = default_placement()
        if mesh.ever_used() and (everywhere := _mesh_for_new(x.ndim)) is not None:
            return _distribute(x, ShapedArray(x.shape, dtype, weak_type), everywhere)
    return put_now(ShapedArray(x.shape, dtype, weak_type), where.sharding, [x], where.devices, False, False, _COPY, True)


def on_host(x: np.ndarray) -> Any:
    """An array of the contents of ``x``, which nobody writes to any more, committed to the first CPU device of this process."""
    global _host
    where = _host
    if where is None:
        where = _host = _Default(client.local_devices(backend="cpu")[0])
    return put_now(ShapedArray(x.shape, x.dtype), where.sharding, [x], where.devices, True, False, _ALIAS, True)


def put(x: object, aval: AbstractValue | None = None, placement: object = None, may_alias: bool = False, on_mesh: bool = True) -> Any:
    """An array with the contents of ``x``.

    Args:
      x: an array, a NumPy value or a Python scalar. NumPy contents are copied.
      aval: type of the result, default that of ``x``.
      placement: a device or a sharding; None leaves an array where it is and puts all else on the mesh that is set, or the default device.
      may_alias: the result may share memory with a NumPy array, which nobody writes to from now on.
      on_mesh: false has what is not placed go to the default device though a mesh is set.

    Raises:
      TypeError: ``x`` is not a valid JAX value.
      ValueError: the shape does not fit the sharding.
    """
    if type(x) is ArrayImpl:
        return _put_array(x, aval, placement)
    if aval is None:
        aval = get_aval(x)
    if not isinstance(x, np.ndarray | np.generic | bool | int | float | complex):
        if hasattr(x, "__jax_array__"):
            return put(x.__jax_array__(), aval, placement, may_alias)
        x = _from_elsewhere(x, aval)
    value = np.asarray(x, dtype=aval.dtype)
    if value.shape != aval.shape:
        raise ValueError(f"put: a value of shape {value.shape} cannot become an array of type {aval.str_short()}")
    if value.dtype == dtypes.float0:
        return value
    how = _ALIAS if may_alias else _COPY
    if placement is None:
        where = _default
        if where is None:
            where = default_placement()
            if on_mesh and mesh.ever_used() and (everywhere := _mesh_for_new()) is not None:
                return _distribute(value, aval, everywhere, how)
        return put_now(aval, where.sharding, [value], where.devices, False, False, how, True)
    if isinstance(placement, Format) and placement.layout is not None:
        return _laid_out(_distribute(value, aval, as_sharding(placement), how), placement)
    return _distribute(value, aval, as_sharding(placement), how)


def _put_array(x: ArrayImpl, aval: AbstractValue | None, placement: object) -> Any:
    """`put` of an array: the same buffers where nothing has to move."""
    if isinstance(placement, Space):  # only the memory changes, not the devices
        x = x if placement is Space.Any else _move(x, x.sharding.with_memory_kind(placement.memory_kind))
    elif placement is not None:
        x = _move(x, as_sharding(placement, x._sharding))
        if isinstance(placement, Format) and placement.layout is not None:
            x = _laid_out(x, placement)
    if aval is not None:
        aval = typed(aval, x._sharding)
    return x if aval is None or aval is x.aval or aval == x.aval else _retype(x, aval)


def _from_elsewhere(x: Any, aval: AbstractValue) -> Any:
    """The NumPy value of what is neither NumPy's nor a number, nor an array of ours. Raises where it has none."""
    if isinstance(x, ShapeDtypeStruct):
        raise TypeError(f"{x!r} is the type of an array and has no values; make an array of that type, or trace with it (jax.eval_shape, lower)")
    if isinstance(x, Tracer):
        raise escaped(x)
    if aval.is_high:
        raise NotImplementedError(f"put: {x!r} has the high-level type {aval}, and device_put does not place such values; place the arrays "
                                  "that it is made of")
    return foreign_value(x)


def _laid_out(x: ArrayImpl, wanted: Format) -> ArrayImpl:
    """``x``, which is where it shall be, stored as ``wanted`` says.

    Raises:
      ValueError: the layout is for another number of axes, or left to the compiler.
    """
    layout = wanted.layout
    if not isinstance(layout, Layout):
        raise ValueError(f"device_put: {wanted} leaves the layout to the compiler, which there is none here; give a Layout, as compiled "
                         "programs have in input_formats")
    layout.check_compatible_aval(x.shape)
    if layout.describes(x._pjrt_layout):
        return x
    own_layouts.expect()
    return _stored_as(Format(layout, x._sharding))(x)


@functools.lru_cache(maxsize=256)
def _stored_as(wanted: Format) -> Any:
    """A program that copies its argument to another order of storage."""
    return jit(lambda x: x, out_shardings=wanted)


def _retype(x: ArrayImpl, aval: Any) -> ArrayImpl:
    """The same buffers with another weak type (or, if the dtype differs, a converted copy)."""
    if x.dtype != aval.dtype or x.shape != aval.shape:
        return put(host_value(x).astype(aval.dtype).reshape(aval.shape), aval, x.sharding if x.committed else None)
    check_not_deleted(x)
    return make_array(aval, x.sharding, x._arrays, x.committed)


def as_sharding(placement: object, here: Sharding | None = None) -> Sharding:
    """``placement`` (a device, a sharding, a `Format`, a `PartitionSpec`, a kind of memory) as a sharding.

    Args:
      here: where the array is; a placement on an abstract mesh takes its devices from there first.

    Raises:
      ValueError: it is none of these, or no devices are known for it.
    """
    if isinstance(placement, Sharding):
        if is_open(placement):
            return default_placement().sharding
        return placement if placement._is_concrete else on_devices(placement, here)
    if isinstance(placement, client.Device):
        client.get_client(placement.client)
        return make_single_device_sharding(placement)
    if isinstance(placement, Format):
        return placement.sharding if placement.sharding is not None else default_placement().sharding
    if isinstance(placement, Space):
        here = default_placement().sharding
        return here if placement is Space.Any else here.with_memory_kind(placement.memory_kind)
    if isinstance(placement, PartitionSpec):
        current = mesh.current_mesh()
        if (current is None or current.empty) and not mesh.get_abstract_mesh().empty:
            return NamedSharding(mesh.get_abstract_mesh(), placement)
        if current is None or current.empty:
            raise ValueError(f"device_put: {placement} names axes of a mesh, and none is set; call jax.set_mesh(mesh), or pass "
                             "NamedSharding(mesh, spec)")
        around = mesh.get_abstract_mesh()
        if around.manual_axes or around.empty:
            pass
        elif around.shape_tuple != current.shape_tuple and around.size == current.size:  # inside use_abstract_mesh, which names the devices anew
            current = mesh.renamed(current, around)
        elif around.axis_types != current.axis_types and around.axis_names == current.axis_names:  # inside auto_axes, explicit_axes
            current = current.update(axis_types=around.axis_types)
        return NamedSharding(current, placement)
    raise ValueError(f"device_put: device={placement!r}, of type {type(placement).__name__}, names no place; give a Device "
                     "(of jax.devices()), a Sharding, a PartitionSpec, a Format or None, or a pytree of such")


def asked_for(placement: Any, shape: Shape) -> Any:
    """The sharding that `jit` is asked to give a value; see `jax_core.interfaces.Placements`."""
    sharding = placement
    if isinstance(placement, PartitionSpec):
        if ((here := mesh.current_mesh()) is None or here.empty) and mesh.get_abstract_mesh().empty:
            raise RuntimeError(f"{placement} requires a non-empty mesh in context: call jax.set_mesh(mesh), or give a NamedSharding")
        sharding = as_sharding(placement)
    elif isinstance(placement, Format):
        if isinstance(placement.layout, Layout):
            placement.layout.check_compatible_aval(tuple(shape))
        sharding = None if placement.sharding is None else asked_for(placement.sharding, shape)
        return Format(placement.layout, sharding) if placement.layout is not None else sharding
    elif isinstance(placement, (Layout, AutoLayout)):
        raise ValueError(f"a layout alone is no placement, got {placement}; wrap it: Format({placement}, sharding)")
    elif not isinstance(placement, Sharding):
        raise TypeError(f"leaf specifications are expected to be a Sharding, a PartitionSpec or None, got {placement!r} of type "
                        f"{type(placement).__name__}")
    sharding.check_compatible_aval(shape)
    if all([isinstance(n, int) for n in shape]):
        sharding.shard_shape(shape)
    return sharding


def on_devices(placement: Sharding, here: Sharding | None = None) -> Sharding:
    """A placement in a type, on the devices of an array that lies ``here``, or of a mesh in use.

    Raises:
      ValueError: neither has its axes.
    """
    known = getattr(here, "mesh", None)
    same = isinstance(known, mesh.Mesh) and known.shape_tuple == placement.mesh.shape_tuple
    found = known if same else mesh.with_devices(placement.mesh)
    if found is None and context.state.trace is not EVAL:  # the program that is traced runs nowhere yet
        return placement
    if found is None:
        raise ValueError(f"{placement} has no devices, as its mesh is abstract, and no mesh of these axes is in use; call "
                         "jax.set_mesh(mesh)")
    return NamedSharding(found, placement.spec, memory_kind=placement.memory_kind)


def typed(aval: AbstractValue, sharding: Sharding) -> Any:
    """The type of an array of type ``aval`` that lies as ``sharding`` says."""
    wanted, space = in_type(sharding, len(aval.shape)) if type(sharding) is NamedSharding else None, of_kind(sharding.memory_kind)
    return aval if aval.placement == wanted and aval.memory_space is space else aval.update(sharding=wanted, memory_space=space)


def _check_fits(shape: tuple[int, ...], sharding: Sharding) -> None:
    if type(sharding) is NamedSharding and UNCONSTRAINED in sharding.spec.partitions:
        raise ValueError(f"device_put of an array of shape {shape}: {sharding.spec} leaves an axis to the compiler (UNCONSTRAINED), and no program is "
                         "compiled here; name mesh axes, or None")
    try:
        sharding.shard_shape(shape)
    except ValueError as error:
        raise type(error)(f"device_put of an array of shape {shape}: {error}") from None


def _distribute(value: np.ndarray, aval: Any, sharding: Sharding, how: Any = _COPY) -> ArrayImpl:
    """A committed array of the contents of ``value`` with the given sharding.

    jaxlib cannot copy on behalf of several devices while the call lasts, so for those NumPy makes the copies.
    """
    devices, parts, wanted = _cuts(sharding, value.shape, flags.remove_size_one_mesh_axis_from_type.value)
    space = of_kind(sharding.memory_kind)
    aval = aval if aval.placement == wanted and aval.memory_space is space else aval.update(sharding=wanted, memory_space=space)
    if not devices:  # all of it is on devices of other processes, which make the same call
        return make_array(aval, sharding, [], True)
    if client.is_described(devices[0].client):
        raise _only_described(devices[0])
    if parts is None:
        return put_cpp(aval, sharding, [value], list(devices), True, False, how)
    if is_unreduced(sharding):
        return put_cpp(aval, sharding, _addends(value, sharding, parts), list(devices), True)
    if how == _COPY:
        value = value.copy()
    return put_cpp(aval, sharding, [np.asarray(value[parts[d]]) for d in devices], list(devices), True)


def put_parts(shape: tuple[int, ...], sharding: Sharding, parts: Sequence[np.ndarray]) -> ArrayImpl:
    """An array of the parts of this process's devices, in their order, whose memory is nobody else's."""
    return put_cpp(typed(ShapedArray(shape, parts[0].dtype), sharding), sharding, list(parts), list(sharding._addressable_device_assignment), True)


@functools.lru_cache(maxsize=512)
def _cuts(sharding: Sharding, shape: tuple[int, ...], without_ones: bool) -> tuple[tuple, Mapping | None, Any]:
    """The devices of this process, the part that each of them holds (None: there is one device in all), and what the type says of the placement.

    ``without_ones`` is a flag that this depends on.
    """
    wanted = in_type(sharding, len(shape)) if type(sharding) is NamedSharding else None
    devices = sharding._addressable_device_assignment
    if len(sharding._internal_device_list) == 1:
        return devices, None, wanted
    if devices and client.is_described(devices[0].client):
        return devices, {}, wanted
    _check_fits(shape, sharding)
    return devices, sharding.addressable_devices_indices_map(shape), wanted


def _addends(value: np.ndarray, sharding: Sharding, parts: Mapping) -> list[np.ndarray]:
    """The parts of ``value`` for each device, of which those along the unreduced mesh axes add up (or are the same) to it."""
    if sharding.spec.unreduced_kind is not UnreducedKind.sum:
        return [np.array(value[part]) for part in parts.values()]
    grid = sharding.mesh
    axes = [i for i, name in enumerate(grid.axis_names) if name in sharding.spec.unreduced]
    first = {d for place, d in np.ndenumerate(grid.devices) if not any([place[i] for i in axes])}
    return [np.array(value[part]) if d in first else np.zeros_like(value[part]) for d, part in parts.items()]


def _move(x: ArrayImpl, sharding: Sharding) -> ArrayImpl:
    """``x`` with another sharding, committed; the same buffers where that is the same placement."""
    check_not_deleted(x)
    if x._committed and x._sharding == sharding:
        return x
    _check_fits(x.shape, sharding)
    if x._sharding == sharding or x._sharding.is_equivalent_to(sharding, x.ndim):
        return make_array(typed(x.aval, sharding), sharding, x._arrays, True)
    if is_unreduced(x._sharding) or is_unreduced(sharding):  # a sum over devices is to be made, or left to be made
        return backends.get().evaluate(structural.reshard_p, (x,), dict(dst_sharding=sharding))
    old, new = x._sharding._internal_device_list, sharding._internal_device_list
    if client.is_described(new[0].client):
        raise _only_described(new[0])
    near = x.is_fully_addressable and sharding.is_fully_addressable
    if near and len(old) == len(new) and (len(new) == 1 or _same_parts(x, sharding)):
        moved = _jax.batched_copy_array_to_devices_with_sharding(
            [x], [new], [sharding], [_jax.ArrayCopySemantics.ALWAYS_COPY])[0]
        aval = typed(x.aval, sharding)
        return moved if moved._committed and moved.aval is aval else make_array(aval, sharding, moved._arrays, True)
    if not x.is_fully_addressable and not x.is_fully_replicated:
        return _exchange(x, sharding)
    if not transfer_guards.used():
        return _distribute(host_value(x), x.aval, sharding)
    transfer_guards.check("device_to_device", f"an array of type {x.aval.str_short()} to {sharding}")
    with transfer_guards.own():  # over the host
        return _distribute(host_value(x), x.aval, sharding)


def _exchange(x: ArrayImpl, sharding: Sharding) -> ArrayImpl:
    """`_move` of an array of which other processes hold parts: they make the same call, and a program moves the parts."""
    old, new = x._sharding, sharding
    if len(new._internal_device_list) == 1:
        raise ValueError(f"device_put: an array of type {x.aval.str_short()} that lies on devices of several processes cannot be put on one device, "
                         f"{new}; use jax.experimental.multihost_utils.process_allgather, or x.addressable_shards")
    if old._internal_device_list == new._internal_device_list:
        return _identity_to(sharding)(x)
    whole = NamedSharding(mesh.Mesh(np.array(old._device_assignment, dtype=object), ("devices",)), PartitionSpec())  # other devices, or another order
    return _distribute(host_value(_identity_to(whole)(x)), x.aval, sharding)


@functools.lru_cache(256)
def _identity_to(sharding: Sharding) -> Any:
    return jit(lambda x: x, out_shardings=sharding)


def _only_described(device: Any) -> ValueError:
    return ValueError(f"device_put: {device} of kind {device.device_kind!r} is only described, and nothing can be put there; lower with "
                      "jax.ShapeDtypeStruct(shape, dtype, sharding=...) to compile for it.")


def _same_parts(x: ArrayImpl, sharding: Sharding) -> bool:
    """Whether the i-th device holds the same part before and after."""
    before, after = x._sharding.devices_indices_map(x.shape), sharding.devices_indices_map(x.shape)
    return list(before.values()) == list(after.values())


__all__ = ["as_sharding", "asked_for", "default_placement", "from_host", "on_host", "put", "put_parts"]
