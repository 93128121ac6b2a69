"""Values that are compared with one chosen among them: `x == x.max()`, a threshold by `sort` or `top_k`, and derivatives of extrema; and those it is
subtracted from: `x - x.max()`, as in softmax.

XLA computes such values in the kernel of the extremum, and again in that of the comparison. LLVM makes multiply-adds of a product and a sum in
one of them and not in the other, so the last bit differs: the largest is equal to none, and a derivative is 0, infinite or NaN. So they are to
be computed once. A difference would be rounded together with the product that it is taken of, so that of large numbers more than 0 is left of the largest,
and more than `exp` takes.
"""
from __future__ import annotations

from typing import Any, Callable

import numpy as np

from jax_core.representation import dtypes
from jax_core.representation.jaxpr import Jaxpr, JaxprEqn, Literal, makers
from jax_core.representation.partial_sums import Extremum
from jax_core.representation.traits import Algebra, Kind, Part

_MOVES = {Kind.IDENTITY, Kind.VIEW, Kind.MOVE}
_CHOOSE = {Kind.SORT, Kind.SWEEP, Kind.SCATTER, Kind.CALL, Kind.LOOP, Kind.BRANCH, Kind.PROGRAM}
_MOST = 100
"""Variables behind one operand that are looked at, so that the time is linear in the number of comparisons."""
_IN_MEMORY = {Kind.PRODUCT, Kind.CONVOLUTION, Kind.SORT, Kind.SCATTER, Kind.LIBRARY, Kind.HOST, Kind.LOOP, Kind.BRANCH}
"""What the compiler does not compute again."""


def computed_once(jaxpr: Jaxpr, whole: bool) -> tuple[set[int], set[int]]:
    """``id(var)`` of the values of floats, results of equations or inputs, that are to be computed once: of those that are compared with one of them, and
    of those that an extremum among them is subtracted from, if they are products. (Narrower floats than float32 are rounded before.)

    Args:
      whole: whether the program is not part of another one, so that its inputs are in memory.
    """
    comparisons = [eqn for eqn in jaxpr.eqns if eqn.primitive.traits.algebra is Algebra.COMPARISON and _is_float(eqn.invars[0])]
    differences = [eqn for eqn in jaxpr.eqns if eqn.primitive.traits.algebra is Algebra.SUM and _is_float(eqn.outvars[0])
                   and eqn.outvars[0].aval.dtype.itemsize >= 4] if any(map(_is_extremum, jaxpr.eqns)) else []
    if not comparisons and not differences:
        return set(), set()
    made = makers(jaxpr)
    compared, less = set(), set()
    for eqn in comparisons:
        first, second = (_bases(x, made) for x in eqn.invars)
        chosen = first & _among(second, made, _chooses) | second & _among(first, made, _chooses)
        compared.update([x for x in chosen if (made[x].primitive.traits.kind not in _IN_MEMORY if x in made else not whole)])
    for eqn in differences:
        first, second = (_bases(x, made) for x in eqn.invars)
        less |= first & _among(second, made, _is_extremum)
    return set(map(id, compared)), set(map(id, less))


def _among(chosen: set, made: dict, chooses: Callable[[JaxprEqn], bool]) -> set:
    """What those of the ``chosen`` values are elements of that such an equation makes."""
    return set().union(*[_bases(v, made) for y in chosen if y in made and chooses(made[y]) for v in made[y].invars])


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
