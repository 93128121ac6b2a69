"""Waiting for results so that Ctrl-C works.

jaxlib's own wait does not look for signals, so a `KeyboardInterrupt` would only be raised when the computation has ended.
Python runs signal handlers in the main thread alone; there, a long wait is left to a helper thread and the main
thread waits for it on a lock, which signals do interrupt.

The helper costs some 20 us, as it has to be woken and to wake the main thread. So after many short waits in a row the
main thread waits by itself, until a program is loaded that has not run before.
"""
from __future__ import annotations

import queue
import threading
import time
from typing import Any, Callable

from ..platforms import client

_requests: queue.SimpleQueue | None = None
_start_lock = threading.Lock()
_SHORT = 0.005  # seconds
_MANY = 32
_short_waits = 0  # in a row, of the main thread


def _helper(requests: queue.SimpleQueue) -> None:
    while True:
        wait, done = requests.get()
        try:
            wait()
        except BaseException:  # the caller repeats the wait, and gets the error itself
            pass
        del wait
        done.release()
        del done


def _start() -> queue.SimpleQueue:
    global _requests
    with _start_lock:
        if _requests is None:
            _requests = queue.SimpleQueue()
            threading.Thread(target=_helper, args=(_requests,), name="jax-wait", daemon=True).start()
    return _requests


def stop_after_fork() -> None:
    """The helper thread does not exist in a forked child."""
    global _requests
    _requests = None


def wait(block: Callable[[], object]) -> None:
    """Call ``block()``, which blocks without the GIL, such that Ctrl-C in the main thread ends the waiting.

    Errors of ``block`` are not raised here: call it again afterwards.
    """
    global _short_waits
    client.check_process()
    if threading.current_thread() is not threading.main_thread():
        block()
        return
    start = time.perf_counter()
    if _short_waits < _MANY:
        _by_helper(block)
    else:
        try:
            block()
        except Exception:
            pass  # the caller repeats the wait, and gets the error itself
    _short_waits = _short_waits + 1 if time.perf_counter() - start < _SHORT else 0


def expect_long() -> None:
    """A program is about to run that may take longer than those before."""
    global _short_waits
    _short_waits = 0


def _by_helper(block: Callable[[], Any]) -> None:
    requests = _requests or _start()
    done = threading.Lock()
    done.acquire()
    requests.put((block, done))
    done.acquire()
