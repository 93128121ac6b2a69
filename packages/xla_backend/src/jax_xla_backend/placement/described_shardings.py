"""Placements as plain data, for programs that outlive their devices: axes of a mesh with their sizes, and the partition.

``{"axes": [["x", 2], ["y", 4]], "spec": ["x", null, ["y"]]}`` is a `NamedSharding` on any mesh of these axes. Where they are told,
``kinds`` are those of the axes, ``device`` what is known of the devices, ``memory`` the kind of memory, and ``unreduced``, ``reduced``
and ``sum`` mesh axes over which sums are still to be made, or were, and by what. With ``own_mesh`` the axes are not the user's, but made up for
tiles that XLA counts.
"""
from __future__ import annotations

import dataclasses
import functools
import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from jax_core.representation.manual_axis_type import UnreducedKind

from ..jaxlib_compat import HloSharding
from ..platforms import client
from .mesh import AbstractDevice, AbstractMesh, AxisType, Mesh, block_mesh, get_abstract_mesh, get_mesh
from .partition_spec import PartitionSpec
from .sharding import NamedSharding, Sharding
from .sharding_protos import get_op_sharding_from_serialized_proto

if TYPE_CHECKING:
    from jax_core.representation.typing import ShardingLike


def is_spread(where: object) -> bool:
    """Whether it is a sharding over more than one device."""
    return isinstance(where, Sharding) and where.num_devices > 1


def describe(sharding: ShardingLike | None) -> dict | None:
    """The placement as data; None for the usual memory of one device.

    Raises:
      NotImplementedError: on several devices, and not a `NamedSharding`.
    """
    if isinstance(sharding, Sharding) and sharding.num_devices == 1 and sharding.memory_kind == "pinned_host":
        return in_host_memory(0)
    if not isinstance(sharding, Sharding) or sharding.num_devices == 1:
        return None
    if not isinstance(sharding, NamedSharding):
        raise NotImplementedError(f"export: placements on several devices must be NamedShardings, got {sharding}")
    spec = [list(e) if isinstance(e, tuple) else e if e is None else str(e) for e in sharding.spec.partitions]
    found = {"axes": [[str(name), int(size)] for name, size in sharding.mesh.shape.items()], "spec": spec}
    if sharding.mesh.explicit_axes:
        found["kinds"] = [kind.name for kind in sharding.mesh.axis_types]
        device = sharding.mesh.abstract_mesh.abstract_device
        found["device"] = None if device is None else dataclasses.astuple(device)
    for name in ("unreduced", "reduced"):
        if getattr(sharding.spec, name):
            found[name] = sorted(getattr(sharding.spec, name))
    if sharding.spec.unreduced:
        found["sum"] = sharding.spec.unreduced_kind.name
    if sharding.memory_kind not in (None, "device"):
        found["memory"] = sharding.memory_kind
    return found


def in_host_memory(ndim: int) -> dict:
    """The description of an array with ``ndim`` axes in the host's memory, for one device."""
    return {"axes": [], "spec": [None] * ndim, "memory": "pinned_host"}


def device_count(description: dict) -> int:
    """How many devices the placement is for."""
    return math.prod(size for _, size in description["axes"])


def _spec(description: dict) -> PartitionSpec:
    kind = description.get("sum")
    return PartitionSpec(*[tuple(e) if isinstance(e, list) else e for e in description["spec"]],
                         unreduced=frozenset(description.get("unreduced", ())), reduced=frozenset(description.get("reduced", ())),
                         unreduced_kind=None if kind is None else UnreducedKind[kind])


def _kinds(description: dict) -> tuple | None:
    return tuple(AxisType[kind] for kind in description["kinds"]) if "kinds" in description else None


def in_types(description: dict) -> NamedSharding:
    """The placement as types have it."""
    names, sizes = zip(*description["axes"])
    device = description.get("device")
    mesh = AbstractMesh(sizes, names, _kinds(description), abstract_device=None if device is None else AbstractDevice(*device))
    return NamedSharding(mesh, _spec(description))


def on_mesh(description: dict | None, mesh: Any) -> NamedSharding | None:
    """The placement on ``mesh``, which must have its axes.

    Raises:
      ValueError: an axis of the mesh has another size, or the mesh another count of devices.
    """
    if description is None:
        return None
    if "own_mesh" in description:
        names, sizes = zip(*description["axes"])
        if mesh.size != device_count(description):
            raise ValueError(f"the placement is on {device_count(description)} devices, and {mesh} has {mesh.size}; give one of as many.")
        mesh = AbstractMesh(sizes, names) if isinstance(mesh, AbstractMesh) else Mesh(mesh.devices.reshape(sizes), names)
    for name, size in description["axes"]:
        if mesh.shape.get(name, size) != size:
            raise ValueError(f"the placement is on a mesh with the axes {dict(description['axes'])}, and {mesh} has {mesh.shape[name]} devices along "
                             f"{name!r}; give one of the same shape.")
    memory = description.get("memory", "device" if isinstance(mesh, AbstractMesh) else None)
    return NamedSharding(mesh, _spec(description), memory_kind=memory)


def on_devices(description: dict) -> NamedSharding:
    """The placement on the first devices of the default platform.

    Raises:
      ValueError: there are not enough.
    """
    count, devices = device_count(description), client.devices()
    if count > len(devices):
        raise ValueError(f"exported for {count} devices and is called in a context with {len(devices)}")
    names, sizes = zip(*description["axes"])
    return NamedSharding(Mesh(np.array(devices[:count]).reshape(sizes), names, _kinds(description)), _spec(description))


def in_hlo(description: dict | None, ndim: int) -> Any:
    """The placement of an array with ``ndim`` axes as XLA has it."""
    if description is None:
        return None
    names, sizes = zip(*description["axes"]) if description["axes"] else ((), ())
    return NamedSharding(AbstractMesh(sizes, names), _spec(description))._to_xla_hlo_sharding(ndim)


_TILES = re.compile(r"\{devices=\[([\d,]+)\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?( last_tile_dim_replicate)?\}")


def of_hlo(data: bytes, ndim: int, count: int) -> dict:
    """The description of a placement of an array with ``ndim`` axes on ``count`` devices, as XLA stores it: its tiles on a mesh made for it.

    Raises:
      NotImplementedError: it is neither whole everywhere nor in tiles.
    """
    text = str(HloSharding.from_proto(get_op_sharding_from_serialized_proto(data)))
    if text == "{replicated}":
        return {"axes": [["d0", count]], "spec": [None] * ndim, "own_mesh": True}
    match = _TILES.fullmatch(text)
    if match is None:
        raise NotImplementedError(f"deserialize: the program is placed by {text}, which is no placement that a NamedSharding has")
    tiles, sizes = (list(map(int, group.split(","))) for group in match.group(1, 2))
    order = list(map(int, match[3].split(","))) if match[3] else list(range(len(sizes)))
    parts: dict[int, list[int]] = {i: [] for i in order}  # the sizes of the mesh axes that an axis of the grid of devices becomes
    left, spec = [[i, sizes[i]] for i in order], []
    for tile in tiles:
        axes = []
        while tile > 1:
            i, size = left[0]
            step = math.gcd(tile, size)
            parts[i].append(step)
            axes.append((i, len(parts[i]) - 1))
            tile //= step
            left[0][1] //= step
            if left[0][1] == 1:
                left.pop(0)
            elif step == 1:
                raise NotImplementedError(f"deserialize: the program is placed by {text}, whose tiles no mesh has")
        spec.append(axes)
    names = {(i, k): f"d{n}" for n, (i, k) in enumerate((i, k) for i in sorted(parts) for k in range(len(parts[i])))}
    return {"axes": [[name, parts[i][k]] for (i, k), name in names.items()],
            "spec": [[names[axis] for axis in axes] or None for axes in spec[:ndim]], "own_mesh": True}


def of_block() -> NamedSharding | None:
    """Where whole arrays lie in a ``with mesh:`` block."""
    here = block_mesh()
    return None if here is None else NamedSharding(here, PartitionSpec())


def of_mesh_in_use() -> NamedSharding | None:
    """Where whole arrays lie by the mesh in use; None if there is none, or it has one device."""
    here: Any = get_abstract_mesh()
    if here.size <= 1:
        return None
    grid = get_mesh()
    return NamedSharding(grid if grid.size == here.size else here, PartitionSpec())


def on_no_mesh(ndim: int, lies: Sharding | None = None) -> NamedSharding:
    """The placement in types that say none, which names no axis: on the mesh of ``lies``, where an array is, else the one in use, or on no mesh."""
    if lies is not None:
        return NamedSharding(lies.mesh.abstract_mesh, PartitionSpec(*[None] * ndim)) if isinstance(lies, NamedSharding) else _open(ndim)
    here = get_abstract_mesh()
    return _open(ndim) if here.empty else NamedSharding(here, PartitionSpec(*[None] * ndim))


@functools.cache
def _open(ndim: int) -> NamedSharding:
    return NamedSharding(AbstractMesh((), ()), PartitionSpec(*[None] * ndim))


__all__ = ["describe", "device_count", "in_hlo", "in_host_memory", "in_types", "is_spread", "on_devices", "of_block", "of_hlo", "of_mesh_in_use",
           "on_mesh", "on_no_mesh"]
