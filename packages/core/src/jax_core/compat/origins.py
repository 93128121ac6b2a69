"""Where a value of a program being written comes from, as libraries follow it back (qwix, to the parameter that a kernel was made of).

The program keeps variables, not the tracers that stood for them: to keep those costs time at every equation, for what hardly anyone asks.
A tracer that is still in somebody's hands is found again by the garbage collector's list of who refers to its variable.
"""
from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..representation.jaxpr import JaxprEqn
    from ..traces.staging import DynamicJaxprTrace


class Origin:
    """An equation of the program, and tracers for its operands."""

    __slots__ = ("_trace", "_kind", "_eqn")

    def __init__(self, trace: DynamicJaxprTrace, kind: type, eqn: JaxprEqn):
        self._trace, self._kind, self._eqn = trace, kind, eqn

    def __getattr__(self, name: str) -> Any:
        return getattr(self._eqn, name)

    @property
    def in_tracers(self) -> list:
        """One for each operand: the very tracer that was passed, if it still exists."""
        return [self._found(v) for v in self._eqn.invars]

    def _found(self, atom):
        for holder in gc.get_referrers(atom):
            if type(holder) is self._kind and holder._trace is self._trace:
                return holder
        return self._kind(self._trace, atom.aval, atom)


class HasOrigin:
    """For tracers of programs being written."""

    __slots__ = ()
    _trace: Any
    _var: Any

    @property
    def parent(self) -> Origin | None:
        """What computed the value; None for arguments and constants."""
        eqn = self._trace.producer(self._var)
        return None if eqn is None else Origin(self._trace, type(self), eqn)

    def get_const(self) -> Any | None:
        """The array, or the tracer of a program around this one, that the value is a constant for; None if it is none."""
        return next((x for atom, x in self._trace.constants.values() if atom is self._var), None)
