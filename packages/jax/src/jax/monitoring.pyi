"""Types of `jax.monitoring`. Written by packages/jax/tools/make_stubs.py."""
from typing import Any, Callable

def clear_event_listeners() -> None:
    """Forget all listeners, those of others too."""
def record_event(event: str, **kwargs: str | int) -> None:
    """Tell the listeners that ``event`` happened."""
def record_event_duration_secs(event: str, duration: float, **kwargs: str | int) -> None:
    """Tell the listeners how many seconds ``event`` took."""
def record_event_time_span(event: str, start_time: float, end_time: float, **kwargs: str | int) -> None:
    """Tell the listeners when ``event`` began and ended, in seconds since the epoch."""
def record_scalar(event: str, value: float | int, **kwargs: str | int) -> None:
    """Tell the listeners a number."""
def register_event_duration_secs_listener(callback: Callable[..., object]) -> None:
    """Call ``callback(event, seconds, **kwargs)`` for each duration."""
def register_event_listener(callback: Callable[..., object]) -> None:
    """Call ``callback(event, **kwargs)`` for each event."""
def register_event_time_span_listener(callback: Callable[..., object]) -> None:
    """Call ``callback(event, start, end, **kwargs)`` for each time span."""
def register_scalar_listener(callback: Callable[..., object]) -> None:
    """Call ``callback(event, value, **kwargs)`` for each number."""
def unregister_event_duration_listener(callback: Callable[..., object]) -> None:
    """Undo `register_event_duration_secs_listener`."""
def unregister_event_listener(callback: Callable[..., object]) -> None:
    """Undo `register_event_listener`; raises ValueError if it was not registered."""
def unregister_event_time_span_listener(callback: Callable[..., object]) -> None:
    """Undo `register_event_time_span_listener`."""
def unregister_scalar_listener(callback: Callable[..., object]) -> None:
    """Undo `register_scalar_listener`."""
