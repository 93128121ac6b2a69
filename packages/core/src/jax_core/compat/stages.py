"""Members of stages that tools which take programs apart ask for.

They look for the arrays that a caller has to pass along with the arguments. There are none: a program here keeps its constants.
"""
from __future__ import annotations

from typing import Any, NamedTuple


class Along(NamedTuple):
    """What is passed to a program beside its arguments."""

    const_args: list[Any]


class LoweredHabits:
    """For `Lowered`."""

    __slots__ = ()
    _lowering = property(lambda self: Along([]), doc="What the module takes beside the arguments.")
    _no_kwargs = False  # keyword arguments can be passed


class CompiledHabits:
    """For `Compiled`."""

    __slots__ = ()
    _params = property(lambda self: Along([]), doc="What the program takes beside the arguments.")
    _no_kwargs = False
