"""Operations that XLA's simplifier would merge with what reads them, into others that are wrong where these are right.

- Quotients of quotients: it makes ``(a * c) / b`` of ``a / (b / c)``, ``a / (b * c)`` of ``a / b / c``, and ``(a * d) / (b * c)`` of
  ``(a / b) / (c / d)``, whatever the numbers are: where a product is out of range the result is infinite, 0 or NaN.
- Quotients by powers: ``x / y ** z`` becomes ``x * y ** -z``, 0 where ``y ** z`` is near the end of the range. Before 0.12 those by exponentials likewise, and
  powers of exponentials, ``exp(x) ** y``, become ``exp(x * y)``, which is NaN for infinite ``x``, and ``y`` 0.
- Logarithms of powers: ``log(x ** y)`` becomes ``y log|x|``, a number also where the power is negative; ``log(rsqrt(x))`` becomes ``-log(x) / 2``,
  infinite at -0, where ``rsqrt`` is -inf.
- Before 0.12, products with constants, and quotients by them: ``x * 1e-30 * 1e-30`` and ``x / 1e30 / 1e30`` become ``x * 0``.

It does not look at the bits of numbers, so the inner result is written with its bits inverted twice. It looks through changes of shape and calls.

Values that are compared with one of their elements get a barrier behind them, and so do products that one of their elements is subtracted from: see
`planning.compared`.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from jax_core.representation import dtypes
from jax_core.representation.jaxpr import Jaxpr, JaxprEqn, Literal
from jax_core.representation.traits import AROUND_PROGRAMS, Algebra, Kind
from jax_core.traces.structural import broadcast_in_dim_p

from ..jaxlib_compat import BARRIERS_LAST, COMPILER_ERRS
from ..planning.compared import computed_once
from ..planning.planner import SMALL

if TYPE_CHECKING:
    from jax_core.representation.primitive import Primitive

    from .builder import Builder
    from .values import Value

_ANY = slice(None)
_FIRST, _DIVISOR = slice(0, 1), slice(1, 2)
_MERGED = [(Algebra.QUOTIENT, Algebra.QUOTIENT, _ANY), (Algebra.POWER, Algebra.LOGARITHM, _ANY), (Algebra.POWER, Algebra.QUOTIENT, _DIVISOR)]
"""What is merged, with what reads it, and as which of its operands."""
if COMPILER_ERRS:
    _MERGED += [(Algebra.EXPONENTIAL, Algebra.QUOTIENT, _DIVISOR), (Algebra.EXPONENTIAL, Algebra.POWER, _FIRST)]

# What operations are besides
_PROGRAM = "program"
_REPEATS = "a view, or numbers that are repeated"
_SAME = "its operand in another shape, or as it is"
_ONE_TERM = "the same if there is one term for each"
_OTHER = "none of these"
_BY_KIND = {Kind.REDUCTION: _ONE_TERM, **dict.fromkeys((Kind.IDENTITY, Kind.VIEW, Kind.MOVE, Kind.KERNEL), _SAME),
            **dict.fromkeys(AROUND_PROGRAMS, _PROGRAM)}
_WITH_CONSTANT = Algebra.SUM, Algebra.PRODUCT


class _Manners(dict):
    """By primitive, as there are few, and many equations."""

    def __missing__(self, prim: Primitive) -> object:
        traits = prim.traits
        return self.setdefault(prim, _REPEATS if prim is broadcast_in_dim_p else traits.algebra or _BY_KIND.get(traits.kind, _OTHER))


_manners = _Manners()


def merged(jaxpr: Jaxpr, whole: bool) -> set[int]:
    """``id(var)`` of the results that are to be kept apart from what reads them.

    Args:
      whole: whether the program is not part of another one, which may read its results.
    """
    found = _products(jaxpr) if COMPILER_ERRS else set()
    manners = [_manners[eqn.primitive] for eqn in jaxpr.eqns]
    for manner, reader, place in _MERGED:
        if manner in manners and (made := _results(jaxpr, manners, manner)):
            found |= made & _read_by(jaxpr, manners, reader, place, whole)
    return found


def _results(jaxpr: Jaxpr, manners: Sequence[object], wanted: Algebra) -> set[int]:
    """``id(var)`` of the results of floats; but for quotients by a constant, or by fewer numbers that are repeated: these become products with
    reciprocals before."""
    repeated: set[int] = set()
    found = set()
    for eqn, manner in zip(jaxpr.eqns, manners):
        if manner is _REPEATS:
            if eqn.invars[0].aval.size < eqn.outvars[0].aval.size:
                repeated.add(id(eqn.outvars[0]))
        elif manner is wanted and dtypes.issubdtype(eqn.outvars[0].aval.dtype, np.inexact):
            last = eqn.invars[-1]
            if manner is not Algebra.QUOTIENT or type(last) is not Literal and id(last) not in repeated and last.aval.size == eqn.outvars[0].aval.size:
                found.add(id(eqn.outvars[0]))
    return found


def _read_by(jaxpr: Jaxpr, manners: Sequence[object], reader: Algebra, place: slice, whole: bool) -> set[int]:
    """``id(var)`` of what the ``reader`` may have as an operand in this ``place``, as far as the compiler is concerned."""
    read = set() if whole else {id(v) for v in jaxpr.outvars}
    for eqn, manner in zip(reversed(jaxpr.eqns), reversed(manners)):
        if manner is not _OTHER and (manner is reader or manner is _PROGRAM or eqn.outvars and id(eqn.outvars[0]) in read and _shows(eqn, manner)):
            read.update([id(v) for v in (eqn.invars[place] if manner is reader else eqn.invars)])
    return read


def _shows(eqn: JaxprEqn, manner: object) -> bool:
    """Whether the first result may be an operand as it is."""
    if manner is _ONE_TERM:
        return eqn.outvars[0].aval.size == eqn.invars[0].aval.size
    if manner in _WITH_CONSTANT:  # which may be 1, or 0
        return any([type(x) is Literal for x in eqn.invars])
    return manner is _SAME or manner is _REPEATS


def _products(jaxpr: Jaxpr) -> set[int]:
    """Products with a constant, or quotients by one, that are multiplied or divided by a second one, where what both make is out of range."""
    factors: dict = {}
    found = set()
    for eqn in jaxpr.eqns:
        algebra = eqn.primitive.traits.algebra
        if algebra not in (Algebra.PRODUCT, Algebra.QUOTIENT) or not dtypes.issubdtype(eqn.outvars[0].aval.dtype, np.floating):
            continue
        numbers = [x.val for x in eqn.invars if type(x) is Literal]
        others = [x for x in eqn.invars if type(x) is not Literal]
        if len(numbers) == 1 and np.size(numbers[0]) == 1 and (algebra is Algebra.PRODUCT or numbers[0] != 0 and type(eqn.invars[1]) is Literal):
            factor, info = abs(float(numbers[0])), dtypes.finfo(eqn.outvars[0].aval.dtype)
            if algebra is Algebra.QUOTIENT:
                factor = 1 / factor
            factors[eqn.outvars[0]] = factor
            before = factors.get(others[0])
            if before is not None and not float(info.smallest_normal) <= before * factor <= float(info.max):
                found.add(id(others[0]))
    return found


def keeping_apart(b: Builder, jaxpr: Jaxpr, env: dict, whole: bool) -> Callable[[Sequence[Any]], None] | None:
    """What gives values of ``jaxpr``, which are in ``env``, the form that they are to be read in; None where all stay as they are.

    Those that are merged otherwise are bits for a moment; those that are compared with one of their elements, and products that one of them is subtracted
    from, are written to memory, but for small ones in loops where that is dropped. Of such products NaN is chosen there, where they are NaN.
    """
    apart = merged(jaxpr, whole)
    once, less = computed_once(jaxpr, whole) if b.platform == "cpu" and not b.one_form else (set(), set())
    if not apart and not once and not less:
        return None

    def keep(variables: Sequence[Any]) -> None:
        for v in variables:
            if id(v) in apart:
                env[v] = str(kept_apart(b, b.atom(v, env)))
            product = id(v) in less and b.is_product(b.atom(v, env))
            if (product or id(v) in once) and (BARRIERS_LAST or not b.module.in_loop or v.aval.nbytes >= SMALL):
                env[v] = str(b.planned_barrier(b.atom(v, env), "its elements are compared with one of them"))
            elif product:
                env[v] = str(_where_numbers(b, b.atom(v, env)))
    keep(jaxpr.invars)
    return keep


def _where_numbers(b: Builder, x: Value) -> Value:
    """``x``, selected where it is a number."""
    is_number = b.emit(f"stablehlo.compare EQ, {x}, {x}, FLOAT", x, x, out=x.aval.update(dtype=np.dtype(bool), weak_type=False))
    nan = b.full(np.nan, x.aval)
    return b.emit(f"stablehlo.select {is_number}, {x}, {nan}", is_number, x, nan, out=x.aval)


def kept_apart(b: Builder, x: Value) -> Value:
    """``x``, its bits inverted twice, which LLVM drops. Complex numbers and parts of bytes are selected where they are numbers, which reads them three
    times."""
    if x.aval.dtype.kind == "c" or dtypes.itemsize_bits(x.aval.dtype) < 8:
        return _where_numbers(b, x)
    bits = x.aval.update(dtype=np.dtype(f"int{8 * x.aval.dtype.itemsize}"), weak_type=False)
    found, ones = b.emit(f"stablehlo.bitcast_convert {x}", x, out=bits), b.full(-1, bits)
    for _ in range(2):
        found = b.emit(f"stablehlo.xor {found}, {ones}", found, ones, out=bits)
    return b.emit(f"stablehlo.bitcast_convert {found}", found, out=x.aval)
