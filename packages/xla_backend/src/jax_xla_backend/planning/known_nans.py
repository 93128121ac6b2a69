"""Does a program compute with numbers that the compiler knows to be NaN?

XLA's `exp` for CPUs makes integers of its operand, and adds them to the bits of a result. Which integer NaN becomes LLVM leaves open, so where it knows that
the operand is NaN, by a constant of the program, the result is any number. What it does not know to be NaN the processor converts, as it should be. So
programs that meet such a constant, other than as one that is chosen, choose NaN where the operand is (`lowering.kept_nans`). In others that would cost time.
Random numbers of a key that is known are constants, too; which ones is not asked here, so that exponentials of what is computed of them count.
"""
from __future__ import annotations

from typing import Any, Iterable, Mapping

import numpy as np

from jax_core.representation.jaxpr import Jaxpr, JaxprEqn, Literal, jaxprs_in_params, program_of
from jax_core.representation.traits import Kind
from jax_core.traces.structural import broadcast_in_dim_p

_ALIKE = (Kind.IDENTITY, Kind.VIEW)
_COMPUTE_NOTHING = (*_ALIKE, Kind.MOVE, Kind.CALL, Kind.BRANCH)
_Known = Mapping[Any, Any]
_CONSTANT = "constant"
"""Stands for a constant that is not looked at."""
_DRAWN = "drawn"
"""Stands for random numbers of such a key, and for what is computed of them and of other constants."""


def meets_nan(jaxpr: Jaxpr, consts: Iterable[tuple[Any, Any]]) -> bool:
    """Whether an operation of ``jaxpr``, or of a program in it, computes with NaN for certain, as far as this follows from numbers.

    Args:
      consts: constants in its text, pairs of a variable and its value.
    """
    known = {}
    for v, x in consts:
        x = np.asarray(x) if getattr(v.aval, "size", 0) else None
        if x is not None and x.dtype.kind in "fcV" and bool((x != x).any()):
            return True
        if x is not None and x.size == 1:
            known[v] = x.reshape(())[()]
    return _meets(jaxpr, known, set())


def _meets(jaxpr: Jaxpr, inputs: _Known, seen: set) -> bool:
    known = dict(inputs)
    for eqn in jaxpr.eqns:
        values = [x.val if type(x) is Literal else known.get(x) for x in eqn.invars]
        traits = eqn.primitive.traits
        if any([v is not None and not v == v for v in values]) and not traits.chooses and traits.kind not in _COMPUTE_NOTHING:
            return True
        if values and None not in values:
            found = _of_constants(eqn, values)
            if traits.kind is Kind.ELEMENTWISE and (not found == found or found is _DRAWN and traits.loses_nan):
                return True
            known.update(dict.fromkeys(eqn.outvars, found))
        if eqn.params and any([_meets_inside(inner, given, seen) for inner, given in _inside(eqn, values)]):
            return True
    return False


def _inside(eqn: JaxprEqn, values: list) -> list[tuple[Jaxpr, _Known]]:
    """The programs in an equation, with what is known of their inputs."""
    traits, program = eqn.primitive.traits, program_of(eqn)
    if traits.kind is Kind.CALL and program is not None:
        return [(program.jaxpr, _numbers(program.jaxpr.invars, values))]
    inner = jaxprs_in_params(eqn.params)
    if traits.kind is Kind.BRANCH:
        return [(branch, _numbers(branch.invars, values[1:])) for branch in inner]
    return [(body, {}) for body in inner]


def _numbers(inputs: list, values: list) -> _Known:
    return {v: x for v, x in zip(inputs, values) if x is not None}


def _meets_inside(jaxpr: Jaxpr, inputs: _Known, seen: set) -> bool:
    key = id(jaxpr), tuple([(id(v), str(x)) for v, x in inputs.items()])
    if key in seen:
        return False
    seen.add(key)
    return _meets(jaxpr, inputs, seen)


def _of_constants(eqn: JaxprEqn, values: list) -> Any:
    """The number that an equation computes of constants, for each element of its result, or what stands for it."""
    if eqn.primitive.traits.kind is Kind.DRAW or _DRAWN in values:
        return _DRAWN
    found = _result(eqn, values) if len(eqn.outvars) == 1 and _CONSTANT not in values else None
    return _CONSTANT if found is None else found


def _result(eqn: JaxprEqn, values: list) -> Any:
    """The number that an equation computes of numbers, for each element of its result; None if it is not known."""
    prim = eqn.primitive
    if prim.traits.kind in _ALIKE or prim is broadcast_in_dim_p:
        return values[0]
    dtype = getattr(eqn.outvars[0].aval, "dtype", None)
    if prim.traits.kind is not Kind.ELEMENTWISE or prim.reference is None or not isinstance(dtype, np.dtype):
        return None
    given = [np.asarray(v, x.aval.dtype) for v, x in zip(values, eqn.invars)]
    try:
        with np.errstate(all="ignore"):
            return np.asarray(prim.reference(*given, **eqn.params)).astype(dtype)[()]
    except (ArithmeticError, TypeError, ValueError):  # Python's functions of numbers refuse some
        return None
