"""Arranging devices in a grid for a mesh: `jax.experimental.mesh_utils`.

Devices come in the order of their ids, which on one host and on rings of GPUs is the order of their neighbourhood. TPUs
tell their coordinates; they are sorted by those, so that the last mesh axes are near neighbours.
"""
from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from ..platforms import client
from .mesh import lengths

if TYPE_CHECKING:
    from jax_core.representation.typing import DeviceLike


device_kind_handler_dict: dict[str, Callable] = {}
"""By the kind of a device (``device.device_kind``): ``handler(mesh_shape, devices, contiguous_submeshes=...)`` that returns an
array of devices, or None to leave it to the general order. Those who know the wiring of their devices enter it here."""


def _in_order(devices: Sequence[Any]) -> list:
    devices = list(devices)
    others = [d for d in devices if not hasattr(d, "platform")]
    if others:
        raise TypeError(f"create_device_mesh: devices are those of jax.devices(), got {others[0]!r} of type {type(others[0]).__name__}")
    if devices and devices[0].platform == "tpu":
        return sorted(devices, key=lambda d: (tuple(d.coords)[::-1], d.core_on_chip))
    return devices


def create_device_mesh(mesh_shape: Sequence[int], devices: Sequence[DeviceLike] | None = None, *,
                       contiguous_submeshes: bool = False, allow_split_physical_axes: bool = False) -> np.ndarray:
    """An array of devices for `Mesh`.

    Args:
      mesh_shape: its shape; the last axes get the nearest devices.
      devices: default all devices.
      contiguous_submeshes: accepted.
      allow_split_physical_axes: an axis of a torus of TPUs may become parts of several axes of the mesh.

    Raises:
      ValueError: the shape does not have as many places as there are devices. NotImplementedError: the axes of a torus would have to
        be divided.

    >>> from jax.experimental import mesh_utils
    >>> mesh_utils.create_device_mesh((1, 1), jax.devices()[:1]).shape
    (1, 1)
    """
    devices, mesh_shape = _in_order(client.devices() if devices is None else devices), lengths("create_device_mesh", "mesh_shape", mesh_shape)
    if math.prod(mesh_shape) != len(devices):
        raise ValueError(f"create_device_mesh: mesh_shape={tuple(mesh_shape)} has {math.prod(mesh_shape)} places for {len(devices)} devices")
    handler = device_kind_handler_dict.get(devices[0].device_kind) if devices else None
    if handler is not None:
        found = handler(mesh_shape, devices, contiguous_submeshes=contiguous_submeshes)
        if found is not None:
            return found
    if devices and devices[0].platform == "tpu":
        return _by_wires(devices, mesh_shape, allow_split_physical_axes)
    return _array(devices).reshape(mesh_shape)


def _array(devices: Sequence[Any]) -> np.ndarray:
    grid = np.empty(len(devices), dtype=object)
    grid[:] = devices
    return grid


def _by_wires(devices: Sequence[Any], mesh_shape: tuple[int, ...], may_split: bool) -> np.ndarray:
    """TPUs, with wired neighbours next to each other along the axes of the mesh, the last ones first.

    A tray is walked around as a ring. A torus keeps its axes: those of the chips become axes of the mesh, one or several for each.
    """
    cores = 1 + max(d.core_on_chip for d in devices)
    sizes = tuple(1 + max(d.coords[i] for d in devices) - min(d.coords[i] for d in devices) for i in range(3))
    if math.prod(sizes) * cores != len(devices):  # not a box
        return _array(devices).reshape(mesh_shape)
    chips = _array(devices).reshape(*sizes[::-1], cores)  # as they are sorted: z, y, x, core
    on_tray = _trays(sizes, cores, mesh_shape) if cores > 1 or "lite" in devices[0].device_kind else None
    if on_tray is not None:
        return _rings(chips, *on_tray).reshape(mesh_shape)
    if cores > 1:
        return _array(devices).reshape(mesh_shape)
    taken = _axes_for(mesh_shape, sizes)
    if taken is None and not may_split:
        raise NotImplementedError(f"create_device_mesh: the axes of mesh_shape={mesh_shape} are no products of axes of the torus of {sizes} chips; "
                                  "choose another shape, or allow_split_physical_axes=True, which passes over the wiring")
    if taken is None:
        return _array(devices).reshape(mesh_shape)
    order = [axis for axes in taken for axis in axes]
    rest = [axis for axis in range(3) if axis not in order]
    return chips[..., 0].transpose(2, 1, 0).transpose(*order, *rest).reshape(mesh_shape)


def _trays(sizes: tuple[int, ...], cores: int, mesh_shape: tuple[int, ...]) -> tuple[int, int] | None:
    """Columns and rows of the trays whose chips are to form rings; None where the mesh has no axis for them."""
    x, y, z = sizes
    if z > 1:
        return None
    if cores == 1:
        return (x, y) if y == 2 and x in (2, 4) else None
    whole = (x, y) == (2, 2)
    return (2, 2) if whole or x % 2 == 0 and y % 2 == 0 and mesh_shape[-1] == 4 * cores else None


def _rings(chips: np.ndarray, columns: int, rows: int) -> np.ndarray:
    """The devices tray by tray, each there and back along its rows."""
    _, y, x, cores = chips.shape
    trays = chips.reshape(y // rows, rows, x // columns, columns, cores).transpose(0, 2, 1, 3, 4).copy()
    trays[:, :, 1::2] = trays[:, :, 1::2, ::-1].copy()
    return trays.reshape(-1)


def _axes_for(mesh_shape: tuple[int, ...], sizes: tuple[int, ...]) -> list[tuple[int, ...]] | None:
    """For each axis of the mesh the axes of the torus that it runs over; None where the lengths do not fit."""
    free, taken = [i for i, n in enumerate(sizes) if n > 1], []
    for length in reversed(mesh_shape):
        fitting = [axes for count in range(len(free), -1, -1) for axes in itertools.combinations(free, count)
                   if math.prod([sizes[i] for i in axes]) == length]
        if not fitting:
            return None
        taken.append(fitting[0])
        free = [i for i in free if i not in fitting[0]]
    return taken[::-1]


def create_hybrid_device_mesh(mesh_shape: Sequence[int], dcn_mesh_shape: Sequence[int],
                              devices: Sequence[DeviceLike] | None = None, *, process_is_granule: bool = False,
                              should_sort_granules_by_key: bool = True,
                              allow_split_physical_axes: bool = False) -> np.ndarray:
    """An array of devices for a `Mesh` whose axes cross slow connections as ``dcn_mesh_shape`` says.

    Args:
      mesh_shape: shape within a group of devices with fast connections.
      dcn_mesh_shape: shape of the arrangement of those groups, with as many axes.
      devices: default all devices.
      process_is_granule: a group is what a process holds; else it is a slice of TPUs.
      should_sort_granules_by_key: order the groups by their number.
      allow_split_physical_axes: accepted.

    Raises:
      ValueError: the devices do not say which slice they are in, or the numbers do not fit.

    >>> from jax.experimental import mesh_utils
    >>> mesh_utils.create_hybrid_device_mesh((1, 1), (1, 1), jax.devices()[:1], process_is_granule=True).shape
    (1, 1)
    """
    devices = list(client.devices() if devices is None else devices)
    attribute = "process_index" if process_is_granule else "slice_index"
    if not hasattr(devices[0], attribute):
        raise ValueError(f"create_hybrid_device_mesh: {devices[0]} does not tell its {attribute}; group by process with process_is_granule=True")
    groups: dict[int, list] = {}
    for device in devices:
        groups.setdefault(getattr(device, attribute), []).append(device)
    keys = sorted(groups) if should_sort_granules_by_key else list(groups)
    if len(keys) != math.prod(dcn_mesh_shape):
        raise ValueError(f"create_hybrid_device_mesh: dcn_mesh_shape={tuple(dcn_mesh_shape)} has {math.prod(dcn_mesh_shape)} places for "
                         f"{len(keys)} groups of devices")
    grids = [create_device_mesh(mesh_shape, groups[key]) for key in keys]
    outer = np.empty(len(grids), dtype=object)
    outer[:] = grids
    blocks = outer.reshape(tuple(dcn_mesh_shape))
    return np.block(blocks.tolist()) if blocks.ndim else grids[0]
