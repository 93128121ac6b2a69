"""Would XLA's fusion compute the shared values of a small program again and again?

Each kernel computes all that is behind its result, up to values in memory. Where 64 leaves of a carry need one sum of them,
the sum is computed 64 times a step, and each time is code to compile. The planner's barriers are no remedy for small values:
XLA's loops over less than 16 kB are one function, which has no barriers. But there every operation may as well stand alone,
as its operands are in the processor's cache: such programs are compiled without fusion (docs/internals/control-flow.md). The
step of an ODE of a few numbers needs none of this: there LLVM computes each value once, and fused code is the faster.
"""
from __future__ import annotations

import collections

from jax_core.representation.jaxpr import Jaxpr, Literal, jaxprs_in_params
from jax_core.representation.traits import Kind

from .planner import CHEAP, SMALL
from .small_programs import has_large, leaves, programs

OFTEN = 8
"""Times that an operation is computed, on average and at least, if all values fit into what XLA makes one function of."""
OFTEN_APART = 16
"""The same where they do not: each operation is then dispatched by itself."""
FEW = 8
"""Numbers that a loop's step starts from, at most, for LLVM to find the equal work in a step that is one function by itself."""
WORTH = 256
"""Operations in all kernels of a program, at least."""
LONGEST = 4096
"""Equations of a program, at most: the count takes time in their square."""


def repeats_work(jaxpr: Jaxpr) -> bool:
    """Whether the program, or a loop body or branch in it, is better compiled without fusion.

    No array may have over `small.ELEMENTS` elements, as passes over memory count there, except what a loop reads and stacks.
    """
    if any(has_large(eqn) for program in programs(jaxpr) for eqn in leaves(program)):
        return False
    steps = {id(step) for program in programs(jaxpr) for eqn in program.eqns if eqn.primitive.traits.kind is Kind.LOOP
             for step in jaxprs_in_params(eqn.params)}
    return any(_repeats(program, id(program) in steps) for program in programs(jaxpr) if len(program.eqns) <= LONGEST)


def _repeats(jaxpr: Jaxpr, step: bool) -> bool:
    times = _times_computed(jaxpr)
    if times < OFTEN or _buffers(jaxpr) > SMALL:
        return times >= OFTEN_APART
    return not step or sum(getattr(v.aval, "size", 1) for v in (*jaxpr.constvars, *jaxpr.invars)) > FEW


def _buffers(jaxpr: Jaxpr) -> int:
    """Bytes of all values: arrays in buffers as XLA aligns them; scalars count less, as most become registers."""
    avals = [v.aval for eqn in jaxpr.eqns for v in eqn.outvars]
    return sum(-(-a.size * getattr(a.dtype, "itemsize", 8) // 64) * 64 if getattr(a, "shape", ()) else 16 for a in avals)


def _times_computed(jaxpr: Jaxpr) -> float:
    """How often an equation is computed on average, if kernels compute all behind them; 0 where there is little in all.

    What is behind a value is a set of equations, kept as the bits of a number.
    """
    uses = collections.Counter(x for eqn in jaxpr.eqns for x in eqn.invars if type(x) is not Literal)
    results = {x for x in jaxpr.outvars if type(x) is not Literal}
    behind: dict = {}
    computed = 0
    for i, eqn in enumerate(jaxpr.eqns):
        sets = [behind.get(x, 0) for x in eqn.invars if type(x) is not Literal]
        traits = eqn.primitive.traits
        if traits.starts_kernel:
            continue
        if traits.joins and not results.isdisjoint(eqn.outvars):  # that kernel has code for each operand
            computed += sum(s.bit_count() for s in sets)
        own = 1 << i
        for s in sets:
            own |= s
        if traits.cost <= CHEAP or traits.spelled_out or uses[eqn.outvars[0]] <= 1:  # else XLA keeps it
            behind.update(dict.fromkeys(eqn.outvars, own))
    computed += sum(behind.get(x, 0).bit_count() for x in jaxpr.outvars if type(x) is not Literal)
    return computed / len(jaxpr.eqns) if computed >= WORTH else 0.0
