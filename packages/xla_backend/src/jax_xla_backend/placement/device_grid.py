"""Arranging devices in a grid for a mesh: `jax.experimental.mesh_utils`.

Devices come in the order of their ids, which on one host and on rings of GPUs is the order of their neighbourhood. TPUs
tell their coordinates; they are sorted by those, so that the last mesh axes are near neighbours.
"""
from __future__ import annotations

import math
from typing import Any, Callable, Sequence

import numpy as np

from ..platforms import client
from .mesh import lengths


device_kind_handler_dict: dict[str, Callable] = {}
"""By the kind of a device (``device.device_kind``): ``handler(mesh_shape, devices, contiguous_submeshes=...)`` that returns an
array of devices, or None to leave it to the general order. Those who know the wiring of their devices enter it here."""


def _in_order(devices: Sequence[Any]) -> list:
    if devices and devices[0].platform == "tpu":
        return sorted(devices, key=lambda d: (tuple(d.coords)[::-1], d.core_on_chip))
    return list(devices)


def create_device_mesh(mesh_shape: Sequence[int], devices: Sequence[Any] | None = None, *,
                       contiguous_submeshes: bool = False, allow_split_physical_axes: bool = False) -> np.ndarray:
    """An array of devices for `Mesh`.

    Args:
      mesh_shape: its shape; the last axes get the nearest devices.
      devices: default all devices.
      contiguous_submeshes, allow_split_physical_axes: accepted; they concern TPU topologies.

    Raises:
      ValueError: the shape does not have as many places as there are devices.
    """
    devices, mesh_shape = _in_order(client.devices() if devices is None else devices), lengths("create_device_mesh", "mesh_shape", mesh_shape)
    if math.prod(mesh_shape) != len(devices):
        raise ValueError(f"create_device_mesh: mesh_shape={tuple(mesh_shape)} has {math.prod(mesh_shape)} places for {len(devices)} devices")
    handler = device_kind_handler_dict.get(devices[0].device_kind) if devices else None
    if handler is not None:
        found = handler(mesh_shape, devices, contiguous_submeshes=contiguous_submeshes)
        if found is not None:
            return found
    grid = np.empty(len(devices), dtype=object)
    grid[:] = devices
    return grid.reshape(tuple(mesh_shape))


def create_hybrid_device_mesh(mesh_shape: Sequence[int], dcn_mesh_shape: Sequence[int],
                              devices: Sequence[Any] | None = None, *, process_is_granule: bool = False,
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
