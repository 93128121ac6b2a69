"""The current trace of each thread.

Every `bind` asks ``state.trace`` what to do. Transformations install their trace with `use`, for the time in which
the user's function runs. This module imports nothing of the package, so that everything else can import it.
"""
from __future__ import annotations

import threading
from typing import Any, Callable

_listeners: list[Callable[[Any], None]] = []


class _State(threading.local):
    """``trace``: the current trace; ``axes``: the named axes in scope (name to `AxisData`), innermost last; ``manual``:
    inside a checked manual region, the function that makes operands agree (`manual.agree`)."""

    trace: Any = None  # class attributes: the values a new thread starts with
    axes: tuple = ()
    manual: Any = None


state = _State()


class Use:
    """``with Use(trace):`` makes ``trace`` the current one. A class, as it enters faster than a generator does."""

    __slots__ = ("trace", "before")

    def __init__(self, trace):
        self.trace = trace

    def __enter__(self):
        self.before = state.trace
        set_trace(self.trace)
        return self.trace

    def __exit__(self, *exc):
        set_trace(self.before)


def set_trace(trace: Any) -> None:
    """Make ``trace`` this thread's current trace and tell the listeners (None stands for plain evaluation)."""
    state.trace = trace
    told = None if trace is _State.trace else trace
    for listener in _listeners:
        listener(told)


def on_trace_change(listener: Callable[[Any], None]) -> None:
    """Call ``listener(trace)`` whenever a thread's current trace changes; with None for plain evaluation.

    A backend uses it to keep its fast path out of the way while a transformation is at work.
    """
    _listeners.append(listener)
