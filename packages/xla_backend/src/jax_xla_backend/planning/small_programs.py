"""Is a program small, or nothing but passes over its inputs? Then the quick way to compile it pays.

Where all arrays are small, XLA's time to compile counts, and how good its code is hardly does. And code of passes over
inputs is as good either way.
"""
from __future__ import annotations

import collections
from typing import Iterator

from jax_core.representation.jaxpr import Jaxpr, JaxprEqn, Literal, jaxprs_in_params, program_of
from jax_core.representation.traits import AROUND_PROGRAMS, Keys, Kind, Quick

ELEMENTS = 1024
"""Of every array in a small program, at most; docs/internals/compile-time.md has the measurements."""
EQUAL = 2
"""Kernels of a kind in it, on average and at most: XLA's full way compiles equal kernels once, the quick way each one."""
FEW_ELEMENTS, FEW_EQUAL = 32, 16
"""The same two of a program whose code is not worth optimising (`Work.tiny`); such kernels take little time each."""
SERIES = 50.0
"""ns for one element, from which on an operation's code is worth optimising for any number of them (`zeta`)."""
LOST = 4_000
"""ns that a run may lose for code that is not optimised, at most; a call takes some 5,000 to 20,000 at least."""
LOST_SIMPLE, LOST_COSTLY = 2, 20
"""Such ns for an element: of most operations; of an `exp`, `tanh`, running sum ... (docs/internals/compile-time.md)."""
COSTLY = 1.0
"""ns for one element in optimised code, from which on an operation is not simple."""
SHORT = 32
"""Equations of a program that only reads its inputs, at most."""
REDUCTIONS = 3
"""In a program that only reads its inputs, at most."""
DRAWN_ELEMENTS = 1 << 18
"""Random numbers in such a program, at most: more take 2 to 5 % longer."""


def is_small(jaxpr: Jaxpr, elements: int = ELEMENTS, equal: int = EQUAL, results: bool = True) -> bool:
    """Whether the quick way to compile pays.

    No equation, nor any in the bodies of loops and branches, may read or write an array of over ``elements``; a loop may
    read and stack larger arrays, as each step takes a small part of them. And hardly any kernel may be there many times,
    as far as can be told from the equations that start one and, if they count, from the ``results``. Stops at the first large array.
    """
    kernels: collections.Counter = collections.Counter(x.aval for x in jaxpr.outvars) if results else collections.Counter()
    for eqn in (eqn for program in programs(jaxpr) for eqn in leaves(program)):
        if eqn.primitive.traits.quick is Quick.LESS_EXACT or has_large(eqn, elements):
            return False
        if eqn.primitive.traits.starts_kernel:
            kernels[eqn.primitive, *[x.aval for x in (*eqn.invars, *eqn.outvars)]] += 1
    return kernels.total() <= equal * len(kernels)


def only_reads_inputs(jaxpr: Jaxpr) -> bool:
    """Whether all kernels are passes over the inputs and what is reduced from them, as in most functions that are called eagerly.

    Such code is as fast either way (docs/internals/compile-time.md). Not so what the quick way is bad at: a result that takes the
    buffer of an intermediate value, parts of computed values (`roll` is a concatenation of slices), and long programs. So no
    large array but the inputs is read twice, as XLA may keep it in memory then.
    """
    inputs = set(jaxpr.invars) | set(jaxpr.constvars)
    results = collections.Counter(x.aval for x in jaxpr.outvars)
    read: set = set()
    equations = reductions = 0
    for program in programs(jaxpr):
        for eqn in program.eqns:
            traits = eqn.primitive.traits
            if traits.kind is Kind.CALL:
                called = program_of(eqn)
                if called is not None:
                    inputs.update([v for v, x in zip(called.jaxpr.invars, eqn.invars) if type(x) is not Literal and x in inputs])
                continue
            equations += 1
            if equations > SHORT or traits.quick is Quick.LESS_EXACT or jaxprs_in_params(eqn.params):
                return False
            if not has_large(eqn):
                continue
            reduces = traits.kind is Kind.REDUCTION
            reductions += reduces
            drawn = traits.kind is Kind.DRAW and eqn.outvars[0].aval.size <= DRAWN_ELEMENTS
            if not (traits.fused or drawn or reduces) or reductions > REDUCTIONS:
                return False
            computed = [x for x in eqn.invars if type(x) is not Literal and x.aval.size > ELEMENTS and x not in inputs]
            if not read.isdisjoint(computed) or computed and traits.quick is Quick.SLOW_ON_RESULTS:
                return False
            read.update(computed)
    return results.total() <= EQUAL * len(results)


def loses_much(jaxpr: Jaxpr) -> bool:
    """Whether a run of the program, with one step of each loop, takes about `LOST` ns longer if LLVM does not optimise its code.

    A call counts, too, so that no more than so many are looked at.
    """
    total, todo = 0, [jaxpr]
    while todo:
        for eqn in todo.pop().eqns:
            inner = eqn.params and jaxprs_in_params(eqn.params)
            if inner:
                todo += inner
            total += 1 if inner and eqn.primitive.traits.kind in AROUND_PROGRAMS else lost_by(eqn)
            if total > LOST:
                return True
    return False


def lost_by(eqn: JaxprEqn) -> int:
    """ns that an equation takes longer if LLVM does not optimise its code."""
    traits = eqn.primitive.traits
    windows = traits.starts_kernel and traits.inner.over_windows
    each = LOST_COSTLY if traits.cost >= COSTLY or windows else LOST_SIMPLE
    return each * max([1, *[getattr(x.aval, "size", 0) for x in (*eqn.invars, *eqn.outvars)]])


def programs(jaxpr: Jaxpr) -> Iterator[Jaxpr]:
    """The program and all inside it, each once."""
    todo, seen = [jaxpr], {id(jaxpr)}
    while todo:
        program = todo.pop()
        yield program
        for eqn in program.eqns:
            for inner in jaxprs_in_params(eqn.params) if eqn.params else ():
                if id(inner) not in seen:
                    seen.add(id(inner))
                    todo.append(inner)


def leaves(jaxpr: Jaxpr) -> Iterator[JaxprEqn]:
    """The equations that work on arrays themselves."""
    return (eqn for eqn in jaxpr.eqns if not eqn.params or eqn.primitive.traits.kind not in AROUND_PROGRAMS or not jaxprs_in_params(eqn.params))


def has_large(eqn: JaxprEqn, limit: int = ELEMENTS) -> bool:
    """Whether it reads or writes an array of over ``limit`` elements."""
    return any([getattr(x.aval, "size", 0) > limit for x in (*eqn.invars, *eqn.outvars)])


def draws(eqn: JaxprEqn) -> bool:
    """Whether it makes random numbers."""
    return eqn.primitive.traits.kind is Kind.DRAW or eqn.primitive.traits.keys is Keys.CONSUMED
