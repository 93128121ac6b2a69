"""Placements as plain data, for programs that outlive their devices: axes of a mesh with their sizes, and the partition.

``{"axes": [["x", 2], ["y", 4]], "spec": ["x", null, ["y"]]}`` is a `NamedSharding` on any mesh of these axes.
"""
from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ..platforms import client
from .mesh import AbstractMesh, Mesh, block_mesh, get_abstract_mesh
from .partition_spec import PartitionSpec
from .sharding import NamedSharding, Sharding


def is_spread(where: Any) -> bool:
    """Whether it is a sharding over more than one device."""
    return isinstance(where, Sharding) and where.num_devices > 1


def describe(sharding: Any) -> dict | None:
    """The placement as data; None for one device.

    Raises:
      NotImplementedError: on several devices, and not a `NamedSharding`.
    """
    if not isinstance(sharding, Sharding) or sharding.num_devices == 1:
        return None
    if not isinstance(sharding, NamedSharding):
        raise NotImplementedError(f"export: placements on several devices must be NamedShardings, got {sharding}")
    spec = [list(e) if isinstance(e, tuple) else e if e is None else str(e) for e in sharding.spec.partitions]
    return {"axes": [[str(name), int(size)] for name, size in sharding.mesh.shape.items()], "spec": spec}


def device_count(description: dict) -> int:
    """How many devices the placement is for."""
    return math.prod(size for _, size in description["axes"])


def _spec(description: dict) -> PartitionSpec:
    return PartitionSpec(*[tuple(e) if isinstance(e, list) else e for e in description["spec"]])


def on_mesh(description: dict | None, mesh: Any) -> NamedSharding | None:
    """The placement on ``mesh``, which must have its axes."""
    return None if description is None else NamedSharding(mesh, _spec(description))


def on_devices(description: dict) -> NamedSharding:
    """The placement on the first devices of the default platform.

    Raises:
      ValueError: there are not enough.
    """
    count, devices = device_count(description), client.devices()
    if count > len(devices):
        raise ValueError(f"exported for {count} devices and is called in a context with {len(devices)}")
    names, sizes = zip(*description["axes"])
    return NamedSharding(Mesh(np.array(devices[:count]).reshape(sizes), names), _spec(description))


def in_hlo(description: dict | None, ndim: int) -> Any:
    """The placement of an array with ``ndim`` axes as XLA has it."""
    if description is None:
        return None
    names, sizes = zip(*description["axes"])
    return NamedSharding(AbstractMesh(sizes, names), _spec(description))._to_xla_hlo_sharding(ndim)


def of_block() -> NamedSharding | None:
    """Where whole arrays lie in a ``with mesh:`` block."""
    here = block_mesh()
    return None if here is None else NamedSharding(here, PartitionSpec())


def on_no_mesh(ndim: int) -> NamedSharding:
    """The placement in types that say none: whole on each device of a mesh in use with ``Explicit`` axes, else on no mesh."""
    here = get_abstract_mesh()
    return _open(ndim) if not here.explicit_axes else NamedSharding(here, PartitionSpec(*[None] * ndim))


@functools.cache
def _open(ndim: int) -> NamedSharding:
    return NamedSharding(AbstractMesh((), ()), PartitionSpec(*[None] * ndim))


__all__ = ["describe", "device_count", "in_hlo", "is_spread", "on_devices", "of_block", "on_mesh", "on_no_mesh"]
