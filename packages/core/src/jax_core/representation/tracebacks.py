"""Tracebacks that show the user's frames: what an error passed through in here says nothing about the user's program.

The functions that users call are boundaries: an exception that leaves one has the frames of this system taken out of
its traceback, those of the user's functions that were called back stay. `jax_traceback_filtering` chooses how:

- ``off``: nothing is changed.
- ``quiet_remove_frames`` (and ``auto`` outside IPython): the frames are gone, and a note says how to see them.
- ``remove_frames``: as above, and the cause of the error carries the whole traceback.
- ``tracebackhide`` (and ``auto`` in IPython): the frames stay and are marked, for tools that leave marked ones out.

A bare ``raise`` keeps the traceback that the exception has (Python 3.11 and later), so a boundary is not in it itself.
"""
from __future__ import annotations

import functools
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable

from ..configuration import flags
from . import notebooks
from .source import is_internal, name_of

if TYPE_CHECKING:
    from .typing import PyTree

NOTE = "(For simplicity the frames of jax are left out of this traceback; JAX_TRACEBACK_FILTERING=off shows them.)"


class UnfilteredStackTrace(Exception):
    """Carries the whole traceback of the error that it caused to be raised again."""


def shorten(error: BaseException) -> None:
    """Take the frames of this system out of the traceback of ``error``; to be followed by a bare ``raise``."""
    mode = flags.traceback_filtering.value
    if mode == "auto":
        mode = "quiet_remove_frames" if notebooks.shell() is None else "tracebackhide"
    if mode == "off":
        return
    if mode == "tracebackhide":
        _mark(error.__traceback__)
        return
    whole = error.__traceback__
    kept, removed = _filtered(whole)
    if not removed:
        return
    if mode == "remove_frames" and error.__cause__ is None:
        cause = UnfilteredStackTrace(f"{type(error).__name__}: {error}\nThe traceback above is the whole one; that of the error "
                                     "itself leaves the frames of jax out.")
        error.__cause__ = cause.with_traceback(whole)
    elif NOTE not in getattr(error, "__notes__", ()):
        error.add_note(NOTE)
    error.__traceback__ = kept


def filter_traceback(tb: TracebackType | None) -> TracebackType | None:
    """``tb`` without the frames of this system; None where there are no others (axlearn prints errors so)."""
    return _filtered(tb)[0]


def _filtered(tb: TracebackType | None) -> tuple[TracebackType | None, bool]:
    """The traceback of the user's frames alone, and whether that leaves any out."""
    entries = []
    removed = False
    while tb is not None:
        if is_internal(tb.tb_frame.f_code):
            removed = True
        else:
            entries.append(tb)
        tb = tb.tb_next
    kept: TracebackType | None = None
    for entry in reversed(entries):
        kept = TracebackType(kept, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return kept, removed


def _mark(tb: TracebackType | None) -> None:
    while tb is not None:
        if is_internal(tb.tb_frame.f_code):
            tb.tb_frame.f_locals["__tracebackhide__"] = True
        tb = tb.tb_next


def api_boundary(fun: Callable | None = None, **_: Any) -> Callable:
    """A decorator for functions that users call: errors that leave ``fun`` show the user's frames."""
    return boundary(fun)(fun) if fun is not None else api_boundary


def boundary(like: Callable) -> Callable:
    """A decorator as `api_boundary`, for a function that presents itself as ``like`` (as by `functools.wraps`)."""
    def decorate(fun: Callable[..., PyTree]):
        def call(*args, **kwargs):
            try:
                return fun(*args, **kwargs)
            except Exception as error:
                shorten(error)
                raise
        try:
            if not hasattr(like, "__name__"):  # a partial, an object that is called
                call.__name__ = call.__qualname__ = name_of(like)
            return functools.update_wrapper(call, like)
        except TypeError:  # an object whose __name__ is no text: it shows itself by its class
            return functools.update_wrapper(call, like, assigned=("__module__", "__doc__"))
    return decorate
