"""The end of the interpreter while daemon threads run programs with callbacks.

CPython stops a thread that asks for the interpreter lock after the end where it stands. Below a program that is C++ which
does not allow this, and the process aborts. So the end waits for such programs, and a daemon thread that would begin
another callback waits for ever instead. Other threads have ended by then, and what XLA's own threads still have to do is
waited for by the backend.
"""
from __future__ import annotations

import atexit
import sys
import threading
import time
from typing import Callable

from jax_core.extension_points import program_caller

SAY_AFTER, GIVE_UP_AFTER = 1.0, 10.0
_parked: set[int] = set()
_stops: list[Callable[[], None]] = []


def park() -> None:
    """Wait for ever, in a daemon thread of Python."""
    if _is_daemon(threading.current_thread()):
        _parked.add(threading.get_ident())
        threading.Event().wait()


def _is_daemon(thread: threading.Thread) -> bool:
    return thread.daemon and not isinstance(thread, threading._DummyThread)  # such are the threads of XLA


def _running() -> list[str]:
    """Names of the daemon threads that are in a program with callbacks."""
    frames = sys._current_frames()
    return [t.name for t in threading.enumerate()
            if _is_daemon(t) and t.ident not in _parked and _in_program(frames.get(t.ident or 0))]


def _in_program(frame) -> bool:
    while frame is not None:
        if frame.f_globals.get("__name__") in ("jax_callbacks.site", program_caller.value):
            return True
        frame = frame.f_back
    return False


def _at_exit() -> None:
    for stop in _stops:
        stop()
    start, said = time.monotonic(), False
    while names := _running():
        waited = time.monotonic() - start
        if waited > GIVE_UP_AFTER:
            sys.stderr.write(f"jax: callbacks still run in the daemon threads {', '.join(names)}; the interpreter ends without "
                             "them, and may abort. Join the threads before the end of the program.\n")
            return
        if waited > SAY_AFTER and not said:
            sys.stderr.write(f"jax: waiting for callbacks in the daemon threads {', '.join(names)} before the interpreter "
                             "ends\n")
            said = True
        time.sleep(0.002)


def at_end(stop: Callable[[], None]) -> None:
    """Call ``stop()`` when the interpreter begins to end: from then on callbacks `park` before they begin."""
    _stops.append(stop)


def install() -> None:
    """Have the interpreter do this; called once, when the first program with a callback is compiled."""
    atexit.register(_at_exit)
