"""`XlaBackend`: this package as core sees it. See `jax_core.interfaces.Backend` for what each method promises."""
from __future__ import annotations

import importlib
from typing import Any, Callable, Hashable, Sequence

from jax_core.interfaces import LowerSpec
from jax_core.jaxpr import ClosedJaxpr

from . import array, client, compile, dispatch, eager, executable, tokens
from .put import as_sharding, from_host, put


class XlaBackend:
    """Programs run by XLA through jaxlib."""

    array_type = array.ArrayImpl
    put = staticmethod(put)
    from_host = staticmethod(from_host)
    as_sharding = staticmethod(as_sharding)
    host_view = staticmethod(array.host_view)
    evaluate = staticmethod(eager.evaluate)
    effects_barrier = staticmethod(tokens.effects_barrier)

    def devices(self, platform: str | None = None) -> Sequence[Any]:
        """All devices of a platform, default the default one."""
        return client.devices(platform)

    def dispatcher(self, fun: Callable, miss: Callable, static_argnums: Sequence[int],
                   static_argnames: Sequence[str], name: str, key: Hashable = None, donate_argnums: Sequence[int] = (),
                   donate_argnames: Sequence[str] = ()) -> Callable:
        """A callable that repeats known calls without Python."""
        return dispatch.dispatcher(fun, miss, static_argnums, static_argnames, name, key, donate_argnums, donate_argnames)

    def lower(self, closed: ClosedJaxpr, spec: LowerSpec, in_shardings: tuple | None = None,
              out_shardings: tuple | None = None, platform: str | None = None) -> Any:
        """The program as a StableHLO module."""
        if platform is None:
            if spec.platform is None and spec.device is not None:
                platform = spec.device.platform
            else:
                platform = client.get_client(spec.platform).platform
        module = _lowering().lower_module(closed, spec, in_shardings=in_shardings, out_shardings=out_shardings,
                                          platform=_kind(platform))
        module.closed = closed
        return module

    def compile(self, module: Any, spec: LowerSpec) -> executable.Executable:
        """The executable of a lowered module. XLA runs at the first call, when the placement is known."""
        items = compile.option_items(spec.compiler_options)

        def again(in_shardings, out_shardings, platform):
            return self.lower(module.closed, spec, in_shardings, out_shardings, platform)

        return executable.Executable(module, spec, again, items)

    def clear_caches(self) -> None:
        """Forget everything compiled."""
        dispatch.clear()
        eager.clear()
        compile.clear()


def _kind(platform: str) -> str:
    """A device's platform as lowering rules name it."""
    if platform == "gpu":
        return client.platform_of(client.get_client("gpu"))
    return platform


def _lowering() -> Any:
    """Loaded at the first program: a process that only holds arrays does not need it."""
    return importlib.import_module("jax_xla_backend.lowering")


backend = XlaBackend()

__all__ = ["XlaBackend", "backend"]
