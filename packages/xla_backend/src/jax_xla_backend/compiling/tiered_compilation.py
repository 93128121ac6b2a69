"""Tiered compilation (`jax_tiered_compilation`): quick code for the first calls of a program, then the full code.

A program is compiled the quick way first (`compiler_options.first_options`). Its second call is a sign that more will follow, and
has a thread of its own compile it in full; once that is done, the next call takes over the full code. Programs that run
once, as initialisers do, are never compiled in full. Both codes compute the same but for rounding, so results may differ
in the last bits from one call to a later one: that is why this is off unless asked for.
"""
from __future__ import annotations

import collections
import threading
from typing import TYPE_CHECKING, Any, Sequence

from jax_core.configuration import flags

from ..jaxlib_compat import RuntimeError_
from . import compile
from .compiler_options import first_options, is_one_function, options_for

if TYPE_CHECKING:
    from ..jaxlib_compat import Client, Device
    from ..lowering.module import Module

HOT = 2
"""The call of a program that has it compiled in full."""

_upgrades: collections.OrderedDict[Any, "Upgrade"] = collections.OrderedDict()  # by their full code's key, as functions come and go
_queue: collections.deque["Upgrade"] = collections.deque()
_worker: threading.Thread | None = None
_lock = threading.Lock()


class Upgrade:
    """Full code to come, for a program that runs quick code.

    Args:
      entry: the place of the full code.
      name: of the function, for messages.
    """

    def __init__(self, entry: compile.CacheEntry, name: str):
        self._entry, self._name = entry, name
        self._calls = 0
        self._compiling = threading.Lock()
        self.full: Any = None
        self.over = False  # the full code is there, or cannot be had

    def called(self) -> bool:
        """Count a call. Returns whether waiting for the full code is over."""
        with _lock:
            self._calls += 1
            over, hot = self.over, self._calls == HOT
        if hot and not over:
            _later(self)
        return over  # as it was before: the call that starts the compilation never waits for it, however fast it is

    def finish(self) -> Any:
        """The full code, compiled now if it is not there yet.

        Raises:
          RuntimeError: XLA rejects the program.
        """
        with self._compiling:
            if self.full is None:
                self.full = self._entry.executable()
            self.over = True
            with _lock:
                _upgrades.pop(self._entry.key, None)
            return self.full

    def try_to_finish(self) -> None:
        """Compile the full code; where XLA cannot, the quick code stays."""
        try:
            self.finish()
        except Exception as error:
            import logging  # start-up: as rare as the message

            logging.getLogger("jax.compile").warning("jit(%s) keeps the code of the first tier: %s", self._name, error)
            self.over = True


def compile_first(module: Module, client: Client, devices: Sequence[Device], items: tuple, name: str) -> tuple[Any, Upgrade | None]:
    """Executable code of a lowered module, and what is to replace it, or None.

    Only programs on one CPU device that call no Python functions have two tiers, where the caller gave no options, and
    the full way is not as quick. Full code that is in a cache is taken at once. Calls of equal programs count together.

    Args:
      items: compiler options of the caller.
    """
    options = options_for(module, client.platform, items)
    callbacks = list(module.facts.host_callbacks)
    cached = not module.facts.keep_alive
    text, located = module.text(), module.text_to_compile
    if len(devices) == 1 and is_one_function(module, client.platform, items):
        try:
            return compile.compile_text(module.as_function(text), client, devices, options, located=lambda: module.as_function(located())), None
        except RuntimeError_:
            pass  # an operation that this compiler has as a kernel only
    plain = client.platform == "cpu" and len(devices) == 1 and module.facts.work is not None and cached and not (items or callbacks)
    tiered = plain and flags.tiered_compilation.value and not flags.disable_most_optimizations.value
    quick = first_options(module, options) if tiered else options
    full = None if quick == options else compile.CacheEntry(text, client, devices, options, located)
    if full is None or full.find() is not None:
        return compile.compile_text(text, client, devices, options, callbacks, cached=cached, located=located), None
    first = compile.compile_text(text, client, devices, quick, located=located)
    with _lock:
        upgrade = _upgrades.setdefault(full.key, Upgrade(full, name))
        if len(_upgrades) > compile.LIMIT:
            _upgrades.popitem(last=False)
    return first, upgrade


def clear() -> None:
    """Forget what has been counted."""
    with _lock:
        _upgrades.clear()


def wait() -> None:
    """Wait until the programs that are queued for the second tier are compiled."""
    while (worker := _worker) is not None:
        worker.join()


def _later(upgrade: Upgrade) -> None:
    global _worker
    if not threading.main_thread().is_alive():
        return  # the interpreter ends, and starts no threads
    with _lock:
        _queue.append(upgrade)
        if _worker is None:
            # Not a daemon: an interpreter that ends while XLA compiles would take XLA's own data from under it.
            _worker = threading.Thread(target=_work, name="jax-second-tier")
            _worker.start()


def _work() -> None:
    """Compile what is queued, until there is no more, or the program ends."""
    global _worker
    while True:
        with _lock:
            if not _queue or not threading.main_thread().is_alive():
                _queue.clear()
                _worker = None
                return
            upgrade = _queue.popleft()
        upgrade.try_to_finish()
