"""Placements as text: attributes of arguments and results, constraints, and the meshes that they name.

Placements on a mesh are written in Shardy. Others, and all where Shardy is off, are written the way that XLA's own
partitioner reads them.

Source: Shardy dialect, `sdy.mesh`, `sdy.sharding`, `sdy.sharding_constraint`.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

from jax_core.configuration import flags

from ..placement.mesh import with_devices
from .outside_calls import quoted

if TYPE_CHECKING:
    from jax_core.representation.typing import DeviceLike, ShardingLike

    from ..placement.mesh import AbstractMesh, Mesh
    from .builder import Builder
    from .values import Value


class Shardings:
    """The placements of one module.

    Attributes:
      devices: number of devices that the module is for.
      grid: a mesh of those devices, or None.
      constraints: placements on several devices that the program asks for, whether or not the module is for several; on an abstract mesh, where
        any devices do, if they are as many.
      typed: placements of its types, on some devices with such a mesh: they say how values are split, not on which devices.
    """

    def __init__(self, *placements: Any):
        self.devices = self._device_count(placements)
        self.grid = next((s.mesh for group in placements for s in group or () if hasattr(s, "mesh")), None)
        self.constraints: list[Any] = []
        self.typed: list[Any] = []
        self._meshes: dict[tuple, str] = {}
        self._for_groups: set[tuple] = set()
        self._on_one: set[int] = set()

    def attribute(self, sharding: Any, ndim: int, partial: bool = False) -> str:
        """``#sdy.sharding<@mesh, [...]>`` of a value with ``ndim`` axes, which may be split further where it is ``partial``."""
        return sharding._to_sdy_sharding(ndim, self.mesh_symbol(sharding.mesh), partial)

    def mesh_symbol(self, mesh: Mesh | AbstractMesh, for_groups: bool = False) -> str:
        """The symbol of a mesh of these axes, which the module will declare.

        Args:
          for_groups: collectives name their groups of devices by it.
        """
        axes = tuple(mesh.shape.items())
        if for_groups:
            self._for_groups.add(axes)
        return self._meshes.setdefault(axes, f"mesh_{len(self._meshes)}" if self._meshes else "mesh")

    def in_shardy(self, sharding: ShardingLike | None) -> bool:
        """Whether the placement is written in Shardy."""
        return flags.use_shardy_partitioner.value and hasattr(sharding, "mesh")

    def argument(self, sharding: ShardingLike | None, ndim: int) -> str:
        """The attribute of an argument or result of ``main``."""
        if self.in_shardy(sharding):
            return f"sdy.sharding = {self.attribute(sharding, ndim)}"
        return f"mhlo.sharding = {hlo_text(sharding, ndim)}"

    def everywhere(self, ndim: int) -> str:
        """The attributes of an argument of which each device gets all; left out, the compiler might split it."""
        if self.devices == 1 or self.grid is None:
            return ""
        if flags.use_shardy_partitioner.value:
            return f" {{sdy.sharding = #sdy.sharding<@{self.mesh_symbol(self.grid)}, [{', '.join(['{}'] * ndim)}]>}}"
        return ' {mhlo.sharding = "{replicated}"}'

    def on_one_device(self, results: int, device: DeviceLike | None = None) -> str:
        """The attribute of a custom call that one device, by default the first, makes with whole arrays for all."""
        number = self._number(device)
        if flags.use_shardy_partitioner.value:
            self._on_one.add(number)
            each = ", ".join([f"<@maximal_mesh_{number}, []>"] * max(results, 1))
            return f"sdy.sharding = #sdy.sharding_per_value<[{each}]>"
        one = f"{{maximal device={number}}}"
        each = "{" + ", ".join([one] * results) + "}"
        return f"mhlo.sharding = {quoted(each if results > 1 else one)}"

    def _number(self, device: Any) -> int:
        """The place of ``device`` among those of the program."""
        if device is None:
            return 0
        devices = list(self.grid.devices.flat) if self.grid is not None and hasattr(self.grid, "devices") else []
        if device not in devices:
            raise ValueError(f"host callback: its sharding is on {device}, which is none of the devices of the program, {devices}; give "
                             "one of them, or leave sharding out")
        return devices.index(device)

    def meshes(self) -> str:
        """The declarations of the meshes."""
        ones = "".join([f"  sdy.mesh @maximal_mesh_{i} = <[], device_ids=[{i}]>\n" for i in sorted(self._on_one)])
        return ones + "".join([f"  sdy.mesh @{name} = <[{', '.join([f'{quoted(axis)}={size}' for axis, size in axes])}]>"
                                f"{self._in_stablehlo(axes)}\n" for axes, name in self._meshes.items()])

    def _in_stablehlo(self, axes: tuple) -> str:
        """The same mesh for collectives, which do not read Shardy."""
        if axes not in self._for_groups:
            return ""
        named = ", ".join([f"{{name = {quoted(axis)}, size = {size} : i64}}" for axis, size in axes])
        return f" {{stablehlo.mesh = {{axes = [{named}]}}}}"

    @staticmethod
    def _device_count(placements: Any) -> int:
        for group in placements:
            for sharding in group or ():
                if sharding is not None:
                    return int(sharding.num_devices)
        return 1


def hlo_text(sharding: Any, ndim: int) -> str:
    """The placement for XLA's own partitioner, as an MLIR string."""
    return quoted(str(sharding._to_xla_hlo_sharding(ndim)))


def _on_devices(sharding: Any) -> Any:
    """The placement of a type on the devices of a mesh in use, or None."""
    found = with_devices(sharding.mesh)
    return None if found is None else sharding.update(mesh=found)


def constrain(b: Builder, x: Value, sharding: Any, typed: bool = False, anywhere: bool = False) -> Any:
    """``x``, placed as ``sharding`` says; nothing is written in a module for one device.

    ``typed``: it is the placement of a type, which leaves ``Auto`` mesh axes to the compiler.
    ``anywhere``: it asks for as many devices, not for these.
    """
    placements, env = b.module.shardings, b.module.axis_env
    if env is not None:
        by_hand = [a for a in getattr(getattr(sharding, "spec", None), "axis_names", tuple)() if a in env.manual]
        if by_hand:
            raise ValueError(f"with_sharding_constraint: {sharding} names the mesh axis {by_hand[0]!r}, which is manual here, "
                             "inside shard_map; only the other axes of the mesh can be named.")
        if env.inner is None:  # no axis is left to the compiler
            return x
    if sharding.num_devices > 1:
        if anywhere:
            placements.constraints.append(sharding.update(mesh=sharding.mesh.abstract_mesh))
            if placements.devices not in (1, sharding.num_devices):
                raise ValueError(f"exported for {sharding.num_devices} devices and is called in a context with {placements.devices} devices")
        elif sharding._is_concrete:
            placements.constraints.append(sharding)
        elif (on := _on_devices(sharding)) is not None:
            placements.typed.append(on)
    if placements.devices == 1:
        return x
    if placements.in_shardy(sharding):
        text = placements.attribute(sharding, x.ndim, typed and bool(sharding.mesh.auto_axes)).removeprefix("#sdy.sharding")
        return b.emit(f"sdy.sharding_constraint {x} {text}", x, out=x.aval)
    return b.emit(f"stablehlo.custom_call @Sharding({x})", x, out=x.aval,
                  attrs=f"{{mhlo.sharding = {hlo_text(sharding, x.ndim)}}}")


def whole_along(b: Builder, x: Value, axes: Sequence[int]) -> Any:
    """``x`` behind a constraint that leaves all but ``axes`` to the compiler; None where that cannot be said."""
    placements = b.module.shardings
    if placements.grid is None or not flags.use_shardy_partitioner.value:
        return None
    mesh = placements.mesh_symbol(placements.grid)
    return b.emit(f"sdy.sharding_constraint {x} <@{mesh}, [{', '.join('{}' if i in axes else '{?}' for i in range(x.ndim))}]>", x, out=x.aval)
