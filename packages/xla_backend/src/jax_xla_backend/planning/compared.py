"""Values that are compared with one chosen among them: `x == x.max()`, a threshold by `sort` or `top_k`, and derivatives of extrema; and those it is
subtracted from: `x - x.max()`, as in softmax.

XLA computes such values in the kernel of the extremum, and again in that of the comparison. LLVM makes multiply-adds of a product and a sum in
one of them and not in the other, so the last bit differs: the largest is equal to none, and a derivative is 0, infinite or NaN. So they are to
be computed once. A difference would be rounded together with the product that it is taken of, so that of large numbers more than 0 is left of the largest,
and more than `exp` takes.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from jax_core.representation import dtypes
from jax_core.representation.jaxpr import Jaxpr, JaxprEqn, Literal
from jax_core.representation.partial_sums import Extremum
from jax_core.representation.traits import Algebra, Kind, Part

_MOVES = {Kind.IDENTITY, Kind.VIEW, Kind.MOVE}
_CHOOSE = {Kind.SORT, Kind.SWEEP, Kind.SCATTER, Kind.CALL, Kind.LOOP, Kind.BRANCH, Kind.PROGRAM}
_MOST = 100
"""Variables behind one operand that are looked at, so that the time is linear in the number of comparisons."""
_IN_MEMORY = {Kind.PRODUCT, Kind.CONVOLUTION, Kind.SORT, Kind.SCATTER, Kind.LIBRARY, Kind.HOST, Kind.LOOP, Kind.BRANCH}
"""What the compiler does not compute again."""


def compared_with_chosen(jaxpr: Jaxpr, whole: bool) -> set[int]:
    """``id(var)`` of the values of floats, results of equations or inputs, that are to be computed once.

    Args:
      whole: whether the program is not part of another one, so that its inputs are in memory.
    """
    comparisons = [eqn for eqn in jaxpr.eqns if eqn.primitive.traits.algebra is Algebra.COMPARISON and _is_float(eqn.invars[0])]
    if not comparisons:
        return set()
    made = {v: eqn for eqn in jaxpr.eqns for v in eqn.outvars}
    found = set()
    for eqn in comparisons:
        bases = [_bases(x, made) for x in eqn.invars]
        for values, chosen in (bases, bases[::-1]):
            among = [v for y in chosen if y in made and _chooses(made[y]) for v in made[y].invars]
            for x in values & set().union(*[_bases(v, made) for v in among]):
                computed = made[x].primitive.traits.kind not in _IN_MEMORY if x in made else not whole
                if computed:
                    found.add(id(x))
    return found


def less_chosen(jaxpr: Jaxpr) -> set[int]:
    """``id(var)`` of the values of floats that an extremum among them is subtracted from. Narrower floats than float32 are rounded before."""
    if not any([_is_extremum(eqn) for eqn in jaxpr.eqns]):
        return set()
    made = {v: eqn for eqn in jaxpr.eqns for v in eqn.outvars}
    found: set[int] = set()
    for eqn in jaxpr.eqns:
        if eqn.primitive.traits.algebra is Algebra.SUM and _is_float(eqn.outvars[0]) and eqn.outvars[0].aval.dtype.itemsize >= 4:
            values, chosen = (_bases(x, made) for x in eqn.invars)
            among = [_bases(v, made) for y in chosen if y in made and _is_extremum(made[y]) for v in made[y].invars]
            found.update([id(v) for v in values & set().union(*among)])
    return found


def _is_extremum(eqn: JaxprEqn) -> bool:
    """Whether results are elements of the operand, of which those of softmax may miss NaN."""
    return isinstance(eqn.primitive.sums, Extremum) or eqn.primitive.traits.compares


def _is_float(x: Any) -> bool:
    return dtypes.issubdtype(x.aval.dtype, np.inexact)


def _chooses(eqn: JaxprEqn) -> bool:
    """Whether results may be elements of operands."""
    return eqn.primitive.traits.compares or eqn.primitive.traits.kind in _CHOOSE


def _bases(x: Any, made: dict) -> set:
    """Variables of which the elements of ``x`` are elements; as far as `_MOST` of them tell."""
    found: set = set()
    seen: set = set()
    left = [x]
    while left and len(seen) < _MOST:
        x = left.pop()
        if type(x) is Literal or x in seen:
            continue
        seen.add(x)
        traits = made[x].primitive.traits if x in made else None
        if traits is not None and traits.chooses:
            left += made[x].invars[1:]
        elif traits is not None and (traits.kind in _MOVES or traits.part in (Part.FOUND, Part.FIXED)):
            left += made[x].invars if traits.joins else made[x].invars[:1]
        else:
            found.add(x)
    return found
