"""How often callbacks ran and how long they took, and a limit on how long they may take.

Counting costs two readings of the clock for each call, so it is always on.
"""
from __future__ import annotations

import contextlib
import ctypes
import math
import sys
import threading
import traceback
from typing import Any, Callable, Iterator, NamedTuple

from jax_core.representation.source import describe_function

from .ending import at_end, park


class Record:
    """Number of calls of the callbacks defined at one place and the time they took together."""

    __slots__ = ("kind", "name", "count", "nanoseconds")

    def __init__(self, kind: str, name: str):
        self.kind, self.name, self.count, self.nanoseconds = kind, name, 0, 0


_records: dict[tuple[str, str], Record] = {}


def record_of(kind: str, function: Callable) -> Record:
    """The record of ``function``; functions defined at one place share it."""
    name = describe_function(function)
    found = _records.get((kind, name))
    return found if found is not None else _records.setdefault((kind, name), Record(kind, name))


class CallbackStats(NamedTuple):
    """What `callback_stats` says of one function.

    Attributes:
      kind: ``"pure_callback"``, ``"io_callback"``, ``"debug.callback"``, ...
      function: its name and where it was defined.
      calls: how often it ran.
      seconds: how long the calls took together.
    """

    kind: str
    function: str
    calls: int
    seconds: float

    @property
    def mean(self) -> float:
        """Seconds for one call."""
        return self.seconds / self.calls


def callback_stats() -> list[CallbackStats]:
    """How often each callback function ran and how long it took, those that took longest first.

    Calls that raised count too. Functions defined at one place count together, also when a program with them was traced
    several times.
    """
    rows = [CallbackStats(r.kind, r.name, r.count, r.nanoseconds * 1e-9) for r in list(_records.values()) if r.count]
    return sorted(rows, key=lambda row: row.seconds, reverse=True)


def reset_callback_stats() -> None:
    """Start counting from zero."""
    for record in list(_records.values()):
        record.count = record.nanoseconds = 0


# -- time limits ---------------------------------------------------------------------------------------------------

class CallbackTimeoutError(TimeoutError):
    """A callback ran longer than `callback_timeout` allows. The message holds its stack at that time."""


limit: float | None = None
"""Seconds that a callback may take, None for any; infinite when the interpreter ends (see `ending`)."""


@contextlib.contextmanager
def callback_timeout(seconds: float) -> Iterator[None]:
    """While this context is active, a callback that takes longer than ``seconds`` is ended by a `CallbackTimeoutError`.

    The error shows where the callback was. It is raised between two Python instructions of the callback: one that sits in
    a call of C code that does not return cannot be ended, and then only its stack is written to stderr.

    Raises:
      ValueError: ``seconds`` is not positive.
    """
    global limit
    if not seconds > 0:
        raise ValueError(f"callback_timeout: seconds must be positive, got {seconds!r}")
    before, limit = limit, float(seconds) if seconds < math.inf else None
    try:
        yield
    finally:
        limit = before


def _watch_all() -> None:
    """Have all callbacks pass through `watched`, without a limit: it parks daemon threads."""
    global limit
    limit = math.inf


at_end(_watch_all)


class watched:
    """``with watched(site):`` raises in this thread when the block takes longer than `limit`."""

    def __init__(self, site: Any):
        self.site, self.seconds = site, limit

    def __enter__(self):
        self.thread, self.over, self.lock = threading.get_ident(), False, threading.Lock()
        self.message: str | None = None
        self.timer = threading.Timer(self.seconds, self._ring)
        self.timer.daemon = True
        if math.isfinite(self.seconds):
            self.timer.start()
        else:
            park()

    def __exit__(self, kind, error, trace):
        try:
            self.timer.cancel()
            with self.lock:
                self.over = True
            if self.message is None:
                return False
            # The interruption has been raised, or is still to come. Taking it back would leave the interpreter looking for it
            # for ever, and Python 3.11 hangs then in a debugger: ask for it again, in place of the first, and wait.
            _interrupt(self.thread, _Interrupt)
            while True:
                pass
        except _Interrupt:
            pass
        raise CallbackTimeoutError(self.message) from None

    def _ring(self):
        with self.lock:
            if self.over:
                return
            frame = sys._current_frames().get(self.thread)
            stack = "".join(traceback.format_stack(frame)) if frame is not None else "(unknown)"
            self.message = (f"{self.site.kind}: the callback {self.site!r} took longer than {self.seconds:g} s "
                            f"(callback_timeout). It was here:\n{stack}")
            sys.stderr.write(self.message)
            _interrupt(self.thread, _Interrupt)


class _Interrupt(BaseException):
    """Raised by `watched` in a callback that takes too long."""


def _interrupt(thread: int, kind: type) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(kind))


__all__ = ["CallbackStats", "CallbackTimeoutError", "callback_stats", "callback_timeout", "reset_callback_stats"]
