"""`XlaBackend`: this package as core sees it. See `jax_core.interfaces.Backend` for what each method promises."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Hashable, Sequence

from .arrays import array, dlpack, own_layouts
from .arrays.put import as_sharding, asked_for, from_host, on_host, put
from .compiling import compile, tiered_compilation
from .placement import described_shardings
from .placement.layout import Format
from .placement.partition_spec import PartitionSpec
from .platforms import client
from .running import dispatch, eager, stages
from .tools import exporting, inspecting

if TYPE_CHECKING:
    from jax_core.representation.aval import ShapedArray

    from .placement.mesh import AbstractMesh, Mesh


class Placements:
    """See `jax_core.interfaces.Placements`."""

    as_sharding = staticmethod(as_sharding)
    asked_for = staticmethod(asked_for)
    is_spread = staticmethod(described_shardings.is_spread)

    @staticmethod
    def with_layout(x: object, layout: object) -> Any:
        """``x``, stored as ``layout`` says."""
        from .operations.layout_constraint import with_layout_constraint  # start-up: few programs say how arrays are stored
        return with_layout_constraint(x, layout)

    @staticmethod
    def part_type(aval: ShapedArray, mesh: Mesh | AbstractMesh, manual_axes: frozenset, checked: bool, spec: PartitionSpec) -> Any:
        """The type of a part in a manual region."""
        from .operations.shard_map.program import part_aval  # start-up: few programs have manual regions
        return part_aval(aval, mesh, spec, checked, sorted(manual_axes, key=str))

    @staticmethod
    def whole_type(aval: ShapedArray, mesh: Mesh | AbstractMesh, spec: PartitionSpec) -> Any:
        """The type of the whole outside of the region."""
        from .operations.shard_map.program import whole_aval  # start-up: few programs have manual regions
        return whole_aval(aval, mesh, spec, spec.axis_names())

    @staticmethod
    def spec_of(partitions: tuple) -> Any:
        """The spec of these entries."""
        return PartitionSpec(*partitions)

    @staticmethod
    def format_of(sharding: Any) -> Format:
        """The format that says nothing of the layout."""
        return Format(None, sharding)

    own_format = staticmethod(own_layouts.own_format)
    of_block = staticmethod(described_shardings.of_block)
    on_no_mesh = staticmethod(described_shardings.on_no_mesh)
    describe = staticmethod(described_shardings.describe)
    device_count = staticmethod(described_shardings.device_count)
    on_mesh = staticmethod(described_shardings.on_mesh)
    on_devices = staticmethod(described_shardings.on_devices)
    in_types = staticmethod(described_shardings.in_types)
    in_hlo = staticmethod(described_shardings.in_hlo)
    of_hlo = staticmethod(described_shardings.of_hlo)
    in_host_memory = staticmethod(described_shardings.in_host_memory)


class XlaBackend:
    """Programs run by XLA through jaxlib."""

    array_type = array.ArrayImpl
    put = staticmethod(put)
    from_host = staticmethod(from_host)
    on_host = staticmethod(on_host)
    from_dlpack = staticmethod(dlpack.from_dlpack)
    host_view = staticmethod(array.host_view)
    evaluate = staticmethod(eager.evaluate)
    lower = staticmethod(stages.lower)
    compile = staticmethod(stages.executable)
    placements = Placements()
    inspection = inspecting
    exporting = exporting

    def devices(self, platform: str | None = None) -> Sequence[Any]:
        """All devices of a platform, default the default one."""
        return client.devices(platform)

    def knows_platform(self, name: str) -> bool:
        """Whether a platform can have this name."""
        return client.is_platform(name)

    def default_platform(self) -> str:
        """The platform that programs run on, as lowering rules name it."""
        return client.platform_of(client.get_client())

    def dispatcher(self, fun: Callable, miss: Callable, static_argnums: Sequence[int],
                   static_argnames: Sequence[str], name: str, key: Hashable = None, donate_argnums: Sequence[int] = (),
                   donate_argnames: Sequence[str] = ()) -> Callable:
        """A callable that repeats known calls without Python."""
        return dispatch.dispatcher(fun, miss, static_argnums, static_argnames, name, key, donate_argnums, donate_argnames)

    def clear_caches(self) -> None:
        """Forget everything compiled."""
        dispatch.clear()
        eager.clear()
        compile.clear()
        tiered_compilation.clear()


backend = XlaBackend()

__all__ = ["XlaBackend", "backend"]
