"""Is a program small? Then XLA's time to compile it counts, and how good its code is hardly does."""
from __future__ import annotations

import collections
from typing import Iterator

from jax_core.jaxpr import Jaxpr, JaxprEqn, jaxprs_in_params

from .planner import starts_a_kernel

ELEMENTS = 1024
"""Of every array in a small program, at most; docs/compile-time.md has the measurements."""
EQUAL = 2
"""Kernels of a kind in it, on average and at most: XLA's full way compiles equal kernels once, the quick way each one."""
LESS_EXACT = {"tan", "cbrt", "atan"}
"""Primitives whose quick code has a larger error (1.9 ulp, full: 1.0; `atan` for subnormal float64)."""


def is_small(jaxpr: Jaxpr) -> bool:
    """Whether the quick way to compile pays.

    No equation, nor any in the bodies of loops and branches, may read or write an array of over `ELEMENTS`; a loop may
    read and stack larger arrays, as each step takes a small part of them. And hardly any kernel may be there many times,
    as far as can be told from the equations that start one and from the results. Stops at the first large array.
    """
    kernels = collections.Counter(x.aval for x in jaxpr.outvars)
    for eqn in (eqn for program in programs(jaxpr) for eqn in leaves(program)):
        if eqn.primitive.name in LESS_EXACT or has_large(eqn):
            return False
        if starts_a_kernel(eqn.primitive):
            kernels[eqn.primitive, *[x.aval for x in (*eqn.invars, *eqn.outvars)]] += 1
    return kernels.total() <= EQUAL * len(kernels)


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
    """The equations that hold no programs."""
    return (eqn for eqn in jaxpr.eqns if not eqn.params or next(jaxprs_in_params(eqn.params), None) is None)


def has_large(eqn: JaxprEqn) -> bool:
    """Whether it reads or writes an array of over `ELEMENTS`."""
    return any([getattr(x.aval, "size", 0) > ELEMENTS for x in (*eqn.invars, *eqn.outvars)])
