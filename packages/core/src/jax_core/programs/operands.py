"""The equations of elementwise operations as `make_jaxpr` shows them: with the operands that they were given.

Every rule of an elementwise primitive works on operands of one shape (or rank 0), so programs hold a broadcast for each operand
of another shape, which nobody wrote (`structural.Implied`). Who counts or reads the operations of a program wants what was
written; `bind` stretches axes of length 1, so the shorter program runs, too.
"""
from __future__ import annotations

from typing import Any, Sequence

from ..representation.jaxpr import Jaxpr, JaxprEqn, Literal, Var
from ..traces.structural import Implied


def as_given(jaxpr: Jaxpr) -> Jaxpr:
    """``jaxpr`` without the broadcasts that its elementwise operations imply; what has fewer axes gets axes of length 1 instead.

    Programs within equations stay as they are: they may be known, and compiled, by their identity.
    """
    implied: dict[Var, _Spread] = {}
    for eqn in jaxpr.eqns:
        if type(eqn.params.get("broadcast_dimensions")) is Implied and eqn.params["sharding"] is None:  # else its type must say how it is split
            implied[eqn.outvars[0]] = _Spread(eqn, implied)
    if not implied:
        return jaxpr
    eqns: list[JaxprEqn] = []
    for eqn in jaxpr.eqns:
        if eqn.primitive.stretches and not implied.keys().isdisjoint([x for x in eqn.invars if type(x) is not Literal]):
            eqn = eqn.replace(invars=_given(eqn, implied, eqns))
        eqns.append(eqn)
    read, kept = {x for x in jaxpr.outvars if type(x) is not Literal}, []
    for eqn in reversed(eqns):
        if not implied.keys().isdisjoint(eqn.outvars) and read.isdisjoint(eqn.outvars):
            continue
        kept.append(eqn)
        read.update([x for x in eqn.invars if type(x) is not Literal])
    return jaxpr.replace(eqns=kept[::-1])


class _Spread:
    """An implied broadcast: of ``operand``, which is none itself, along the axes ``dims``; ``narrow`` is its shape with 1 for new axes."""

    def __init__(self, eqn: JaxprEqn, implied: dict):
        self.eqn, self.operand, self.dims = eqn, eqn.invars[0], tuple(eqn.params["broadcast_dimensions"])
        if type(self.operand) is not Literal and (inner := implied.get(self.operand)) is not None:
            self.operand, self.dims = inner.operand, tuple([self.dims[d] for d in inner.dims])
        narrow = [1] * len(eqn.params["shape"])
        for n, axis in zip(self.operand.aval.shape, self.dims):
            narrow[axis] = n
        self.narrow = tuple(narrow)
        self.aligned: Any = self.operand if self.operand.aval.shape == self.narrow else None

    def of_one_rank(self, eqns: list) -> Any:
        """The operand with axes of length 1 where it has fewer than the result: by one equation for all that read it."""
        if self.aligned is None:
            self.aligned = Var(self.eqn.outvars[0].aval.update(shape=self.narrow))
            params = {**self.eqn.params, "shape": self.narrow, "broadcast_dimensions": self.dims}
            eqns.append(self.eqn.replace(invars=[self.operand], outvars=[self.aligned], params=params))
        return self.aligned


def _given(eqn: JaxprEqn, implied: dict, eqns: list) -> Sequence[Any]:
    """The operands of ``eqn`` before they were broadcast, of one rank; those that it has if the result were smaller then."""
    spread = [None if type(x) is Literal else implied.get(x) for x in eqn.invars]
    shapes = [x.aval.shape if s is None else s.narrow for x, s in zip(eqn.invars, spread)]
    shape = eqn.outvars[0].aval.shape
    if any([n != 1 and all([s == () or s[axis] == 1 for s in shapes]) for axis, n in enumerate(shape)]):
        return eqn.invars
    return [x if s is None else s.of_one_rank(eqns) for x, s in zip(eqn.invars, spread)]


__all__ = ["as_given"]
