"""Platforms, clients and devices.

A client is jaxlib's connection to the devices of one platform. Clients are made at first need, once per process: the
CPU client by jaxlib itself, others by PJRT plugins (see `plugins`).

Which platform is the default: the first of ``JAX_PLATFORMS`` if that is set, else the first plugin that has devices,
else the CPU.

A forked child cannot use a client of its parent: the threads that execute programs do not exist in it, and a wait
would last for ever. So every way to a client looks whether this process is the one that made it, and raises if not.
"""
from __future__ import annotations

import contextlib
import copyreg
import os
import re
import threading
from typing import TYPE_CHECKING, Any, Callable, Iterator

from jax_core.configuration import flags
from jax_core.configuration.engine import before_change
from jax_core.extension_points import Listeners
from jax_core.representation import source

from ..jaxlib_compat import LAUNCHES_SHARE_THREADS, _jax
from . import distributed_state, registry as platforms

if TYPE_CHECKING:
    from ..jaxlib_classes import Device
    from ..jaxlib_compat import Client
else:
    Device = _jax.Device

# Several names stand for one platform; "gpu" is any of the vendors'.
_GPU_PLATFORMS = ("cuda", "rocm", "oneapi")
_KNOWN = {"cpu", "tpu", "gpu", *_GPU_PLATFORMS}
_ALIASES = {"gpu": _GPU_PLATFORMS, "cuda": ("cuda",), "rocm": ("rocm",), "oneapi": ("oneapi",)}

_lock = threading.RLock()
_clients: dict[str, Any] = {}
_default: str | None = None
_pid: int | None = None
client_made: Listeners[[Any]] = Listeners("a client has been made, with it", "jax_xla_backend.platforms")
process_forked: Listeners[[]] = Listeners("a process that used jax was forked, in the child", "jax_xla_backend.platforms")
"""For who passes by `get_client`, which refuses there."""


def check_process() -> None:
    """Raise in a forked child whose parent already had a client."""
    if _pid is not None and _pid != os.getpid():
        raise RuntimeError(
            f"JAX was used in process {_pid} before it was forked into this process ({os.getpid()}), and the threads that "
            "run JAX programs do not survive fork(). Start the workers with "
            "multiprocessing.get_context('spawn') or 'forkserver', or make sure that JAX is first used after the fork.")


def _after_fork_in_child() -> None:
    if _pid is not None:
        process_forked.tell()


os.register_at_fork(after_in_child=_after_fork_in_child)


def _make_cpu_client() -> Any:
    count = flags.config.read("jax_num_cpu_devices")
    options: dict[str, Any] = {} if count is None or count < 1 else {"num_devices": count}
    options.update(distributed_state.cpu_options())
    with _room_to_launch(options.get("num_devices") or _devices_of_flags()):
        return _jax.get_tfrt_cpu_client(asynchronous=flags.config.read("jax_cpu_enable_async_dispatch"), **options)


def _refuse_other_devices() -> None:
    if "cpu" in _clients:
        raise RuntimeError("jax_num_cpu_devices: the CPU devices have been made already, by the first use of one or by jax.devices(); set "
                           "the flag right after `import jax`")


before_change("jax_num_cpu_devices", _refuse_other_devices)


def _devices_of_flags() -> int:
    found = re.search(r"--xla_force_host_platform_device_count=(\d+)", os.environ.get("XLA_FLAGS", ""))
    return int(found[1]) if found else 1


@contextlib.contextmanager
def _room_to_launch(devices: int) -> Iterator[None]:
    """Give a client of several CPU devices, made inside the block, threads enough that launches leave some for running programs.

    Before 0.12 jaxlib launches programs from the pool that also runs them. Where 32 programs are under way a launch waits for
    one to end; in a pool with one thread for each device those programs then lack a thread to meet in a collective, for good. With
    four for each, up to three Python threads can be that far ahead.
    """
    name, wanted = "PJRT_NPROC", 4 * devices
    enough = devices < 2 or (os.cpu_count() or 1) >= wanted or name in os.environ or "NPROC" in os.environ
    if enough or not LAUNCHES_SHARE_THREADS:
        yield
        return
    os.environ[name] = str(wanted)
    try:
        yield
    finally:
        del os.environ[name]


def _find_plugins() -> None:
    """Unless only the CPU is asked for: then looking for plugins would be lost time."""
    if any(part.strip() not in ("", "cpu") for part in (_wanted_platforms() or "any").split(",")):
        from . import plugins  # start-up: a program on the CPU does without

        plugins.find()


def _wanted_platforms() -> str:
    return flags.config.read("jax_platforms") or flags.config.read("jax_platform_name") or ""


def is_platform(name: str) -> bool:
    """Whether ``name`` is that of a vendor's platform, which need not be here, or of one that a plugin brings."""
    if name.lower() not in _KNOWN:
        _find_plugins()
    return name.lower() in _KNOWN or name.lower() in platforms.factories


def expand_platform_alias(platform: str) -> list[str]:
    """The platforms that a name stands for; vendors' packages ask."""
    return list(_names_for(platform))


def _names_for(platform: str) -> tuple[str, ...]:
    return _ALIASES.get(platform, (platform,))


def _start(name: str) -> Any:
    """The client of platform ``name``, made if need be; None if there is no such platform."""
    global _pid
    client = _clients.get(name)
    if client is None:
        if name == "cpu":
            factory: Callable[[], Any] | None = _make_cpu_client
        else:
            _find_plugins()
            factory = platforms.factories.get(name)
        if factory is None:
            return None
        _pid = os.getpid()
        client = _clients[name] = factory()
        try:
            client_made.tell(client)
        except BaseException:  # Ctrl-C: who was not told would miss it for good
            del _clients[name]
            raise
    return client


def _start_default() -> str:
    """The name of the default platform; its client exists afterwards."""
    wanted = [p.strip() for p in _wanted_platforms().lower().split(",") if p.strip()]
    if wanted:
        for platform in wanted:
            for name in _names_for(platform):
                try:
                    if _start(name) is not None:
                        return name
                except Exception as error:
                    raise RuntimeError(f"platform {name!r} of JAX_PLATFORMS={','.join(wanted)} cannot be used: {error}. Set JAX_PLATFORMS "
                                       "to others, or unset it for what is there.") from error
            if platform not in _KNOWN:
                break
        raise RuntimeError(f"Unable to initialize backend {platform!r} of JAX_PLATFORMS={','.join(wanted)}: no plugin brings it, present are "
                           f"{sorted({'cpu', *platforms.factories})}{_advice(platform)}")
    _find_plugins()
    problems: list[str] = []
    chosen = next((name for name in platforms.factories if _works(name, problems)), "cpu")
    if problems:
        source.warn(f"{'; '.join(problems)}. Running on {chosen}; JAX_PLATFORMS={chosen} asks for that without this warning.")
    _start(chosen)
    return chosen


def _works(name: str, problems: list[str]) -> bool:
    """Whether the platform has devices; what keeps it from that goes to ``problems``."""
    try:
        return bool(_start(name).device_count())
    except Exception as error:
        _clients.pop(name, None)
        problems.append(f"platform {name!r} cannot be used: {error}")
        return False


def _advice(platform: str) -> str:
    """How to install the plugins that bring the platform, to be put after a sentence; empty for platforms that are not known."""
    from . import plugins  # start-up: as above

    known = [plugins.HOW_TO_INSTALL[name] for name in _names_for(platform) if name in plugins.HOW_TO_INSTALL]
    return f". Install one: {'; '.join(known)}" if known else ""


def get_client(platform: object = None) -> Any:
    """The client of ``platform``: a name, a client (returned as it is), or None for the default.

    Raises:
      RuntimeError: there is no such platform, or this process was forked from one that used jax.
    """
    global _default
    check_process()
    if platform is None:
        if _default is None:
            with _lock:
                if _default is None:
                    _default = _start_default()
        return _clients[_default]
    if hasattr(platform, "local_devices"):
        return platform
    if not isinstance(platform, str):
        raise TypeError(f"a platform is named by a string such as 'cpu', got {platform!r} of type {type(platform).__name__}")
    with _lock:
        for name in _names_for(platform.lower()):
            client = _start(name)
            if client is not None:
                return client
        _find_plugins()
    if platform.lower() == "gpu":
        raise RuntimeError(f"Unknown backend: 'gpu' requested, but no platforms that are instances of gpu are present. "
                           f"Platforms present are: {', '.join(sorted({'cpu', *platforms.factories}))}{_advice('gpu')}")
    raise RuntimeError(f"Unknown backend {platform}. Available backends are {sorted({'cpu', *platforms.factories})}"
                       f"{_advice(platform.lower())}")


def is_started() -> bool:
    """Whether a client exists already."""
    return bool(_clients)


def devices(backend: str | object | None = None) -> list[Device]:
    """All devices of a platform (of all processes), in the order of their ids.

    Args:
      backend: name of a platform, e.g. ``"cpu"``; default the default platform.

    Raises:
      RuntimeError: there is no such platform.

    >>> len(jax.devices()) == jax.device_count()
    True
    """
    return list(get_client(backend).devices())


def local_devices(process_index: int | None = None, backend: str | object | None = None,
                  host_id: int | None = None) -> list[Device]:
    """The devices that belong to one process (default: to this one).

    Args:
      process_index, host_id: of the process; `host_id` is the older name.
      backend: a platform; default the one in use.

    Raises:
      ValueError: there is no such process.

    >>> len(jax.local_devices()) == jax.local_device_count()
    True
    """
    client = get_client(backend)
    wanted = host_id if process_index is None else process_index
    if wanted is None:
        return list(client.local_devices())
    found = [d for d in client.devices() if d.process_index == wanted]
    if not found:
        raise ValueError(f"local_devices: there is no process {wanted}; processes are {process_indices(backend)}")
    return found


def device_count(backend: str | object | None = None) -> int:
    """Number of devices, of all processes together.

    >>> jax.device_count() >= 1
    True
    """
    return int(get_client(backend).device_count())


def local_device_count(backend: str | object | None = None) -> int:
    """Number of devices of this process.

    >>> jax.local_device_count() <= jax.device_count()
    True
    """
    return int(get_client(backend).local_device_count())


def process_index(backend: str | object | None = None) -> int:
    """Number of this process among the processes that run the program together.

    >>> jax.process_index()
    0
    """
    return int(get_client(backend).process_index())


host_id = process_index


def process_indices(backend: str | object | None = None) -> list[int]:
    """The numbers of all processes.

    >>> jax.process_indices()
    [0]
    """
    return sorted({d.process_index for d in get_client(backend).devices()})


def process_count(backend: str | object | None = None) -> int:
    """Number of processes that run the program together.

    >>> jax.process_count()
    1
    """
    return max(process_indices(backend)) + 1


def default_backend() -> str:
    """Name of the default platform: ``"cpu"``, ``"gpu"`` or ``"tpu"``.

    >>> isinstance(jax.default_backend(), str)
    True
    """
    platform = get_client().platform
    return "gpu" if platform in _GPU_PLATFORMS else platform


def platform_of(client: Client) -> str:
    """The platform as lowering rules name it: ``"cpu"``, ``"cuda"``, ``"rocm"``, ``"tpu"``."""
    return str(client._raw_platform if client.platform == "gpu" else client.platform)


def is_described(client: object) -> bool:
    """Whether the client's devices are only described (see `placement.topologies`): it compiles for them, and cannot run."""
    return type(client) is _jax.CompileOnlyPyClient


def default_device() -> Device:
    """The device that uncommitted values are made on: the flag ``jax_default_device``, else the first local device.

    Raises:
      ValueError: the flag is neither a device nor the name of a platform. RuntimeError: of one that is not there.
    """
    chosen = flags.config.read("jax_default_device")
    if chosen is None:
        return get_client().local_devices()[0]
    if isinstance(chosen, Device):
        check_process()
        return chosen
    if isinstance(chosen, str):
        try:
            return get_client(chosen).local_devices()[0]
        except RuntimeError as error:
            if chosen.lower() in _KNOWN:
                raise
            raise ValueError(f"jax_default_device: {error}") from None
    raise ValueError(f"jax_default_device must be a device, the name of a platform or None, got {chosen!r} of type "
                     f"{type(chosen).__name__}")


def _device_by_id(platform: str, number: int) -> Device:
    for device in devices(platform):
        if device.id == number:
            return device
    raise RuntimeError(f"this process has no device {platform}:{number}; it has {devices(platform)}")


copyreg.pickle(Device, lambda d: (_device_by_id, (d.platform, d.id)))
