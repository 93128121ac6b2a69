"""Which arrays are put together of many that are computed?

XLA's CPU compiler makes one kernel of a few arrays that are put together, and of all that computes them. Of more it makes a kernel each, which takes
12 ms to compile (docs/internals/fusion.md). So those are put together eight by eight first (`benchmarks/programs/joins.py`).
Such a kernel has no vectors where each array gives a few elements in a row, which long ones are better without.
"""
from __future__ import annotations

import collections
import math
from typing import Any

from jax_core.interfaces import JOINED_AT_ONCE
from jax_core.representation.jaxpr import Jaxpr, JaxprEqn, Literal, makers, program_of
from jax_core.representation.traits import Kind

from .planner import is_view

IN_A_ROW = 16
"""Elements that an array gives in a row, at least, for vectors."""
SHORT = 1 << 13
"""Elements of an array up to which a kernel without vectors loses less in 3,000 runs (0.1 to 0.3 ns an element) than one more takes to compile."""


def joins_of_computed(jaxpr: Jaxpr) -> list[int]:
    """``id(var)`` of arrays put together of many, most of which nothing else reads, nor are they in memory."""
    joins = [eqn for eqn in jaxpr.eqns if eqn.primitive.traits.joins and len(eqn.invars) > JOINED_AT_ONCE and _pays(eqn)]
    if not joins:
        return []
    made, readers = makers(jaxpr), _readers(jaxpr)
    return [id(eqn.outvars[0]) for eqn in joins if 2 * sum([_is_computed(x, made, readers) for x in eqn.invars]) > len(eqn.invars)]


def _pays(eqn: JaxprEqn) -> bool:
    """Whether kernels of several arrays run about as fast as one of each."""
    axis, part = eqn.params["dimension" if "dimension" in eqn.params else "axis"], eqn.invars[0].aval
    return part.size <= SHORT or math.prod(part.shape[axis:]) >= IN_A_ROW


def _readers(jaxpr: Jaxpr) -> collections.Counter:
    """How often each value is read."""
    return collections.Counter([x for xs in (*[eqn.invars for eqn in jaxpr.eqns], jaxpr.outvars) for x in xs if type(x) is not Literal])


def _is_computed(x: Any, makers: dict[Any, JaxprEqn], readers: collections.Counter) -> bool:
    """Whether ``x`` is computed where it is read, and only there."""
    while type(x) is not Literal and x in makers and readers[x] == 1:
        eqn = makers[x]
        traits = eqn.primitive.traits
        if not is_view(eqn):
            return traits.fused or traits.kind is Kind.CALL and _call_computes(eqn, x)
        x = eqn.invars[0]
    return False


def _call_computes(eqn: JaxprEqn, result: Any) -> bool:
    """Whether a program that is called computes this result of it where it is read."""
    program = program_of(eqn)
    if program is None:
        return False
    inner = program.jaxpr
    return _is_computed(inner.outvars[eqn.outvars.index(result)], makers(inner), _readers(inner))
