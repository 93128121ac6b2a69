"""PJRT plugins: shared libraries that bring further platforms (GPU, TPU, others).

Found in four places, in this order: ``PJRT_NAMES_AND_LIBRARY_PATHS`` (``name:path,...``); the vendors' packages, known by
their files; packages with an entry point in the group ``jax_plugins``, whose function is called and calls
`register_plugin` back; and other modules in the namespace ``jax_plugins``, whose ``initialize`` does. The first two are loaded when the
platform is first needed.

A GPU vendor's package registers itself the same way: its function also tells jaxlib how the plugin is given handlers of
custom calls. It is run only where there is such a device, or where a program is compiled for one that is described.

Reading all installed metadata takes longer than starting the CPU client. So metadata is only read where a file
``entry_points.txt`` mentions the group.
"""
from __future__ import annotations

import contextlib
import functools
import glob
import importlib
import os
import sys
import threading
from typing import Any, Callable, Iterator

from jax_core.configuration import flags
from jax_core.representation import source

from ..jaxlib_compat import VERSION, VERSION_TEXT, _jax
from . import attached, distributed_state, registry as platforms

GROUP = "jax_plugins"
_PACKAGES = {  # by platform: libraries in the order of preference
    "cuda": ("jax_plugins/xla_cuda13/xla_cuda_plugin.so", "jax_plugins/xla_cuda12/xla_cuda_plugin.so"),
    "rocm": ("jax_plugins/xla_rocm7/xla_rocm_plugin.so", "jax_plugins/xla_rocm60/xla_rocm_plugin.so"),
    "tpu": ("libtpu/libtpu.so",),
}
HOW_TO_INSTALL = {"cuda": 'pip install "jax[cuda12]" (or cuda13)', "rocm": "pip install jax-rocm7-plugin jax-rocm7-pjrt",
                  "tpu": 'pip install "jax[tpu]"'}
"""By platform."""

# A machine without the device has neither the metadata server nor, it may be, the libraries that the vendor's code looks for, and
# nothing that only one process may use.
_WITHOUT_DEVICE = {"tpu": {"TPU_SKIP_MDS_QUERY": "1", "TPU_WORKER_HOSTNAMES": "localhost",
                           "TPU_ACCELERATOR_TYPE": "v5litepod-4", "ALLOW_MULTIPLE_LIBTPU_LOAD": "1"}, "cuda": {"JAX_SKIP_CUDA_CONSTRAINTS_CHECK": "1"}}

_lock = threading.RLock()
_found = False
_loaders: dict[str, Callable[[], Any]] = {}
_options: dict[str, dict] = {}
_apis: list = []
"""The capsules of the C APIs of loaded plugins, each of which has an XLA of its own."""
_told: list[Callable[[Any], object]] = []
"""What is said to each of them, and to those that will be loaded."""


def find() -> None:
    """Enter all platforms that plugins bring. Only the first call does anything."""
    global _found
    with _lock:
        if _found:
            return
        _found = True
        for pair in filter(None, os.environ.get("PJRT_NAMES_AND_LIBRARY_PATHS", "").split(",")):
            name, _, path = pair.partition(":")
            if not name or not path:
                source.warn(f"PJRT_NAMES_AND_LIBRARY_PATHS: {pair!r} is not of the form name:path and is ignored")
                continue
            _enter(name, functools.partial(_load_library, name, path))
        known = set()
        for name, paths in _PACKAGES.items():
            file = next(_on_path(paths), None)
            if file is not None:
                known |= set(map(_folder, paths))  # one package of a vendor is used, and none other is started
                _enter(name, functools.partial(_load_package, name, _folder(file), file))
        if _mentioned(known):
            known |= _run_entry_points(known)
        for module in _in_namespace(known):
            _start(module, functools.partial(importlib.import_module, f"{GROUP}.{module}"))


def _folder(path: str) -> str:
    """The name of the folder that a file is in."""
    return os.path.basename(os.path.dirname(path))


def _enter(name: str, load: Callable[[], Any]) -> None:
    _loaders[name] = load
    platforms.register(name, functools.partial(_client, name))


def _on_path(paths: tuple[str, ...]) -> Iterator[str]:
    for path in paths:
        for folder in sys.path:
            full = os.path.join(folder, *path.split("/"))
            if os.path.exists(full):
                yield full


def _load_library(platform: str, path: str | None, api: Any = None) -> Any:
    """Load a plugin, and tell it what the others were told; the result is the capsule of its C API."""
    loaded = _jax.load_pjrt_plugin(platform, path, api)
    with _lock:
        _apis.append(loaded)
        for tell in _told:
            tell(loaded)
    return loaded


def tell_each(tell: Callable[[Any], object]) -> None:
    """Call ``tell(api)`` for the C API of each plugin that is loaded, and of each that will be.

    What jaxlib's XLA is told by a call without the API, those of plugins do not know.
    """
    with _lock:
        _told.append(tell)
        for api in _apis:
            tell(api)


def _load_package(platform: str, module: str, path: str) -> None:
    """Load a vendor's library; a package under ``jax_plugins`` does it itself, and more (see above)."""
    folder = os.path.dirname(os.path.dirname(path))
    if os.path.basename(folder) != GROUP:
        _load_library(platform, path)
        return
    _check_version(module, os.path.dirname(folder))
    importlib.import_module(f"{GROUP}.{module}").initialize()
    if not _jax.pjrt_plugin_loaded(platform):
        raise RuntimeError(f"the package {GROUP}.{module} has registered nothing; its log says why")


def _check_version(module: str, folder: str) -> None:
    """Raise RuntimeError if the package, whose metadata are in ``folder``, is for another jaxlib."""
    vendor = module.removeprefix("xla_")
    for name in (f"jax_{vendor}_pjrt", f"jax_{vendor}_plugin"):
        for metadata in glob.glob(os.path.join(glob.escape(folder), f"{name}-*.dist-info")):
            version = os.path.basename(metadata)[len(name) + 1:-len(".dist-info")]
            if version.split(".")[:3] != [str(part) for part in VERSION]:
                distribution, fitting = name.replace("_", "-"), ".".join(map(str, VERSION))
                raise RuntimeError(f"{distribution} {version} is not made for jaxlib {VERSION_TEXT}; pip install "
                                   f'"jax-{vendor}-plugin[with-cuda]=={fitting}" "jax-{vendor}-pjrt=={fitting}"')


def load(name: str) -> None:
    """Load and initialise the plugin of the platform ``name``, without making a client.

    Raises:
      RuntimeError: the plugin is broken, or does not fit jaxlib.
    """
    with _lock, _environment({} if attached.may_have(name) else _WITHOUT_DEVICE.get(name, {})):
        if not _jax.pjrt_plugin_loaded(name):
            _loaders[name]()
        if not _jax.pjrt_plugin_initialized(name):
            _jax.initialize_pjrt_plugin(name)


@contextlib.contextmanager
def _environment(settings: dict[str, str]) -> Iterator[None]:
    """Set the variables that are not set, inside the block."""
    added = {name: value for name, value in settings.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


def _client(name: str) -> Any:
    """The client of a plugin's platform.

    Raises:
      RuntimeError: there is no device, or the plugin is broken.
    """
    if not attached.may_have(name):
        raise RuntimeError(f"no {name} device is attached to this machine: there is no {attached.device_nodes(name)}")
    load(name)
    given = {**_options.get(name, {}), **distributed_state.plugin_options(name), **options_of_flags(name)}
    return _jax.get_c_api_client(name, given, distributed_state.client())


def options_of_flags(name: str) -> dict[str, Any]:
    """Options that flags give the client of the platform ``name``: which devices it shows, and ``jax_pjrt_client_create_options``.

    Raises:
      ValueError: a flag holds something else than ``0,1`` or ``name:value;name:value``.
    """
    options: dict[str, Any] = {}
    for entry in filter(None, (flags.pjrt_client_create_options.value or "").split(";")):
        key, colon, value = entry.partition(":")
        if not colon:
            raise ValueError(f"jax_pjrt_client_create_options: {entry!r} is no option; write name:value;name:value")
        text = value.strip()
        known = {"true": True, "false": False}
        options[key.strip()] = known[text.lower()] if text.lower() in known else int(text) if text.lstrip("-").isdigit() else text
    visible = {"cuda": flags.cuda_visible_devices, "rocm": flags.rocm_visible_devices, "oneapi": flags.oneapi_visible_devices}.get(name)
    if visible is not None and visible.value != "all":
        if not all(n.strip().isdigit() for n in visible.value.split(",")):
            raise ValueError(f"{visible.name}: {visible.value!r} must be 'all' or numbers of devices, as 0,1")
        options["visible_devices"] = [int(n) for n in visible.value.split(",")]
    return options


def _module_of(value: str) -> str:
    """The last part of the module's name in an entry point ``package.module:function``."""
    return value.partition(":")[0].rpartition(".")[2].strip()


def _mentioned(known: set[str]) -> bool:
    """Whether any installed distribution has entry points in the group, for other modules than those known."""
    for folder in sys.path:
        try:
            names = [n for n in os.listdir(folder) if n.endswith((".dist-info", ".egg-info"))]
        except OSError:
            continue
        for name in names:
            try:
                with open(os.path.join(folder, name, "entry_points.txt"), encoding="utf-8", errors="replace") as file:
                    group = file.read().partition(f"[{GROUP}]")[2].partition("\n[")[0]
            except OSError:
                continue
            if any("=" in line and _module_of(line.partition("=")[2]) not in known for line in group.splitlines()):
                return True
    return False


def _run_entry_points(known: set[str]) -> set[str]:
    """Start them; returns the modules that they are in."""
    import importlib.metadata  # start-up: takes a while, and few need it

    found = {entry.value: entry for entry in importlib.metadata.entry_points(group=GROUP) if _module_of(entry.value) not in known}
    for entry in found.values():
        _start(entry.name, entry.load)
    return set(map(_module_of, found))


def _in_namespace(known: set[str]) -> list[str]:
    """The modules in the namespace that nobody else knows."""
    found: dict[str, None] = {}
    for folder in sys.path:
        try:
            names = os.listdir(os.path.join(folder, GROUP))
        except OSError:
            continue
        for name in sorted(names):
            module = name.removesuffix(".py")
            is_module = name != module or os.path.exists(os.path.join(folder, GROUP, name, "__init__.py"))
            if is_module and module.isidentifier() and not module.startswith("_") and module not in known:
                found[module] = None
    return list(found)


def _start(name: str, load: Callable[[], Any]) -> None:
    """Call what a plugin starts with: a function, or the ``initialize`` of a module."""
    try:
        loaded = load()
        (loaded if callable(loaded) else loaded.initialize)()
    except Exception as error:  # a broken plugin must not keep the other platforms from working
        source.warn(f"the JAX plugin {name!r} failed to start and is ignored: {error!r}")


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

    What a plugin's `initialize` does:

    >>> from jax.extend import backend
    >>> backend.register_plugin("my_chip", library_path="/opt/my_chip/pjrt.so")  # doctest: +SKIP
    """
    loaded = None
    if c_api is not None:
        _load_library(plugin_name, None, c_api)
    elif not _jax.pjrt_plugin_loaded(plugin_name):
        loaded = _load_library(plugin_name, library_path)
    _options[plugin_name] = options or {}
    platforms.register(plugin_name, functools.partial(_client, plugin_name))
    return loaded
