"""Is a program small? Then XLA's time to compile it counts, and how good its code is hardly does."""
from __future__ import annotations

from jax_core.jaxpr import Jaxpr, jaxprs_in_params

ELEMENTS = 1024
"""Of every array in a small program, at most; docs/compile-time.md has the measurements."""

LESS_EXACT = {"tan", "cbrt"}
"""Primitives whose quick code has a larger error (1.9 ulp, full: 1.0)."""


def is_small(jaxpr: Jaxpr) -> bool:
    """Whether no equation, nor any in the bodies of loops and branches, reads or writes an array of over `ELEMENTS`.

    A loop may read and stack larger arrays, as each step takes a small part of them. Stops at the first large array.
    """
    seen: set[int] = set()
    todo = [jaxpr]
    while todo:
        jaxpr = todo.pop()
        for eqn in jaxpr.eqns:
            inner = list(jaxprs_in_params(eqn.params)) if eqn.params else ()
            if inner:
                todo += [j for j in inner if id(j) not in seen]
                seen.update(map(id, inner))
            elif eqn.primitive.name in LESS_EXACT or any(getattr(x.aval, "size", 0) > ELEMENTS for x in (*eqn.invars, *eqn.outvars)):
                return False
    return True
