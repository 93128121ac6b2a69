"""The current trace of each thread.

Every `bind` asks ``state.trace`` what to do. Transformations install their trace with `use`, for the time in which
the user's function runs. This module imports slots only, so that everything else can import it.
"""
from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from ..extension_points import evaluation, trace_changed

if TYPE_CHECKING:
    from ..traces.trace import Trace


class _State(threading.local):
    """``trace``: the current trace; ``axes``: the named axes in scope (name to `AxisData`), innermost last; ``manual``:
    inside a checked manual region, the function that makes operands agree (`manual.agree`); ``arguments_on``: while a program is
    traced, a placement on the mesh where its arguments lie, if that is not the mesh in use."""

    trace: Any = None  # class attributes: the values a new thread starts with
    axes: tuple = ()
    manual: Any = None
    arguments_on: Any = None


state = _State()


def _start_with(trace: Any) -> None:
    _State.trace = trace


evaluation.when_filled(_start_with)


class Scope:
    """``with Scope(axes, manual):`` these are the named axes in scope, and how operands are made to agree (see `state`)."""

    __slots__ = ("axes", "manual", "before")

    def __init__(self, axes: tuple, manual: Any):
        self.axes, self.manual = axes, manual

    def __enter__(self):
        self.before = state.axes, state.manual
        state.axes, state.manual = self.axes, self.manual
        return self

    def __exit__(self, *exc):
        state.axes, state.manual = self.before


class ArgumentsOn:
    """``with ArgumentsOn(placement):`` the arguments of what is traced lie on the mesh of ``placement``; None: on none that is known."""

    __slots__ = ("placement", "before")

    def __init__(self, placement: Any):
        self.placement = placement

    def __enter__(self):
        self.before, state.arguments_on = state.arguments_on, self.placement
        return self

    def __exit__(self, *exc):
        state.arguments_on = self.before


def with_axes(*axes: Any) -> Scope:
    """The scope in which ``axes``, objects with a ``name``, are bound too, inside of those that are."""
    return Scope((*state.axes, *((axis.name, axis) for axis in axes)), state.manual)


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


def set_trace(trace: Trace) -> None:
    """Make ``trace`` this thread's current trace, and tell the backend, whose fast paths are for plain evaluation (None)."""
    state.trace = trace
    tell = trace_changed.value
    if tell is not None:
        tell(None if trace is _State.trace else trace)
