"""jax.monitoring: events that the system records, for tools that listen."""
from __future__ import annotations

import sys
import time
from typing import Callable

from ..configuration import flags

_listeners: dict[str, list[Callable]] = {"event": [], "duration": [], "span": [], "scalar": []}


def record_event(event: str, **kwargs: str | int) -> None:
    """Tell the listeners that ``event`` happened."""
    for listener in _listeners["event"]:
        listener(event, **kwargs)


def record_event_duration_secs(event: str, duration: float, **kwargs: str | int) -> None:
    """Tell the listeners how many seconds ``event`` took."""
    for listener in _listeners["duration"]:
        listener(event, duration, **kwargs)


def record_event_time_span(event: str, start_time: float, end_time: float, **kwargs: str | int) -> None:
    """Tell the listeners when ``event`` began and ended, in seconds since the epoch."""
    for listener in _listeners["span"]:
        listener(event, start_time, end_time, **kwargs)


def record_scalar(event: str, value: float | int, **kwargs: str | int) -> None:
    """Tell the listeners a number."""
    for listener in _listeners["scalar"]:
        listener(event, value, **kwargs)


def log_level() -> int | None:
    """The level at which to log what is traced and compiled: a warning if `jax_log_compiles` is on, else what is there for
    debugging; None if nobody would see that."""
    logging = sys.modules.get("logging")  # not imported for it, for start-up's time: who listens has loaded it
    if flags.log_compiles.value:
        return _WARNING
    return _DEBUG if logging is not None and logging.getLogger("jax.compile").isEnabledFor(_DEBUG) else None


_DEBUG, _WARNING = 10, 30  # as in `logging`


class timed:
    """Tells the listeners how long a block took, and logs it if anybody listens (`log_level`)."""

    __slots__ = ("event", "what", "name", "start")

    def __init__(self, event: str, what: str, name: str):
        self.event, self.what, self.name = event, what, name

    def __enter__(self):
        self.start = time.perf_counter()

    def __exit__(self, kind, *_):
        level = log_level()
        if kind is None and (_listeners["duration"] or level is not None):
            seconds = time.perf_counter() - self.start
            record_event_duration_secs(self.event, seconds, fun_name=self.name)
            if level is not None:
                from .explain import finished  # start-up: loaded only when asked for
                finished(level, f"{self.what} {self.name}", seconds)


def register_event_listener(callback: Callable[..., object]) -> None:
    """Call ``callback(event, **kwargs)`` for each event."""
    _listeners["event"].append(callback)


def register_event_duration_secs_listener(callback: Callable[..., object]) -> None:
    """Call ``callback(event, seconds, **kwargs)`` for each duration."""
    _listeners["duration"].append(callback)


def register_event_time_span_listener(callback: Callable[..., object]) -> None:
    """Call ``callback(event, start, end, **kwargs)`` for each time span."""
    _listeners["span"].append(callback)


def register_scalar_listener(callback: Callable[..., object]) -> None:
    """Call ``callback(event, value, **kwargs)`` for each number."""
    _listeners["scalar"].append(callback)


def _unregister(kind: str, callback: Callable) -> None:
    if callback not in _listeners[kind]:
        raise ValueError(f"monitoring: {callback!r} is not registered as a listener for this kind of event")
    _listeners[kind].remove(callback)


def unregister_event_listener(callback: Callable[..., object]) -> None:
    """Undo `register_event_listener`; raises ValueError if it was not registered."""
    _unregister("event", callback)


def unregister_event_duration_listener(callback: Callable[..., object]) -> None:
    """Undo `register_event_duration_secs_listener`."""
    _unregister("duration", callback)


def unregister_event_time_span_listener(callback: Callable[..., object]) -> None:
    """Undo `register_event_time_span_listener`."""
    _unregister("span", callback)


def unregister_scalar_listener(callback: Callable[..., object]) -> None:
    """Undo `register_scalar_listener`."""
    _unregister("scalar", callback)


def clear_event_listeners() -> None:
    """Forget all listeners."""
    for kind in _listeners.values():
        kind.clear()
