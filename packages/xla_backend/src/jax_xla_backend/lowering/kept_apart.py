"""Operations that XLA's simplifier would merge with what reads them, into others that are wrong where these are right.

- Quotients of quotients: it makes ``(a * c) / b`` of ``a / (b / c)``, ``a / (b * c)`` of ``a / b / c``, and ``(a * d) / (b * c)`` of
  ``(a / b) / (c / d)``, whatever the numbers are: where a product is out of range the result is infinite, 0 or NaN.
- Logarithms of powers: ``log(x ** y)`` becomes ``y log|x|``, a number also where the power is negative.
- Before 0.12, products with constants: ``x * 1e-30 * 1e-30`` becomes ``x * 0``.

It does not look through a selection, so the inner result is selected where it is a number. It looks through changes of shape and calls.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Collection, Sequence

import numpy as np

from jax_core.representation import dtypes
from jax_core.representation.jaxpr import Jaxpr, JaxprEqn, Literal
from jax_core.representation.traits import Kind

from ..jaxlib_compat import COMPILER_ERRS
from .values import new_value

if TYPE_CHECKING:
    from jax_core.representation.primitive import Primitive

    from .builder import Builder

# What an operation is to those that may be merged; plain strings, as all equations are asked
_QUOTIENT, _POWER, _LOGARITHM, _PROGRAM = "div", "pow", "log", "program"
_REPEATS = "a view, or a repetition"
_SAME = "its operand in another shape, or as it is"
_SUM = "the same if there is one term for each"
_WITH_CONSTANT = "the same if the other operand is a constant"
_OTHER = "none of these"

_READERS = {_QUOTIENT: _QUOTIENT, _POWER: _LOGARITHM}
_BY_NAME = {"broadcast_in_dim": _REPEATS, **dict.fromkeys(("mul", "add", "sub"), _WITH_CONSTANT), **{x: x for x in (_QUOTIENT, _POWER, _LOGARITHM)}}
_BY_KIND = {Kind.REDUCTION: _SUM, **dict.fromkeys((Kind.IDENTITY, Kind.VIEW, Kind.MOVE, Kind.KERNEL), _SAME),
            **dict.fromkeys((Kind.CALL, Kind.LOOP, Kind.BRANCH, Kind.PARTS, Kind.PROGRAM), _PROGRAM)}


class _Manners(dict):
    """By primitive, as there are few, and many equations."""

    def __missing__(self, prim: Primitive) -> str:
        return self.setdefault(prim, _BY_NAME.get(prim.name) or _BY_KIND.get(prim.traits.kind, _OTHER))


_manners = _Manners()


def merged(jaxpr: Jaxpr, whole: bool) -> set[int]:
    """``id(var)`` of the results that are to be kept apart from what reads them.

    Args:
      whole: whether the program is not part of another one, which may read its results.
    """
    found = _products(jaxpr) if COMPILER_ERRS else set()
    manners = [_manners[eqn.primitive] for eqn in jaxpr.eqns]
    for manner, reader in _READERS.items():
        if manner in manners and (made := _results(jaxpr, manners, manner)):
            found |= made & _read_by(jaxpr, manners, reader, whole)
    return found


def _results(jaxpr: Jaxpr, manners: Sequence[str], wanted: str) -> set[int]:
    """``id(var)`` of the results of floats; but for quotients by a constant, or by fewer numbers that are repeated: these become products with
    reciprocals before."""
    repeated: set[int] = set()
    found = set()
    for eqn, manner in zip(jaxpr.eqns, manners):
        if manner is _REPEATS:
            if eqn.invars[0].aval.size < eqn.outvars[0].aval.size:
                repeated.add(id(eqn.outvars[0]))
        elif manner is wanted and dtypes.issubdtype(eqn.outvars[0].aval.dtype, np.inexact):
            second = eqn.invars[1]
            if manner is _POWER or type(second) is not Literal and id(second) not in repeated and second.aval.size == eqn.outvars[0].aval.size:
                found.add(id(eqn.outvars[0]))
    return found


def _read_by(jaxpr: Jaxpr, manners: Sequence[str], reader: str, whole: bool) -> set[int]:
    """``id(var)`` of what the ``reader`` may have as an operand, as far as the compiler is concerned."""
    read = set() if whole else {id(v) for v in jaxpr.outvars}
    for eqn, manner in zip(reversed(jaxpr.eqns), reversed(manners)):
        if manner is not _OTHER and (manner is reader or manner is _PROGRAM or eqn.outvars and id(eqn.outvars[0]) in read and _shows(eqn, manner)):
            read.update([id(v) for v in eqn.invars])
    return read


def _shows(eqn: JaxprEqn, manner: str) -> bool:
    """Whether the first result may be an operand as it is."""
    if manner is _SUM:
        return eqn.outvars[0].aval.size == eqn.invars[0].aval.size
    if manner is _WITH_CONSTANT:
        return any([type(x) is Literal for x in eqn.invars])
    return manner is _SAME or manner is _REPEATS


def _products(jaxpr: Jaxpr) -> set[int]:
    """Products with a constant that are multiplied by a second one, where the product of both is out of range."""
    factors: dict = {}
    found = set()
    for eqn in jaxpr.eqns:
        if eqn.primitive.name != "mul" or not dtypes.issubdtype(eqn.outvars[0].aval.dtype, np.floating):
            continue
        numbers = [x.val for x in eqn.invars if type(x) is Literal]
        others = [x for x in eqn.invars if type(x) is not Literal]
        if len(numbers) == 1 and np.size(numbers[0]) == 1:
            factor, info = abs(float(numbers[0])), dtypes.finfo(eqn.outvars[0].aval.dtype)
            factors[eqn.outvars[0]] = factor
            before = factors.get(others[0])
            if before is not None and not float(info.smallest_normal) <= before * factor <= float(info.max):
                found.add(id(others[0]))
    return found


def keep_apart(b: Builder, eqn: JaxprEqn, env: dict, apart: Collection[int]) -> None:
    """Give those results of ``eqn`` that are in ``apart`` a form that is not looked through."""
    for v in eqn.outvars:
        if id(v) in apart:
            x = new_value(env[v], v.aval)
            is_number = b.emit(f"stablehlo.compare EQ, {x}, {x}, FLOAT", x, x, out=v.aval.update(dtype=np.dtype(bool), weak_type=False))
            nan = b.full(np.nan, v.aval)
            env[v] = str(b.emit(f"stablehlo.select {is_number}, {x}, {nan}", is_number, x, nan, out=v.aval))
