"""`XlaBackend`: this package as core sees it. See `jax_core.interfaces.Backend` for what each method promises."""
from __future__ import annotations

from typing import Any, Callable, Hashable, Sequence

from .arrays import array
from .running import stages
from .compiling import compile, tiered_compilation
from .platforms import client
from .placement import described_shardings
from .running import dispatch, eager, tokens
from .tools import exporting, inspecting
from .arrays.put import as_sharding, from_host, put


class XlaBackend:
    """Programs run by XLA through jaxlib."""

    array_type = array.ArrayImpl
    put = staticmethod(put)
    from_host = staticmethod(from_host)
    as_sharding = staticmethod(as_sharding)
    host_view = staticmethod(array.host_view)
    evaluate = staticmethod(eager.evaluate)
    effects_barrier = staticmethod(tokens.effects_barrier)
    lower = staticmethod(stages.lower)
    compile = staticmethod(stages.executable)
    placements = described_shardings
    placed_module = staticmethod(inspecting.placed_module)
    hlo_text = staticmethod(inspecting.hlo_text)
    compiler_ir = staticmethod(inspecting.compiler_ir)
    cost_analysis = staticmethod(inspecting.cost_analysis)
    default_platform = staticmethod(exporting.default_platform)
    compiler_version = staticmethod(exporting.compiler_version)
    exported_module = staticmethod(exporting.exported_module)
    placements_asked_for = staticmethod(exporting.placements_asked_for)
    custom_call_targets = staticmethod(exporting.custom_call_targets)
    portable_artifact = staticmethod(exporting.portable_artifact)
    module_of_artifact = staticmethod(exporting.module_of_artifact)

    def devices(self, platform: str | None = None) -> Sequence[Any]:
        """All devices of a platform, default the default one."""
        return client.devices(platform)

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
