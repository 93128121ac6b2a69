"""From StableHLO text to an executable: options, and the caches in memory and on disk.

Both caches are keyed by the module's text, not by the Python function that it came from: a fresh lambda with the same
body compiles nothing.
"""
from __future__ import annotations

import collections
import enum
import functools
import hashlib
import os
import threading
import time
from typing import TYPE_CHECKING, Any, Callable, Sequence, cast

import numpy as np

from jax_core.configuration import flags

from ..arrays import interruptible
from ..jaxlib_compat import FEW_LOOPS_ARE_FUNCTIONS, RuntimeError_, _jax
from ..planning.loops import USUAL
from ..platforms.client import is_described
from . import disk_cache, mappings, parsing
from .compiler_options import EXTRA_OPTIONS, LOOP_OPTION

if TYPE_CHECKING:
    from ..jaxlib_compat import Client, Device
    from ..lowering.module import Module

LIMIT = 512  # an executable takes some 0.3 MB; those in use are kept by their functions, and disk has the others
_cache: collections.OrderedDict[Any, Any] = collections.OrderedDict()
_lock = threading.Lock()
counts = {"compiled": 0}
"""How many modules XLA compiled in this process; tests count with it."""


def clear() -> None:
    """Forget all executables kept in memory."""
    with _lock:
        _cache.clear()


def forget(loaded: object) -> None:
    """Keep ``loaded`` in memory no longer."""
    with _lock:
        for key in [k for k, kept in _cache.items() if kept is loaded]:
            del _cache[key]


class CompilerEffortLevel(enum.Enum):
    """How hard the compiler tries: value of the compiler options ``optimization_level`` and ``memory_fitting_level``.

    Source: OpenXLA, "Effort levels".
    """

    UNKNOWN = 0
    O0 = 9
    O1 = 19
    O2 = 29
    O3 = 39


def _effort(value: Any) -> Any:
    """An effort level, a member or its name, as the number that XLA knows it by."""
    value = getattr(CompilerEffortLevel, value, value) if isinstance(value, str) else value
    return value.value if isinstance(value, CompilerEffortLevel) else value


def _effort_flags() -> tuple[int, int]:
    """The process's flags for both levels; 0 where a flag leaves the compiler's own choice."""
    memory = flags.memory_fitting_level.value
    return _effort(flags.optimization_level.value), 0 if memory == flags.memory_fitting_level.default else _effort(memory)


def option_items(options: Any) -> tuple[tuple[str, Any], ...]:
    """Compiler options (a mapping, items, or None) as sorted items.

    Raises:
      TypeError: a name is not a string, or a value neither bool, number nor string.
    """
    items = sorted((options.items() if hasattr(options, "items") else options) or ())
    items = [(name, _effort(value) if name in _LEVELS else value) for name, value in items]
    for name, value in items:
        if not isinstance(name, str) or not isinstance(value, (bool, int, float, str)):
            raise TypeError(f"compiler_options: {name!r}: {value!r} must be a str and a bool, int, float or str")
    return tuple(items)


# Options that are fields of the build options and not XLA flags.
_LEVELS = ("optimization_level", "memory_fitting_level")
# After so many seconds of waiting for the other devices of a collective XLA ends the process; its own 40 pass on a machine that is
# busy, stopped or swapping.
_PATIENCE = "xla_cpu_collective_call_terminate_timeout_seconds"
_BUILD_FIELDS = {"exec_time_optimization_effort", "memory_fitting_effort", *_LEVELS}


def _cpu_options(more: str = "") -> Any:
    """Options with XLA's limit of loops raised where it is low (see `lowering.loops`), and those of ``more`` (name or name=value, by comma).

    jaxlib reads them from a map that only the serialized form of options shows. What the user has set in XLA_FLAGS stays.
    """
    plain = _jax.CompileOptions().SerializeAsString()
    field = lambda number, value: _varint(number << 3 | 2) + _varint(len(value)) + value
    added = b""
    usual = [b"%s=%d" % (LOOP_OPTION.encode(), USUAL)] if FEW_LOOPS_ARE_FUNCTIONS else []
    options = [*usual, *filter(None, more.encode().split(b","))]
    for name, value in dict([option.partition(b"=")[::2] for option in options]).items():
        if name not in plain:
            # CompileOptionsProto.executable_build_options.debug_options.xla_backend_extra_options
            added += field(3, field(3, field(500, field(1, name) + field(2, value))))
    return _jax.CompileOptions.ParseFromString(plain + added)


def _varint(n: int) -> bytes:
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def compile_options(devices: Sequence[Device], items: tuple = (), spmd: bool | None = None) -> Any:
    """jaxlib's compile options: one replica, one partition for each device."""
    given = dict(items)
    options = _cpu_options(given.pop(EXTRA_OPTIONS, "")) if devices[0].platform == "cpu" else _jax.CompileOptions()
    build = options.executable_build_options
    ids = np.array([[d.id for d in devices]], dtype=np.int64)
    options.num_replicas = 1
    options.num_partitions = len(devices)
    options.device_assignment = _jax.DeviceAssignment.create(ids)
    build.num_replicas, build.num_partitions = 1, len(devices)
    build.use_spmd_partitioning = len(devices) > 1 if spmd is None else spmd
    build.use_shardy_partitioner = bool(build.use_spmd_partitioning and flags.use_shardy_partitioner.value)
    if build.use_spmd_partitioning:
        build.allow_spmd_sharding_propagation_to_output = [True]
    levels = dict(zip(_LEVELS, _effort_flags()))
    for name in _BUILD_FIELDS:
        value = given.get(name, levels[name] or None if name in levels else getattr(flags.config, f"jax_{name}", None))
        if value is not None and value != "" and hasattr(build, name):  # not all versions have all fields
            setattr(build, name, value)
    if flags.disable_most_optimizations.value:
        build.debug_options.xla_backend_optimization_level = 0
        build.debug_options.xla_llvm_disable_expensive_passes = True
    if devices[0].platform == "cpu" and len(devices) > 1 and _PATIENCE not in os.environ.get("XLA_FLAGS", ""):
        given.setdefault(_PATIENCE, 3600)
    if not flags.compiler_enable_remat_pass.value:
        given["xla_disable_hlo_passes"] = ",".join(filter(None, [given.get("xla_disable_hlo_passes"), "rematerialization"]))
    options.env_option_overrides = [(n, v) for n, v in given.items() if n not in _BUILD_FIELDS]
    return options


def compile_text(text: str, client: Client, devices: Sequence[object], items: tuple = (),
                 host_callbacks: Sequence[object] = (), module: Module | None = None, cached: bool = True,
                 located: Callable[[], str] | None = None) -> Any:
    """The executable of a module's text, from the caches if it is there.

    Args:
      text: a StableHLO module.
      client: of the platform.
      devices: where it runs, one partition on each.
      items: compiler options, as from `option_items`.
      host_callbacks: Python functions that the module calls by number; such a module is not cached.
      module: the parsed module, needed with ``host_callbacks``.
      cached: false for a text that holds addresses of objects of this process.
      located: gives the text with locations, which the compiler gets where the caches have nothing.

    Raises:
      ValueError: XLA rejects the module.
      JaxRuntimeError: the process may have no more memory mappings.
    """
    interruptible.expect_long()
    if host_callbacks:
        return _compile(module if module is not None else parsing.parse(text), client, devices, items, host_callbacks)
    if not cached:
        return _compile(text, client, devices, items, ())
    return CacheEntry(text, client, devices, items, located).executable()


class CacheEntry:
    """The place of a module's executable in the caches: in memory, and on disk, where that is on.

    Args: as for `compile_text`.
    """

    def __init__(self, text: str, client: Any, devices: Sequence[Any], items: tuple, located: Callable[[], str] | None = None):
        self._text, self._client, self._devices, self._items, self._located = text, client, tuple(devices), items, located
        settings = (flags.disable_most_optimizations.value, flags.use_shardy_partitioner.value, flags.compiler_enable_remat_pass.value,
                    USUAL, *_effort_flags())
        self.key = (hashlib.sha256(text.encode()).digest(), self._devices, items, settings)

    @functools.cached_property
    def _file(self) -> str | None:
        if disk_cache.directory() is None or is_described(self._client):  # jaxlib reads only what can run
            return None
        where = [(d.id, d.device_kind) for d in self._devices]
        return disk_cache.key_of(self._text, f"{where}{self._items}{self.key[-1]}", self._client)

    def executable(self) -> Any:
        """The executable, compiled if it is not there."""
        found = self.find()
        if found is not None:
            return found
        start = time.perf_counter()
        text = self._text if self._located is None else self._located()
        loaded = _compile(text, self._client, self._devices, self._items, ())
        self._keep(loaded, time.perf_counter() - start)
        return loaded

    def find(self) -> Any:
        """The executable, or None if neither cache has it."""
        with _lock:
            found = _cache.get(self.key)
            if found is not None:
                _cache.move_to_end(self.key)
                return found
        entry = None if self._file is None else disk_cache.read(self._file)
        if entry is None:
            return None
        options = compile_options(self._devices, self._items)
        mappings.make_room(clear)
        try:
            loaded = self._client.deserialize_executable(entry, _jax.DeviceList(self._devices), options)
        except (RuntimeError, ValueError):
            disk_cache.forget(cast(str, self._file))  # from another build of jaxlib, or damaged in a way that the digest cannot show
            return None
        self._remember(loaded)
        return loaded

    def _keep(self, loaded: Any, seconds: float) -> None:
        """Put what took ``seconds`` to compile into the caches."""
        self._remember(loaded)
        if self._file is None:
            return
        try:
            disk_cache.write(self._file, loaded.serialize(), seconds)
        except (RuntimeError, NotImplementedError):
            pass  # this platform cannot serialize this executable

    def _remember(self, loaded: Any) -> None:
        with _lock:
            _cache[self.key] = loaded
            if len(_cache) > LIMIT:
                _cache.popitem(last=False)


def _compile(module: Any, on: Any, devices: Sequence[Any], items: tuple, host_callbacks: Sequence[Any]) -> Any:
    if len(set(devices)) != len(devices):  # XLA compiles it, and one part then lies where the other does
        twice = next(d for d in devices if list(devices).count(d) > 1)
        raise ValueError(f"a program on the devices {list(devices)} cannot be compiled, as {twice} is among them more than once; a mesh that arrays "
                         "lie on, or programs run on, must have each device once.")
    options = compile_options(devices, items)
    device_list = _jax.DeviceList(tuple(devices))
    mappings.make_room(clear)
    counts["compiled"] += 1
    described = is_described(on)
    program = parsing.parse(module) if described and isinstance(module, str) else module
    compiler = on.compile if described else on.compile_and_load
    more = [list(host_callbacks)] if host_callbacks and not described else []  # what is only described calls nobody

    def work(given: object = program) -> Any:
        return compiler(given, device_list, options, *more)

    try:
        return interruptible.call(functools.partial(parsing.read, program, work) if isinstance(program, str) else work)
    except RuntimeError_ as error:
        from .complaints import explained  # start-up: only a program that fails needs it
        raise explained(error, module, devices) from error
