"""Is a program small? Then XLA's time to compile it counts, and how good its code is hardly does."""
from __future__ import annotations

import collections

from jax_core.jaxpr import Jaxpr, jaxprs_in_params

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
    seen: set[int] = set()
    todo = [jaxpr]
    while todo:
        for eqn in todo.pop().eqns:
            inner = list(jaxprs_in_params(eqn.params)) if eqn.params else ()
            if inner:
                todo += [j for j in inner if id(j) not in seen]
                seen.update(map(id, inner))
                continue
            avals = [x.aval for x in (*eqn.invars, *eqn.outvars)]
            if eqn.primitive.name in LESS_EXACT or any([getattr(aval, "size", 0) > ELEMENTS for aval in avals]):
                return False
            if starts_a_kernel(eqn.primitive):
                kernels[eqn.primitive, *avals] += 1
    return kernels.total() <= EQUAL * len(kernels)
