"""Types of `jax.extend.backend`. Written by packages/jax/tools/make_stubs.py."""
from jax.extend.core import Primitive
from typing import Any, Callable

Backend = type
VERSION_TEXT: str
def apply_primitive(prim: Primitive, *args: Any, **params: Any) -> Any:
    """Run one primitive now."""
def backend_xla_version(platform: str | None = None) -> int | None:
    """The version of XLA that the platform's plugin was built with, if it says so."""
def backends() -> dict[str, Any]:
    """The clients that were started, by platform."""
def clear_backends(_crash: bool = False) -> None:
    """Forget compiled programs. Clients stay: arrays may live on them."""
def clear_in_memory_compilation_cache() -> None:
    """Forget compiled programs that are held in memory."""
def get_backend(platform: str | None = None) -> Any:
    """The client of a platform (default: the default one)."""
def get_compile_options(num_replicas: int, num_partitions: int, device_assignment: object | None = None, env_options_overrides: dict | None = None, fdo_profile: bytes | None = None, detailed_logging: bool = True, backend: object | None = None) -> Any:
    """jaxlib's options for a compilation."""
def get_default_device() -> Any:
    """The device that new arrays are put on."""
def register_backend_cache(cache: object, for_what: str) -> None:
    """Not needed: caches of this system are cleared by `jax.clear_caches`."""
def register_backend_factory(name: str, factory: Callable[..., Any], *, priority: int = 0, fail_quietly: bool = True, experimental: bool = False, make_topology: Callable[..., Any] | None = None, c_api: object | None = None) -> None:
    """Not supported: platforms come as PJRT plugins, see ``plugins.register_plugin``."""
def register_plugin(plugin_name: str, *, priority: int = 400, library_path: str | None = None, options: dict | None = None, c_api: object | None = None, **_: Any) -> Any:
    """Register a PJRT plugin as the platform ``plugin_name``; plugins' own `initialize` functions call this."""
