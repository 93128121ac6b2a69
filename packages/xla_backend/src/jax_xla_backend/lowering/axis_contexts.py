"""What a lowering rule on the bindings is told of the devices and of symbolic lengths (`jax.interpreters.mlir`)."""
from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Sequence

from ..placement.mesh import AbstractMesh, AxisType, Mesh

if TYPE_CHECKING:
    from jax_core.representation.typing import AxisName

    from .builder import Builder


@dataclasses.dataclass(frozen=True)
class ShardingContext:
    """Outside of manual regions: for how many devices the program is.

    Attributes:
      device_assignment: which ones; None, as a program may be lowered for devices that are not here.
      abstract_mesh: their mesh; None where it is not known.
    """

    num_devices: int
    device_assignment: tuple | None = None
    abstract_mesh: AbstractMesh | None = None


@dataclasses.dataclass(frozen=True)
class SPMDAxisContext:
    """Inside a manual region, as of `jax.shard_map`: the mesh, and its axes that collectives may name."""

    mesh: Mesh | AbstractMesh
    manual_axes: frozenset[AxisName] = frozenset()


AxisContext = ShardingContext | SPMDAxisContext


@dataclasses.dataclass(frozen=True)
class ShapePolyLoweringState:
    """The symbolic lengths of the program: none, as programs are lowered for lengths that are known."""

    dim_vars: tuple[str, ...]
    lowering_platforms: Sequence[str] | None

    uses_dim_vars = property(lambda self: bool(self.dim_vars), doc="Whether there are symbolic lengths.")
    has_platform_index_argument = property(
        lambda self: self.lowering_platforms is not None and len(self.lowering_platforms) > 1,
        doc="Whether the program is told its platform when it runs.")


def axis_context(b: Builder) -> AxisContext:
    """The one where ``b`` writes."""
    env = b.axis_env
    if env is None:
        return ShardingContext(b.devices)
    return SPMDAxisContext(AbstractMesh(env.sizes, env.names, axis_types=(AxisType.Auto,) * len(env.names)), env.manual)
