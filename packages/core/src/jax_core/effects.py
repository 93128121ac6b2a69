"""Effects: what a program does besides computing its results.

An effect is a hashable object in the ``effects`` set of an equation and of a jaxpr. A *class* of effect decides four
things, and each class says them aloud instead of being entered in far-away tables:

* ``ordered``: the program threads a token through all equations with this effect, so that they run in program order;
* ``in_control_flow``: allowed inside `scan`, `while_loop` and `cond`;
* ``in_custom_derivatives``: allowed inside functions with custom derivatives;
* ``repeatable``: `checkpoint` may run the equation again; if not, it keeps what the equation returned.

An equation with any effect is never removed as dead code.
"""
from __future__ import annotations

from typing import FrozenSet


class Effect:
    """Base class of all effects; subclass it to make a new one."""

    __slots__ = ()
    ordered = False
    in_control_flow = True
    in_custom_derivatives = True
    repeatable = True


Effects = FrozenSet[Effect]
NO_EFFECTS: Effects = frozenset()


def ordered_effects(effects: Effects) -> list[Effect]:
    """The ordered ones of ``effects``, in a fixed order (by their text), so that tokens always line up."""
    return sorted((e for e in effects if e.ordered), key=str)


class NamedAxisEffect(Effect):
    """The program refers to the mapped axis ``name`` (a collective or `axis_index`)."""

    __slots__ = ("name",)

    def __init__(self, name):
        self.name = name

    def __eq__(self, other):
        return type(other) is NamedAxisEffect and self.name == other.name

    def __hash__(self):
        return hash((NamedAxisEffect, self.name))

    def __repr__(self):
        return f"NamedAxis({self.name})"
