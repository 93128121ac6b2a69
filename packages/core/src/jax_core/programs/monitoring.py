"""jax.monitoring: events that the system records, for tools that listen."""
from __future__ import annotations

import sys
import time
from typing import Callable

from ..configuration import flags

listeners: dict[str, list[Callable]] = {"event": [], "duration": [], "span": [], "scalar": []}
"""By kind of event; `public.listeners` shows them."""


def record_event(event: str, **kwargs: str | int) -> None:
    """Tell the listeners that ``event`` happened.

    >>> heard = []
    >>> listen = lambda event, **data: heard.append(event)
    >>> jax.monitoring.register_event_listener(listen)
    >>> jax.monitoring.record_event('/docs/hello')
    >>> jax.monitoring.unregister_event_listener(listen)
    >>> '/docs/hello' in heard
    True
    """
    for listener in listeners["event"]:
        listener(event, **kwargs)


def record_event_duration_secs(event: str, duration: float, **kwargs: str | int) -> None:
    """Tell the listeners how many seconds ``event`` took.

    Args:
      event: its name.
      duration: in seconds.

    >>> jax.monitoring.record_event_duration_secs('/docs/work', 0.5)
    """
    for listener in listeners["duration"]:
        listener(event, duration, **kwargs)


def record_event_time_span(event: str, start_time: float, end_time: float, **kwargs: str | int) -> None:
    """Tell the listeners when ``event`` began and ended, in seconds since the epoch.

    >>> jax.monitoring.record_event_time_span('/docs/work', 10.0, 12.0)
    """
    for listener in listeners["span"]:
        listener(event, start_time, end_time, **kwargs)


def record_scalar(event: str, value: float | int, **kwargs: str | int) -> None:
    """Tell the listeners a number.

    >>> jax.monitoring.record_scalar('/docs/loss', 0.25)
    """
    for listener in listeners["scalar"]:
        listener(event, value, **kwargs)


def log_level() -> int | None:
    """The level at which to log what is traced and compiled: a warning if `jax_log_compiles` is on, else what is there for
    debugging; None if nobody would see that."""
    if flags.log_compiles.value:
        return _WARNING
    # `logging` is not imported for it, for start-up's time: who listens has loaded it. Another thread may be at that just now
    logger = getattr(sys.modules.get("logging"), "getLogger", None)
    return _DEBUG if logger is not None and logger("jax.compile").isEnabledFor(_DEBUG) else None


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
        if kind is None and (listeners["duration"] or level is not None):
            seconds = time.perf_counter() - self.start
            record_event_duration_secs(self.event, seconds, fun_name=self.name)
            if level is not None:
                from .explain import finished  # start-up: loaded only when asked for
                finished(level, f"{self.what} {self.name}", seconds)


def register_event_listener(callback: Callable[..., object]) -> None:
    """Call ``callback(event, **kwargs)`` for each event.

    >>> heard = []
    >>> listen = lambda event, **data: heard.append((event, data))
    >>> jax.monitoring.register_event_listener(listen)
    >>> jax.monitoring.record_event('/docs/hello', at='noon')
    >>> jax.monitoring.unregister_event_listener(listen)
    >>> ('/docs/hello', {'at': 'noon'}) in heard
    True
    """
    listeners["event"].append(callback)


def register_event_duration_secs_listener(callback: Callable[..., object]) -> None:
    """Call ``callback(event, seconds, **kwargs)`` for each duration.

    >>> heard = []
    >>> listen = lambda event, seconds, **data: heard.append((event, seconds))
    >>> jax.monitoring.register_event_duration_secs_listener(listen)
    >>> jax.monitoring.record_event_duration_secs('/docs/work', 0.5)
    >>> jax.monitoring.unregister_event_duration_listener(listen)
    >>> ('/docs/work', 0.5) in heard
    True
    """
    listeners["duration"].append(callback)


def register_event_time_span_listener(callback: Callable[..., object]) -> None:
    """Call ``callback(event, start, end, **kwargs)`` for each time span.

    >>> heard = []
    >>> listen = lambda event, start, end, **data: heard.append(end - start)
    >>> jax.monitoring.register_event_time_span_listener(listen)
    >>> jax.monitoring.record_event_time_span('/docs/work', 10.0, 12.0)
    >>> jax.monitoring.unregister_event_time_span_listener(listen)
    >>> 2.0 in heard
    True
    """
    listeners["span"].append(callback)


def register_scalar_listener(callback: Callable[..., object]) -> None:
    """Call ``callback(event, value, **kwargs)`` for each number.

    >>> heard = []
    >>> listen = lambda event, value, **data: heard.append(value)
    >>> jax.monitoring.register_scalar_listener(listen)
    >>> jax.monitoring.record_scalar('/docs/loss', 0.25)
    >>> jax.monitoring.unregister_scalar_listener(listen)
    >>> 0.25 in heard
    True
    """
    listeners["scalar"].append(callback)


def _unregister(kind: str, callback: Callable) -> None:
    if callback not in listeners[kind]:
        raise ValueError(f"monitoring: {callback!r} is not registered as a listener for this kind of event")
    listeners[kind].remove(callback)


def unregister_event_listener(callback: Callable[..., object]) -> None:
    """Undo `register_event_listener`; raises ValueError if it was not registered.

    >>> listen = lambda event, **data: None
    >>> jax.monitoring.register_event_listener(listen)
    >>> jax.monitoring.unregister_event_listener(listen)
    """
    _unregister("event", callback)


def unregister_event_duration_listener(callback: Callable[..., object]) -> None:
    """Undo `register_event_duration_secs_listener`.

    >>> listen = lambda event, seconds, **data: None
    >>> jax.monitoring.register_event_duration_secs_listener(listen)
    >>> jax.monitoring.unregister_event_duration_listener(listen)
    """
    _unregister("duration", callback)


def unregister_event_time_span_listener(callback: Callable[..., object]) -> None:
    """Undo `register_event_time_span_listener`.

    >>> listen = lambda event, start, end, **data: None
    >>> jax.monitoring.register_event_time_span_listener(listen)
    >>> jax.monitoring.unregister_event_time_span_listener(listen)
    """
    _unregister("span", callback)


def unregister_scalar_listener(callback: Callable[..., object]) -> None:
    """Undo `register_scalar_listener`.

    >>> listen = lambda event, value, **data: None
    >>> jax.monitoring.register_scalar_listener(listen)
    >>> jax.monitoring.unregister_scalar_listener(listen)
    """
    _unregister("scalar", callback)


def clear_event_listeners() -> None:
    """Forget all listeners, those of others too.

    >>> jax.monitoring.clear_event_listeners()  # doctest: +SKIP
    """
    for kind in listeners.values():
        kind.clear()
