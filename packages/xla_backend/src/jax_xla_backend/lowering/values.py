"""SSA values."""
from __future__ import annotations

from jax_core.representation.aval import AbstractValue, ShapedArray
from jax_core.representation.dtypes import isdtype, itemsize_bits
from jax_core.representation.jaxpr import JaxprEqn, Literal

from ..jaxlib_compat import CONSTANTS_BY_ZERO_TRAP
from .types import type_text

WRONG_OF_SIGNED = {"stablehlo.multiply", "stablehlo.abs", "stablehlo.count_leading_zeros"}
"""Operations on signed integers that compilers may take for not negative, or compute wrongly themselves (`COMPILER_ERRS`)."""
DIVISIONS = frozenset(("stablehlo.divide", "stablehlo.remainder"))


class Value(str):
    """An SSA value. The string is its name, so that it goes into text as it is.

    Attributes:
      aval: its type (logical: a key array has an extended dtype).
      type: the type's text.
    """

    __slots__ = ("aval", "type")
    aval: AbstractValue
    type: str

    shape = property(lambda self: self.aval.shape)
    dtype = property(lambda self: self.aval.dtype)
    ndim = property(lambda self: len(self.aval.shape))


def new_value(name: str, aval: AbstractValue) -> Value:
    """The value ``name`` of type ``aval``."""
    value = Value(name)
    value.aval, value.type = aval, type_text(aval)
    return value


def hides_divisor(op: str, out: AbstractValue, kernel: bool) -> bool:
    """Whether ``op``, whose result is of type ``out``, divides integers, so that a scalar divisor is kept from the compiler's first stage.

    It looks at each element of a constant divisor that is spread over an array, to see that none is 0: 0.3 s for 2^24. (Where
    `CONSTANTS_BY_ZERO_TRAP` the divisor is a choice, which it does not see through.) How many elements there are must not
    decide: programs with symbolic shapes are of one form for all lengths. A ``kernel`` has other compilers.
    """
    return (op in DIVISIONS and out.shape != () and not CONSTANTS_BY_ZERO_TRAP and not kernel
            and isdtype(out.dtype, "integral") and itemsize_bits(out.dtype) >= 8)


def spreads_literals(eqn: JaxprEqn, kernel: bool) -> bool:
    """Whether literals of ``eqn`` are written as constants of the result's shape, which is shorter than to broadcast them."""
    op = eqn.primitive.lower
    return type(op) is str and not hides_divisor(op, eqn.outvars[0].aval, kernel)


def operand_types(eqn: JaxprEqn, kernel: bool) -> list[AbstractValue]:
    """The types that the operands of ``eqn`` are written in: literals of elementwise operations in the result's shape."""
    if not spreads_literals(eqn, kernel):
        return [x.aval for x in eqn.invars]
    shape = eqn.outvars[0].aval.shape
    return [ShapedArray(shape, x.aval.dtype) if type(x) is Literal else x.aval for x in eqn.invars]
