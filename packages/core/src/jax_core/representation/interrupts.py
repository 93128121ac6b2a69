"""Ctrl-C while something runs that cannot be begun again."""
from __future__ import annotations

import contextlib
import signal
import threading
from typing import Any, Iterator


@contextlib.contextmanager
def held_back() -> Iterator[None]:
    """Ctrl-C during the block is raised at its end.

    Python raises it in the first thread only, so in others nothing has to be done; nor where SIGINT is handled outside of Python.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[tuple[Any, ...]] = []
    signal.signal(signal.SIGINT, lambda *event: came.append(event))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if came and callable(before):
            before(*came[0])
