"""`jax.extend.backend`: the client behind the devices, for libraries that need it."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Sequence

from jax_core import backends as _backends
from jax_core.representation.aval import ShapedArray

from .api import clear_caches, devices
from .arrays.put import typed
from .compiling import compile, tiered_compilation
from .jaxlib_compat import VERSION_TEXT, _jax, result_handler
from .platforms import client
from .platforms.plugins import register_plugin

if TYPE_CHECKING:
    from jax_core.representation.primitive import Primitive


def get_backend(platform: str | None = None) -> Any:
    """The client of a platform (default: the default one).

    >>> from jax.extend import backend
    >>> backend.get_backend("cpu").platform
    'cpu'
    """
    if platform is not None and not isinstance(platform, str):
        return platform
    return client.get_client(platform)


get_backend.cache_clear = lambda: None  # type: ignore[attr-defined]  # for those who know that it may keep what it found

Backend = _jax.Client
"""The class of the clients, which jaxlib defines."""


def backends() -> dict[str, Any]:
    """The clients that were started, by platform.

    >>> from jax.extend import backend
    >>> list(backend.backends())
    ['cpu']
    """
    found = devices()[0].client
    return {found.platform: found}


def backends_are_initialized() -> bool:
    """Whether a backend of this process has been asked for, so that its options are fixed.

    >>> from jax._src import xla_bridge
    >>> _ = jax.devices()
    >>> xla_bridge.backends_are_initialized()
    True
    """
    return bool(client._clients)


def backend_xla_version(platform: str | None = None) -> int | None:
    """The version of XLA that the platform's plugin was built with, if it says so.

    >>> from jax.extend import backend
    >>> backend.backend_xla_version("cpu") is None
    True
    """
    return getattr(get_backend(platform), "xla_version", None)


def get_default_device() -> Any:
    """The device that new arrays are put on.

    >>> from jax.extend import backend
    >>> backend.get_default_device().platform
    'cpu'
    """
    return client.default_device()


def clear_backends(_crash: bool = False) -> None:
    """Forget compiled programs. Clients stay: arrays may live on them.

    >>> from jax.extend import backend
    >>> backend.clear_backends()
    """
    clear_caches()


def clear_in_memory_compilation_cache() -> None:
    """Forget compiled programs that are held in memory.

    >>> from jax.extend import backend
    >>> backend.clear_in_memory_compilation_cache()
    """
    compile.clear()
    tiered_compilation.clear()


def apply_primitive(prim: Primitive, *args: Any, **params: Any) -> Any:
    """Run one primitive now.

    >>> from jax.extend import backend
    >>> backend.apply_primitive(lax.sin_p, jnp.zeros(2), accuracy=None)
    Array([0., 0.], dtype=float32)
    """
    return _backends.get().evaluate(prim, args, params)


def register_backend_factory(name: str, factory: Callable, *, priority: int = 0, fail_quietly: bool = True,
                             experimental: bool = False, make_topology: Callable[..., object] | None = None,
                             c_api: object | None = None) -> None:
    """Not supported: platforms come as PJRT plugins, see ``plugins.register_plugin``."""
    raise NotImplementedError("register_backend_factory: platforms are added as PJRT plugins (entry point group "
                              "jax_plugins); a whole backend is added through the entry point jax_core.backends")


def register_backend_cache(cache: object, for_what: str) -> None:
    """Not needed: caches of this system are cleared by `jax.clear_caches`.

    >>> from jax.extend import backend
    >>> backend.register_backend_cache({}, "my programs")
    """


def get_compile_options(num_replicas: int, num_partitions: int, device_assignment: object | None = None,
                        env_options_overrides: dict | None = None, fdo_profile: bytes | None = None,
                        detailed_logging: bool = True, backend: object | None = None) -> Any:
    """jaxlib's options for a compilation.

    >>> from jax.extend import backend
    >>> backend.get_compile_options(num_replicas=1, num_partitions=1).num_replicas
    1
    """
    options = _jax.CompileOptions()
    options.num_replicas, options.num_partitions = num_replicas, num_partitions
    build = options.executable_build_options
    build.num_replicas, build.num_partitions = num_replicas, num_partitions
    if env_options_overrides:
        options.env_option_overrides = list(env_options_overrides.items())
    return options


def _array_handler(aval: ShapedArray, sharding: Any, committed: bool) -> Callable[[Sequence[Any]], Any]:
    return result_handler(typed(aval, sharding), sharding, committed)


global_result_handlers = {ShapedArray: _array_handler}
"""By class of type: what makes, for a type and a placement, a function from the parts on this process's devices to the array."""


def global_avals_to_results_handler(global_out_avals: Sequence[ShapedArray], shardings: Sequence[object],
                                    committed: bool) -> Callable[[Sequence[Sequence[Any]]], list]:
    """A function from the parts of several arrays to those arrays.

    >>> from jax.interpreters import pxla
    >>> x = jnp.arange(3)
    >>> pxla.global_avals_to_results_handler([jax.core.ShapedArray((3,), jnp.int32)], [x.sharding], True)([[x]])
    [Array([0, 1, 2], dtype=int32)]
    """
    handlers = [global_result_handlers[type(aval)](aval, sharding, committed) for aval, sharding in zip(global_out_avals, shardings, strict=True)]
    return lambda parts: [handler(p) for handler, p in zip(handlers, parts, strict=True)]


__all__ = ["Backend", "VERSION_TEXT", "apply_primitive", "backend_xla_version", "backends", "clear_backends",
           "clear_in_memory_compilation_cache", "get_backend", "get_compile_options", "get_default_device",
           "register_backend_cache", "register_backend_factory", "register_plugin"]
