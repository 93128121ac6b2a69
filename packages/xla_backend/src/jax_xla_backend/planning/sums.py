"""Which functions XLA's library for sums computes together with the sums, with vector code of its own: the lowering leaves them as they are.

On the CPU XLA hands a sum of many float32 numbers to a library, and with it what computes them, where that is arithmetic and some functions
(`Traits.in_sums`) and nothing else. The library's sine of jaxlib 0.12 takes a fifth of the time of ours (`benchmarks/programs/shifted_sums.py`) and is
exact to 2.2 units in the last place. XLA's own, which a choice, a slice or a gather in the way would leave, takes six times as much. So all that is
computed in front of the sum, from the arguments of the program on, must be of this kind, and needed by it alone.
"""
from __future__ import annotations

from typing import Any, Collection

import numpy as np

from jax_core.representation.jaxpr import Jaxpr, JaxprEqn, Literal
from jax_core.traces.structural import convert_element_type_p, reduce_sum_p

LIBRARY = 1 << 12
"""Elements of what is summed, at least."""
EACH = 16
"""Elements for each sum, at least."""

_FLOAT32 = np.dtype(np.float32)
_SEVERAL = -1  # sums, or something else


def _is_taken(eqn: JaxprEqn) -> bool:
    """Whether the library computes this."""
    if not eqn.primitive.traits.in_sums or eqn.outvars[0].aval.dtype != _FLOAT32:
        return False
    if eqn.primitive is convert_element_type_p:
        return eqn.invars[0].aval.dtype.kind != "c"
    return all([x.aval.dtype == _FLOAT32 for x in eqn.invars])


def computed_in_sums(jaxpr: Jaxpr, cuts: Collection[int]) -> set[int]:
    """``id(var)`` of the results of costly functions that the library computes, in the main function of a program.

    ``cuts``: ``id(var)`` of values behind a barrier. What reads these, or results of kernels, XLA may put into a kernel of its own all the same.
    """
    if not any([eqn.primitive.traits.spelled_out and eqn.primitive.traits.in_sums for eqn in jaxpr.eqns]):
        return set()
    plain: dict[Any, bool] = {}  # whether a value is of arguments and sums, and all that computes it of the library's kind
    for eqn in jaxpr.eqns:
        taken = eqn.primitive is reduce_sum_p or _is_taken(eqn) and all([plain.get(x, True) for x in eqn.invars if type(x) is not Literal])
        plain.update((v, taken and id(v) not in cuts) for v in eqn.outvars)
    readers: dict[Any, int] = {x: _SEVERAL for x in jaxpr.outvars if type(x) is not Literal}  # the number of the one sum that needs a value
    found = set()
    for i in range(len(jaxpr.eqns) - 1, -1, -1):
        eqn = jaxpr.eqns[i]
        result: Any = eqn.outvars[0] if eqn.outvars else None
        reader = _SEVERAL
        if eqn.primitive is reduce_sum_p:
            x = eqn.invars[0]
            if plain.get(x) and x.aval.size >= max(LIBRARY, EACH * result.aval.size):
                reader = i
        elif plain.get(result):
            reader = readers.get(result, _SEVERAL)
            if reader != _SEVERAL and eqn.primitive.traits.spelled_out:
                found.add(id(result))
        for x in eqn.invars:
            if type(x) is not Literal:
                readers[x] = reader if readers.get(x, reader) == reader else _SEVERAL
    return found
