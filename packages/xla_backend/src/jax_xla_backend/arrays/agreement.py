"""Whether processes that make one array together were given the same contents for it."""
from __future__ import annotations

import zlib
from typing import Any, Sequence

import numpy as np

from jax_core.programs.jit import jit
from jax_core.representation.aval import described_value

from ..placement.mesh import AxisType, Mesh
from ..placement.partition_spec import PartitionSpec
from ..placement.sharding import NamedSharding, Sharding
from ..platforms import client
from ..platforms.distributed_state import state
from .array import ArrayImpl
from .from_parts import make_array_from_callback


def check_same(values: Sequence[object], placements: Sequence[Sharding | None]) -> None:
    """Raise AssertionError where processes give different values for one array: each would put parts of its own into it.

    One exchange for all of ``values``, of check sums, between the processes whose devices a placement names. Those that make the array call this.
    """
    asked: dict[tuple[int, ...], list[int]] = {}
    if state.client is None:
        return
    for i, (x, where) in enumerate(zip(values, placements)):
        if where is None or where.is_fully_addressable or not where.has_addressable_devices or isinstance(x, ArrayImpl) and not x.is_fully_addressable:
            continue
        asked.setdefault(tuple(sorted({d.process_index for d in where.device_set})), []).append(i)
    for processes, those in asked.items():
        sums = np.array([_check_sum(values[i]) for i in those], np.uint32)
        for i, found in zip(those, _gathered(sums, processes).T):
            if len(set(found.tolist())) > 1:
                raise AssertionError(f"device_put: {described_value(values[i])} is not the same in each of the processes {list(processes)} that make one array "
                                     "of it; give the same value, or each its part by jax.make_array_from_process_local_data")


def _check_sum(x: Any) -> int:
    value = np.ascontiguousarray(x)
    return zlib.crc32(value.view(np.uint8) if value.size and value.dtype.itemsize else b"", zlib.crc32(f"{value.dtype}{np.shape(x)}".encode()))


def _gathered(row: np.ndarray, processes: tuple[int, ...]) -> np.ndarray:
    """The ``row`` of each of the processes, below each other."""
    devices = np.array([next(d for d in client.devices() if d.process_index == p) for p in processes], dtype=object)
    grid = Mesh(devices, ("processes",), (AxisType.Auto,))
    rows = make_array_from_callback((len(processes), *row.shape), NamedSharding(grid, PartitionSpec("processes")), lambda _: row[None])
    return np.asarray(jit(lambda x: x, out_shardings=NamedSharding(grid, PartitionSpec()))(rows))


__all__ = ["check_same"]
