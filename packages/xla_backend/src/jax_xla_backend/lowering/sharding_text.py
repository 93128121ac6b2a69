"""Placements as Shardy attributes, and the meshes that they name.

Source: Shardy dialect, `sdy.mesh` and `sdy.sharding`.
"""
from __future__ import annotations

from typing import Any

from .calls import quoted


class Shardings:
    """The meshes of a module. Placements without a mesh are written the way XLA's own partitioner reads them."""

    def __init__(self):
        self._meshes: dict[tuple, str] = {}

    def attribute(self, sharding: Any, ndim: int) -> str:
        """``#sdy.sharding<@mesh, [...]>`` of a value with ``ndim`` axes."""
        axes = tuple(sharding.mesh.shape.items())
        name = self._meshes.setdefault(axes, f"mesh_{len(self._meshes)}" if self._meshes else "mesh")
        return sharding._to_sdy_sharding(ndim, name)

    def argument(self, sharding: Any, ndim: int) -> str:
        """The attribute of an argument or result of ``main``."""
        if hasattr(sharding, "mesh"):
            return f"sdy.sharding = {self.attribute(sharding, ndim)}"
        return f"mhlo.sharding = {quoted(str(sharding._to_xla_hlo_sharding(ndim)))}"

    def meshes(self) -> str:
        """The declarations of the meshes."""
        return "".join([f"  sdy.mesh @{name} = <[{', '.join([f'{quoted(axis)}={size}' for axis, size in axes])}]>\n"
                        for axes, name in self._meshes.items()])

    @staticmethod
    def device_count(*placements: Any) -> int:
        """Number of devices that the placements are for."""
        for group in placements:
            for sharding in group or ():
                if sharding is not None:
                    return int(sharding.num_devices)
        return 1
