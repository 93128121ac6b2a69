"""Which arrays are put together of many that are computed?

XLA's CPU compiler makes one kernel of a few arrays that are put together, and of all that computes them. Of more it makes a kernel each, which takes
12 ms to compile: half a minute for a thousand. So those are put together eight by eight first (`benchmarks/programs/joins.py`).
Such a kernel has no vectors where each array gives a few elements in a row, which long ones are better without.
"""
from __future__ import annotations

import math
from typing import Any

from jax_core.interfaces import JOINED_AT_ONCE
from jax_core.representation.jaxpr import Jaxpr, JaxprEqn, Literal, program_of
from jax_core.representation.traits import Kind
from jax_core.traces.structural import broadcast_in_dim_p

IN_A_ROW = 16
"""Elements that an array gives in a row, at least, for vectors."""
SHORT = 1 << 13
"""Elements of an array up to which a kernel without vectors loses less in 3,000 runs (0.1 to 0.3 ns an element) than one more takes to compile."""


def joins_of_computed(jaxpr: Jaxpr) -> list[int]:
    """``id(var)`` of arrays put together of many, most of which nothing else reads, nor are they in memory."""
    joins = [eqn for eqn in jaxpr.eqns if eqn.primitive.traits.joins and len(eqn.invars) > JOINED_AT_ONCE and _pays(eqn)]
    if not joins:
        return []
    makers = {v: eqn for eqn in jaxpr.eqns for v in eqn.outvars}
    readers = _readers(jaxpr)
    return [id(eqn.outvars[0]) for eqn in joins if 2 * sum([_is_computed(x, makers, readers) for x in eqn.invars]) > len(eqn.invars)]


def _pays(eqn: JaxprEqn) -> bool:
    """Whether kernels of several arrays run about as fast as one of each."""
    axis, part = eqn.params["dimension" if "dimension" in eqn.params else "axis"], eqn.invars[0].aval
    return part.size <= SHORT or math.prod(part.shape[axis:]) >= IN_A_ROW


def _readers(jaxpr: Jaxpr) -> dict[Any, int]:
    """How often each value is read."""
    counts: dict[Any, int] = {}
    for x in (*(x for eqn in jaxpr.eqns for x in eqn.invars), *jaxpr.outvars):
        if type(x) is not Literal:
            counts[x] = counts.get(x, 0) + 1
    return counts


def _is_computed(x: Any, makers: dict[Any, JaxprEqn], readers: dict[Any, int]) -> bool:
    """Whether ``x`` is computed where it is read, and only there."""
    while type(x) is not Literal and x in makers and readers[x] == 1:
        eqn = makers[x]
        traits = eqn.primitive.traits
        if traits.kind is not Kind.VIEW and not (eqn.primitive is broadcast_in_dim_p and x.aval.size == eqn.invars[0].aval.size):
            return traits.fused or traits.kind is Kind.CALL and _call_computes(eqn, x)
        x = eqn.invars[0]
    return False


def _call_computes(eqn: JaxprEqn, result: Any) -> bool:
    """Whether a program that is called computes this result of it where it is read."""
    program = program_of(eqn)
    if program is None:
        return False
    inner = program.jaxpr
    made = inner.outvars[eqn.outvars.index(result)]
    return _is_computed(made, {v: eqn for eqn in inner.eqns for v in eqn.outvars}, {made: 1, **{v: 1 for eqn in inner.eqns for v in eqn.outvars}})
