"""Programs on references compiled ahead of time: the pure program, and how each call moves values in and out."""
from __future__ import annotations

from typing import Any, Sequence

from ..interfaces import Executable, LowerSpec
from ..representation.aval import AbstractRef
from ..representation.jaxpr import ClosedJaxpr
from .discharge import any_refs, discharged
from .primitives import cell_of, is_ref


class RefProgram:
    """A program that takes references or closes over some, made pure.

    Attributes:
      pure: the program ``(values of closed-over references, arguments) -> (results, new values)``.
    """

    def __init__(self, closed: ClosedJaxpr):
        jaxpr = closed.jaxpr
        held = [is_ref(c) for c in closed.consts]
        self._held = [c for c, h in zip(closed.consts, held) if h]
        opened = jaxpr.replace(
            constvars=[v for v, h in zip(jaxpr.constvars, held) if not h],
            invars=[*(v for v, h in zip(jaxpr.constvars, held) if h), *jaxpr.invars])
        self._refs = [type(a) is AbstractRef for a in opened.in_avals]
        self._count = len(jaxpr.outvars)
        self.pure, self._written = discharged(
            ClosedJaxpr(opened, [c for c, h in zip(closed.consts, held) if not h]), self._refs)

    def spec(self, spec: LowerSpec) -> LowerSpec:
        """How the pure program is lowered, for how the original is to be."""
        before, after = (None,) * len(self._held), (None,) * len(self._written)
        return spec.replace(
            donated=(False,) * len(self._held) + tuple(spec.donated),
            in_shardings=None if spec.in_shardings is None else (*before, *spec.in_shardings),
            out_shardings=None if spec.out_shardings is None else (*spec.out_shardings, *after))

    def run(self, executable: Executable, args: Sequence[object]) -> list:
        """The results of a call; new values are stored in the references."""
        given = [*self._held, *args]
        cells: list[Any] = [cell_of("compiled program", x) if r else None for x, r in zip(given, self._refs)]
        outs = executable.execute([x if c is None else c.shared() for x, c in zip(given, cells)]).results
        for i, value in zip(self._written, outs[self._count:]):
            cells[i].set(value)
        return outs[:self._count]


def ref_program(closed: ClosedJaxpr) -> RefProgram | None:
    """The `RefProgram` for ``closed``, or None where it has nothing to do with references from outside."""
    if any_refs(closed.in_avals) or any(map(is_ref, closed.consts)):
        return closed.memo("ref program", lambda: RefProgram(closed))
    return None
