"""Waiting for results and for the compiler so that Ctrl-C works.

jaxlib's own wait does not look for signals, so a `KeyboardInterrupt` would only be raised when the computation has ended.
Python runs signal handlers in the main thread alone; there, a long wait is left to a helper thread and the main
thread waits for it on a lock, which signals do interrupt.

The helper costs some 20 us, as it has to be woken and to wake the main thread. So after many short waits in a row the
main thread waits by itself, until a program is loaded that has not run before.

The compiler has a thread of its own each time: left alone by Ctrl-C, it goes on, and the interpreter must not end before it (its
end takes LLVM's data away), which it does not while a thread is no daemon. Nor must it end before a wait that Ctrl-C, or a handler of
another signal, has left: C++ that comes back to Python then aborts the process.
"""
from __future__ import annotations

import atexit
import contextlib
import queue
import threading
import time
from typing import Any, Callable, TypeVar

from jax_core.configuration import engine

from ..platforms import client, liveness
from ..platforms.distributed_state import state

T = TypeVar("T")

_requests: queue.SimpleQueue | None = None
_start_lock = threading.Lock()
_SHORT = 0.005  # seconds
_MANY = 32
_short_waits = 0  # in a row, of the main thread


def _helper(requests: queue.SimpleQueue) -> None:
    while True:
        request = requests.get()
        if request is None:
            return
        wait, done = request
        del request
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
            atexit.register(_finish)
    return _requests


def _finish() -> None:
    """Return when the helper has done all that it was given."""
    if _requests is not None:
        _by_helper(lambda: None, _requests)


def stop_after_fork() -> None:
    """The helper thread does not exist in a forked child."""
    global _requests
    _requests = None


def wait(block: Callable[[], object]) -> None:
    """Call ``block()``, which blocks without the GIL, such that Ctrl-C in the main thread ends the waiting.

    Errors of ``block`` are not raised here: call it again afterwards. But in a program of several processes they are.
    """
    global _short_waits
    client.check_process()
    if state.client is not None:
        with_others(block)
        return
    if threading.current_thread() is not threading.main_thread():
        block()
        return
    start = time.perf_counter()
    if _short_waits < _MANY:
        _by_helper(block, _requests or _start())
    else:
        try:
            block()
        except Exception:
            pass  # the caller repeats the wait, and gets the error itself
    _short_waits = _short_waits + 1 if time.perf_counter() - start < _SHORT else 0


def with_others(work: Callable[[], T]) -> T:
    """What ``work()`` returns, which may wait for other processes, and in vain: it is left to a helper then.

    Raises:
      RuntimeError: another process is lost; it is named.
    """
    outcome: list[T] = []
    failures: list[BaseException] = []

    def caught() -> None:
        try:
            outcome.append(work())
        except BaseException as failure:
            failures.append(failure)

    if not hasattr(_own, "helper"):
        _own.helper = _Helper()
    _by_helper(caught, _own.helper.requests, lambda lock: liveness.waiting(lambda seconds: lock.acquire(timeout=seconds)))
    for failure in failures:
        try:
            liveness.explain(failure)
            raise failure
        finally:
            failures.clear()  # its traceback holds this frame
    return outcome[0]


class _Helper:
    """The helper of one thread in a program of several processes: what one thread waits for may need what another does."""

    def __init__(self) -> None:
        self.requests: queue.SimpleQueue = queue.SimpleQueue()
        threading.Thread(target=_helper, args=(self.requests,), name="jax-wait", daemon=True).start()

    def __del__(self) -> None:
        self.requests.put(None)


_own = threading.local()


def expect_long() -> None:
    """A program is about to run that may take longer than those before."""
    global _short_waits
    _short_waits = 0


def _by_helper(block: Callable[[], Any], requests: queue.SimpleQueue, wait_for: Callable[[Any], object] = lambda lock: lock.acquire()) -> None:
    done = threading.Lock()
    done.acquire()
    requests.put((block, done))
    wait_for(done)


def call(work: Callable[[], T]) -> T:
    """What ``work()``, which blocks without the GIL, returns. Ctrl-C in the main thread ends the waiting; the work is done all the same,
    before the interpreter ends."""
    thread, main = threading.current_thread(), threading.main_thread()
    if not main.is_alive() or thread is not main and not thread.daemon:
        return work()
    outcome: list[tuple[Any, BaseException | None]] = []
    settings = engine.overrides()
    done = threading.Lock()
    done.acquire()

    def run() -> None:
        try:
            with contextlib.ExitStack() as stack:
                for setting in settings:
                    stack.enter_context(setting)
                outcome.append((work(), None))
        except BaseException as error:
            outcome.append((None, error))
        finally:
            done.release()

    helper = threading.Thread(target=run, name="jax-compile", daemon=False)
    try:
        helper.start()
    except RuntimeError:  # the interpreter ends, and starts no threads
        return work()
    done.acquire()
    result, error = outcome.pop()
    if error is not None:
        try:
            raise error
        finally:
            del error  # its traceback holds this frame
    return result
