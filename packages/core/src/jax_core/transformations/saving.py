"""What a policy of `checkpoint` keeps: a program as one that gives the kept values too, and one that computes the rest again.

Programs within it are taken apart the same way, so that a policy sees the operations in branches and in the bodies of loops:
a primitive that holds such programs has a rule ``save(eqn, policy) -> (known, again) | None``, the equation with the kept values
as further results, and with them as further operands; None where the policy keeps nothing in it.
"""
from __future__ import annotations

from typing import Any, Callable, Sequence

import numpy as np

from .. import extension_points
from ..representation import dtypes
from ..representation.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var
from ..representation.memory import of_kind
from ..traces.structural import optimization_barrier_p


class Answer:
    """What a policy may answer besides True and False: the same, by name."""

    __slots__ = ("name", "save")

    def __init__(self, name: str, save: bool):
        self.name, self.save = name, save

    def __bool__(self):
        return self.save

    def __repr__(self):
        return self.name


class Offloadable:
    """A policy's answer: keep the value in other memory."""

    src: str
    dst: str

    def __init__(self, src: str, dst: str):
        self.src, self.dst = src, dst


def keep_saved(jaxpr: Jaxpr, policy: Callable | None) -> tuple[Jaxpr, Jaxpr, list[Var]]:
    """Two programs in place of ``jaxpr``, and the values that are kept, which are results of the first and inputs of the second.

    An equation whose effects must not happen twice is kept whatever the policy says. Raises what the policy raises.
    """
    now: list[JaxprEqn] = []
    again: list[JaxprEqn] = []
    saved: list[Var] = []
    for eqn in jaxpr.eqns:
        answer = True if not all(effect.repeatable for effect in eqn.effects) else policy is not None and _asked(policy, eqn)
        if isinstance(answer, Offloadable):
            held = [Var(v.aval.update(memory_space=of_kind(answer.dst))) for v in eqn.outvars]
            now += [eqn, *_moves(eqn, eqn.outvars, held, answer.dst)]
            again += _moves(eqn, held, eqn.outvars, answer.src)
            saved += held
        elif answer:
            now += _as_stored(eqn)
            saved += eqn.outvars
        else:
            parts = eqn.primitive.save(eqn, policy) if eqn.primitive.save and policy is not None else None
            now.append(parts[0] if parts else eqn)
            again.append(parts[1] if parts else eqn)
            if parts:
                saved += parts[0].outvars[len(eqn.outvars):]
    return (jaxpr.replace(eqns=now, outvars=[*jaxpr.outvars, *saved]), jaxpr.replace(eqns=again, invars=[*jaxpr.invars, *saved]), saved)


def _asked(policy: Callable, eqn: JaxprEqn) -> bool | Answer | Offloadable:
    """What the policy says of the equation's results. Raises TypeError where that is no answer: None, of a policy that forgets to return, is none."""
    answer = policy(eqn.primitive, *(v.aval for v in eqn.invars), **eqn.params)
    if type(answer) is not bool and not isinstance(answer, (Answer, Offloadable)):
        raise TypeError(f"checkpoint: policies answer True, False, Saveable, Recompute or Offloadable(...), and {policy!r} answered {answer!r} of type "
                        f"{type(answer).__name__} for {eqn.primitive.name}")
    return answer


def _as_stored(eqn: JaxprEqn) -> list[JaxprEqn]:
    """The equation, whose results are kept. What follows reads what is stored: else the compiler, which may compute in more bits
    than the dtype has, would give it another value than the backward pass gets."""
    if not any(dtypes.issubdtype(v.aval.dtype, np.floating) and v.aval.dtype.itemsize < 4 for v in eqn.outvars):
        return [eqn]
    computed = [Var(v.aval) for v in eqn.outvars]
    return [eqn.replace(outvars=computed), eqn.replace(
        invars=computed, primitive=optimization_barrier_p, params={}, effects=frozenset())]


def _moves(eqn: JaxprEqn, froms: Sequence[Var], tos: Sequence[Var], memory: str) -> list[JaxprEqn]:
    prim, params = extension_points.memory_move.get()(memory)
    return [eqn.replace(invars=[x], outvars=[y], primitive=prim, params=params, effects=frozenset()) for x, y in zip(froms, tos)]


def saved_parts(closed: ClosedJaxpr, policy: Callable) -> tuple[ClosedJaxpr, ClosedJaxpr, list] | None:
    """`keep_saved` of a program within another, and the types of the kept values; None if there are none."""
    def find():
        known, again, saved = keep_saved(written_out(closed.jaxpr), policy)
        return (ClosedJaxpr(known, closed.consts), ClosedJaxpr(again, closed.consts), [v.aval for v in saved]) if saved else None
    return closed.memo(("saved", policy), find)


def written_out(jaxpr: Jaxpr) -> Jaxpr:
    """``jaxpr`` with its calls that are transparent (`jit`) written out, so that a policy sees what is in them."""
    if not any(e.primitive.transparent for e in jaxpr.eqns):
        return jaxpr
    eqns: list[JaxprEqn] = []
    alias: dict[Var, Any] = {}

    def read(v):
        return v if type(v) is Literal else alias.get(v, v)
    for eqn in jaxpr.eqns:
        if not eqn.primitive.transparent or eqn.params["jaxpr"].consts:
            eqns.append(eqn.replace(invars=[read(v) for v in eqn.invars]))
            continue
        inner, around = written_out(eqn.params["jaxpr"].jaxpr), (*eqn.source_info.scopes, f"{eqn.primitive.name}({eqn.params['name']})")
        names: dict[Var, Any] = dict(zip(inner.invars, (read(v) for v in eqn.invars)))
        for e in inner.eqns:
            outvars = [Var(v.aval) for v in e.outvars]
            eqns.append(e.replace(invars=[v if type(v) is Literal else names[v] for v in e.invars], outvars=outvars,
                                  source_info=e.source_info.replace(name_stack=(*around, *e.source_info.scopes))))
            names.update(zip(e.outvars, outvars))
        alias.update(zip(eqn.outvars, (v if type(v) is Literal else names[v] for v in inner.outvars)))
    return jaxpr.replace(eqns=eqns, outvars=[read(v) for v in jaxpr.outvars])
