"""Other devices of the mesh, as kernels inside `jax.shard_map` name them, and what the interpreter sends to them.

A device has a number: its place in the mesh, the last axis counting fastest. Interpreted, all devices send at once, and each takes what is
addressed to it. So all of them must come to the same copies and signals in the same order, as in the usual kernels, whose loops and
conditions are alike on all devices.
"""
from __future__ import annotations

import enum
import math
from typing import Any, Callable, Mapping, Sequence, Union

import numpy as np

from jax_core.configuration import context
from jax_core.representation import dtypes
from jax_core.representation.aval import get_aval
from jax_core.representation.effects import NamedAxisEffect
from jax_core.representation.typing import ArrayLike, AxisName
from jax_core.transformations.manual import ManualAxis, region

from .. import lax, numpy as jnp

Mesh = tuple[tuple[Any, int], ...]
"""Names and sizes of the axes."""

DeviceId = Union[ArrayLike, Sequence[ArrayLike], Mapping[AxisName, ArrayLike], None]
"""A number; a place along each axis of the mesh; or places along some of them, by name."""


class DeviceIdType(enum.Enum):
    """How ``device_id`` names a device: by a number, or by its place along each axis. What was given tells, too.

    >>> from jax.experimental import pallas as pl
    >>> pl.DeviceIdType.MESH.value
    'mesh'
    """

    MESH = "mesh"
    LOGICAL = "logical"


def mesh_in_scope(function: str) -> Mesh:
    """The mesh of the manual region that is being traced.

    Raises:
      ValueError: there is none.
    """
    mesh = tuple((name, axis.size) for name, axis in context.state.axes if isinstance(axis, ManualAxis))
    if not mesh:
        raise ValueError(f"{function}: there are no other devices here; call the kernel under jax.shard_map.")
    return mesh


def effects(mesh: Mesh) -> frozenset:
    """Those of a program that sends to devices of ``mesh``."""
    return frozenset(NamedAxisEffect(name) for name, _ in mesh)


def number_of(function: str, device_id: DeviceId, mesh: Mesh, kind: DeviceIdType | None = None) -> Any:
    """The number, an int32 scalar, of the device that ``device_id`` names: a number; a place along each axis; or some of these by name.

    Raises:
      ValueError: another number of places than axes, an axis that is not there, or something that is no integer.
    """
    names, sizes = [name for name, _ in mesh], [size for _, size in mesh]
    if isinstance(device_id, Mapping):
        unknown = [a for n in device_id for a in (n if isinstance(n, tuple) else (n,)) if a not in names]
        if unknown:
            raise ValueError(f"{function}: device_id has a place along {unknown[0]!r}, and the axes of the mesh are {', '.join(map(repr, names))}.")
        places = {a: p for n, place in device_id.items() for a, p in _spread(n, place, dict(mesh))}
        device_id = [places[n] if n in places else lax.axis_index(n) for n in names]
    elif isinstance(device_id, (tuple, list)):
        if len(device_id) != len(mesh):
            raise ValueError(f"{function}: device_id has {len(device_id)} places, and the mesh has the axes {', '.join(map(repr, names))}; give one for "
                             "each, or a dictionary of those that differ.")
    elif kind is DeviceIdType.MESH and len(mesh) > 1:
        raise ValueError(f"{function}: device_id={device_id!r} is one number, and the mesh has the axes {', '.join(map(repr, names))}; give a tuple with a "
                         "place along each.")
    else:
        return _integer(function, device_id)
    number: Any = np.int32(0)
    for place, size in zip(device_id, sizes):
        number = number * np.int32(size) + _integer(function, place)
    return number


def _spread(name: Any, place: Any, sizes: Mapping) -> list[tuple]:
    """Places along single axes, for one along an axis or along several taken together."""
    found = []
    for axis in reversed(name if isinstance(name, tuple) else (name,)):
        found.append((axis, place % sizes[axis] if isinstance(name, tuple) else place))
        place = place // sizes[axis] if isinstance(name, tuple) else place
    return found


def _integer(function: str, x: Any) -> Any:
    aval = get_aval(x)
    if aval.shape or not dtypes.issubdtype(aval.dtype, np.integer):
        raise ValueError(f"{function}: device_id has {aval.str_short()}; places and numbers of devices are integer scalars.")
    return np.int32(x) if isinstance(x, (int, np.integer)) else x.astype(np.int32)


def delivered(mesh: Mesh, device: Any, active: Any, message: Sequence[Any], take: Callable[..., Any], state: Any) -> Any:
    """``state`` after ``take(state, *message)`` for each message of a device that was ``active`` and named this one.

    To be called by all devices, in a program that is being lowered for them.
    """
    with region(dict(mesh), checked=False):
        names = tuple(name for name, _ in mesh)
        mine = lax.all_gather(jnp.where(active, device, np.int32(-1)), names) == lax.axis_index(names)
        sent = [lax.all_gather(x, names) for x in message]

        def one(i, now):
            return lax.cond(mine[i], lambda now: take(now, *(x[i] for x in sent)), lambda now: now, now)
        return lax.fori_loop(0, math.prod(size for _, size in mesh), one, state)
