"""PJRT plugins: shared libraries that bring further platforms (GPU, TPU, others).

Found in three places, in this order: ``PJRT_NAMES_AND_LIBRARY_PATHS`` (``name:path,...``); the vendors' packages that
are known to hold a library that needs nothing but to be loaded; and packages with an entry point in the group
``jax_plugins``, whose function is called and calls `register_plugin` back.

Reading all installed metadata takes longer than starting the CPU client. So metadata is only read where a file
``entry_points.txt`` mentions the group.
"""
from __future__ import annotations

import os
import sys
from typing import Any, Callable, Iterator

from jax_core.representation import source

from . import distributed_state, registry as platforms
from ..jaxlib_compat import _jax, xla_client

GROUP = "jax_plugins"
_LIBRARIES = {
    "cuda": ("jax_plugins/xla_cuda13/xla_cuda_plugin.so", "jax_plugins/xla_cuda12/xla_cuda_plugin.so"),
    "rocm": ("jax_plugins/xla_rocm7/xla_rocm_plugin.so", "jax_plugins/xla_rocm60/xla_rocm_plugin.so"),
    "tpu": ("libtpu/libtpu.so",),
}
_found = False


def find() -> None:
    """Register all plugins there are. Only the first call does anything."""
    global _found
    if _found:
        return
    _found = True
    for pair in filter(None, os.environ.get("PJRT_NAMES_AND_LIBRARY_PATHS", "").split(",")):
        name, _, path = pair.partition(":")
        register_plugin(name, library_path=path)
    known = set()
    for name, paths in _LIBRARIES.items():
        path = next(_on_path(paths), None)
        if path is not None:
            known.add(path.rsplit(os.sep, 2)[-2])
            register_plugin(name, library_path=path, options=_options(name))
    if _mentioned():
        _run_entry_points(known)


def _on_path(paths: tuple[str, ...]) -> Iterator[str]:
    for folder in sys.path:
        for path in paths:
            full = os.path.join(folder, *path.split("/"))
            if os.path.exists(full):
                yield full


def _options(platform: str) -> dict[str, Any]:
    if platform not in ("cuda", "rocm"):
        return {}
    return {**xla_client().generate_pjrt_gpu_plugin_options(), "platform_name": platform}


def _mentioned() -> bool:
    """Whether any installed distribution has entry points in the group."""
    for folder in sys.path:
        try:
            names = [n for n in os.listdir(folder) if n.endswith((".dist-info", ".egg-info"))]
        except OSError:
            continue
        for name in names:
            try:
                with open(os.path.join(folder, name, "entry_points.txt"), "rb") as file:
                    if b"[jax_plugins]" in file.read():
                        return True
            except OSError:
                pass
    return False


def _run_entry_points(known: set[str]) -> None:
    import importlib.metadata  # start-up: takes a while, and few need it

    for entry in importlib.metadata.entry_points(group=GROUP):
        if entry.value.partition(":")[0].rpartition(".")[2] in known:
            continue
        try:
            loaded = entry.load()
            (loaded if callable(loaded) else loaded.initialize)()
        except Exception as error:  # a broken plugin must not keep the other platforms from working
            source.warn(f"the JAX plugin {entry.name!r} failed to start and is ignored: {error!r}")


def register_plugin(plugin_name: str, *, priority: int = 400, library_path: str | None = None,
                    options: dict | None = None, c_api: object | None = None, **_: Any) -> Any:
    """Register a PJRT plugin as the platform ``plugin_name``; plugins' own `initialize` functions call this.

    Args:
      plugin_name: name of the platform.
      priority: accepted; platforms are preferred in the order of registration.
      library_path: the shared library.
      options: options for the client.
      c_api: a capsule of the C API, in place of a library.

    Returns:
      a capsule of the C API, where the library was loaded by this call.
    """
    api = None
    if c_api is not None:
        _jax.load_pjrt_plugin(plugin_name, None, c_api)
    elif not _jax.pjrt_plugin_loaded(plugin_name):
        api = _jax.load_pjrt_plugin(plugin_name, library_path, None)
    platforms.register(plugin_name, _factory(plugin_name, options or {}))
    return api


def _factory(name: str, options: dict) -> Callable[[], Any]:
    def make():
        if not _jax.pjrt_plugin_initialized(name):
            _jax.initialize_pjrt_plugin(name)
        return _jax.get_c_api_client(name, {**options, **distributed_state.plugin_options(name)},
                                     distributed_state.client())
    return make
