"""SSA values."""
from __future__ import annotations

from jax_core.representation.aval import AbstractValue, ShapedArray
from jax_core.representation.jaxpr import JaxprEqn, Literal

from .types import type_text


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


def operand_types(eqn: JaxprEqn) -> list[AbstractValue]:
    """The types that the operands of ``eqn`` are written in: literals of elementwise operations in the result's shape."""
    if type(eqn.primitive.lower) is not str:
        return [x.aval for x in eqn.invars]
    shape = eqn.outvars[0].aval.shape
    return [ShapedArray(shape, x.aval.dtype) if type(x) is Literal else x.aval for x in eqn.invars]
