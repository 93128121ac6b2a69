"""Splitting a program into what its known inputs determine, and the rest that waits for the unknown ones.

Reverse mode needs it where an equation that holds a program mixes both: a `jit`, `scan` or `cond` that computes values
together with tangents (the JVP of such an equation, or a custom JVP rule under `jit`). The part on values must run at
once; only the part on tangents is linear, and may be transposed.

A primitive takes part through ``prim.split(unknown, params) -> EquationSplit | None``; None means that no result can be
known.
"""
from __future__ import annotations

from typing import Sequence

from ..representation.effects import NO_EFFECTS, located
from ..representation.jaxpr import ClosedJaxpr, DropVar, Jaxpr, JaxprEqn, Literal, Var
from ..representation.primitive import Primitive, abstract_eval


class EquationSplit:
    """One equation as two.

    Args:
      out_unknown: which of the original results wait.
      known_inputs: indices of the original operands that the first equation takes.
      known_params: its parameters. Its results: the known original ones in order, then the residuals.
      rest_inputs: operands of the second equation: index of an original one, or ``~j`` for residual ``j``.
      rest_params: its parameters.
      rest_outs: for each of its results the index of the original one, or None if nobody reads it.
    """

    __slots__ = ("out_unknown", "known_inputs", "known_params", "rest_inputs", "rest_params", "rest_outs")

    def __init__(self, out_unknown: Sequence[bool], known_inputs: Sequence[int], known_params: dict,
                 rest_inputs: Sequence[int], rest_params: dict, rest_outs: Sequence[int | None] | None = None):
        self.out_unknown = list(out_unknown)
        self.known_inputs, self.known_params = list(known_inputs), known_params
        self.rest_inputs, self.rest_params = list(rest_inputs), rest_params
        self.rest_outs = [i for i, u in enumerate(out_unknown) if u] if rest_outs is None else list(rest_outs)


def split_call(prim: Primitive, args: Sequence[object], unknown: Sequence[bool], params: dict):
    """Run the known part of ``prim(*args)``.

    Returns:
      None if nothing is known; else the split, the known results, and the operands of the rest.
    """
    rule = prim.split
    found = rule(list(unknown), params) if rule and not all(unknown) else None
    if found is None:
        return None
    outs = prim.bind(*[args[i] for i in found.known_inputs], **found.known_params)
    count = len(found.out_unknown) - sum(found.out_unknown)
    residuals = outs[count:]
    return found, outs[:count], [args[i] if i >= 0 else residuals[~i] for i in found.rest_inputs]


class JaxprSplit:
    """A program as two.

    Attributes:
      known: ``known inputs -> (known results, fresh residuals)``.
      rest: ``(residuals, unknown inputs) -> unknown results``.
      out_unknown: which results of the original are unknown.
      residuals: for each residual where it comes from: the index of an input, or ``~j`` for fresh residual ``j``.
    """

    __slots__ = ("known", "rest", "out_unknown", "residuals")

    def __init__(self, known, rest, out_unknown, residuals):
        self.known, self.rest, self.out_unknown, self.residuals = known, rest, out_unknown, residuals

    @property
    def num_fresh(self) -> int:
        return sum(i < 0 for i in self.residuals)


def split_jaxpr(closed: ClosedJaxpr, unknown: Sequence[bool], force: Sequence[bool] | None = None) -> JaxprSplit:
    """Split ``closed``, whose inputs are ``unknown``; results in ``force`` are treated as unknown in any case."""
    force = [False] * len(closed.jaxpr.outvars) if force is None else force
    return closed.memo(("split", tuple(unknown), tuple(force)), lambda: _split_jaxpr(closed, unknown, force))


def _split_jaxpr(closed, unknown, force):
    jaxpr = closed.jaxpr
    late = {v for v, u in zip(jaxpr.invars, unknown) if u}
    now: list[JaxprEqn] = []
    later: list[JaxprEqn] = []
    for eqn in jaxpr.eqns:
        flags = [type(v) is not Literal and v in late for v in eqn.invars]
        if not any(flags):
            now.append(eqn)
            continue
        pair = split_equation(eqn, flags)
        if pair is None:
            later.append(eqn)
            late.update(eqn.outvars)
        else:
            now.append(pair[0])
            later.append(pair[1])
            late.update(pair[1].outvars)
    is_late = lambda v: type(v) is not Literal and v in late
    out_unknown = [is_late(v) or f for v, f in zip(jaxpr.outvars, force)]
    reads = [v for eqn in later for v in eqn.invars] + [v for v, u in zip(jaxpr.outvars, out_unknown) if u]
    constants = set(jaxpr.constvars)
    residuals = list(dict.fromkeys(
        v for v in reads if type(v) is not Literal and v not in late and v not in constants))
    position = {v: i for i, v in enumerate(jaxpr.invars)}
    fresh = [v for v in residuals if v not in position]
    number = {v: ~j for j, v in enumerate(fresh)}
    known = Jaxpr(jaxpr.constvars, [v for v, u in zip(jaxpr.invars, unknown) if not u],
                  [v for v, u in zip(jaxpr.outvars, out_unknown) if not u] + fresh, now, _effects(now),
                  jaxpr.debug_info)
    rest = Jaxpr(jaxpr.constvars, residuals + [v for v, u in zip(jaxpr.invars, unknown) if u],
                 [v for v, u in zip(jaxpr.outvars, out_unknown) if u], later, _effects(later), jaxpr.debug_info)
    return JaxprSplit(ClosedJaxpr(known, closed.consts), ClosedJaxpr(rest, closed.consts), out_unknown,
                      [position.get(v, number.get(v)) for v in residuals])


def _effects(eqns):
    return frozenset().union(*(e.effects for e in eqns)) if eqns else NO_EFFECTS


def split_equation(eqn: JaxprEqn, unknown: Sequence[bool]) -> tuple[JaxprEqn, JaxprEqn] | None:
    """Two equations in place of ``eqn``, or None where no result can be known."""
    rule = eqn.primitive.split
    found = rule(list(unknown), eqn.params) if rule and not all(unknown) else None
    if found is None:
        return None
    prim = eqn.primitive
    known_in = [eqn.invars[i] for i in found.known_inputs]
    types, effects = abstract_eval(prim, [v.aval for v in known_in], found.known_params)
    known_outs = [v for v, u in zip(eqn.outvars, found.out_unknown) if not u]
    residuals = [Var(a) for a in types[len(known_outs):]]
    first = JaxprEqn(known_in, known_outs + residuals, prim, found.known_params, located(effects, known_in), eqn.source_info, eqn.given_ctx)
    rest_in = [eqn.invars[i] if i >= 0 else residuals[~i] for i in found.rest_inputs]
    types, effects = abstract_eval(prim, [v.aval for v in rest_in], found.rest_params)
    rest_outs = [DropVar(a) if i is None else eqn.outvars[i] for a, i in zip(types, found.rest_outs)]
    return first, JaxprEqn(rest_in, rest_outs, prim, found.rest_params, located(effects, rest_in), eqn.source_info, eqn.given_ctx)
