"""Waiting for results so that Ctrl-C works.

jaxlib's own wait does not look for signals, so a `KeyboardInterrupt` would only be raised when the computation has ended.
Python runs signal handlers in the main thread alone; there, a long wait is left to a helper thread and the main
thread waits for it on a lock, which signals do interrupt.
"""
from __future__ import annotations

import queue
import threading
from typing import Any, Callable

from . import client

_requests: queue.SimpleQueue | None = None
_start_lock = threading.Lock()


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


def interruptible(wait: Callable[[], Any]) -> None:
    """Call ``wait()``, which blocks without the GIL, such that Ctrl-C in the main thread ends the waiting.

    Errors of ``wait`` are not raised here: call it again afterwards.
    """
    client.check_process()
    if threading.current_thread() is not threading.main_thread():
        wait()
        return
    requests = _requests or _start()
    done = threading.Lock()
    done.acquire()
    requests.put((wait, done))
    done.acquire()
