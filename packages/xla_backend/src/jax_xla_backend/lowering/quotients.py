"""Quotients by fewer numbers than there are elements: of arrays by a number, by one for each row, and the like.

XLA makes products with the reciprocals of the few out of them. On the CPU that of a number near the end of the range is subnormal, hence 0, and so is
every quotient by it. There what is divided and such a number are made smaller first, but where no number can be that large.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from jax_core.representation import dtypes
from jax_core.representation.jaxpr import Jaxpr, JaxprEqn, Literal, makers
from jax_core.representation.traits import Kind, Reach
from jax_core.traces.structural import broadcast_in_dim_p

from .kept_apart import kept_apart

if TYPE_CHECKING:
    from .builder import Builder
    from .values import Value

DIVIDE = "stablehlo.divide"
_SMALLER = 0.25
"""Times the largest number of any type it is one whose reciprocal is normal."""
_DOUBLINGS = 6
"""By which numbers up to the square root of the largest, of any type, do not become that large."""
_PASSED_ON = (Kind.IDENTITY, Kind.VIEW)


class Quotients:
    """Those of one program, a part of another or not.

    Args:
      b: what they are written with.
      write: writes an equation as it stands, and enters the names of its results.
    """

    __slots__ = ("b", "jaxpr", "write", "_known")

    def __init__(self, b: Builder, jaxpr: Jaxpr, write: Callable[[JaxprEqn, dict], None]):
        self.b, self.jaxpr, self.write = b, jaxpr, write
        self._known: dict[Any, JaxprEqn] | None = None

    def put(self, eqn: JaxprEqn, env: dict) -> None:
        """Write the quotient ``eqn``; ``env`` has the names of all values so far.

        What repeats few numbers is written again for it alone: XLA takes reciprocals of them only where nothing else reads them repeated.
        """
        divisor, out = eqn.invars[1], eqn.outvars[0].aval
        made = None if type(divisor) is Literal else self._made(divisor)
        spread = made if made is not None and made.primitive is broadcast_in_dim_p else None
        few = divisor if spread is None else spread.invars[0]
        before = [(v, env[v]) for v in {divisor, few} if v in env]
        if few.aval.shape != out.shape and self._may_be_large(few, out):
            env[eqn.outvars[0]] = str(self._in_range(eqn, spread, few, env))
        else:
            if spread is not None:
                self.write(spread, env)
            self.write(eqn, env)
        env.update(before)

    def _made(self, x: Any) -> JaxprEqn | None:
        if self._known is None:
            self._known = makers(self.jaxpr)
        return self._known.get(x)

    def _may_be_large(self, few: Any, out: Any) -> bool:
        """Whether reciprocals of the ``few`` may be subnormal, and are then 0."""
        dtype = out.dtype
        if self.b.platform != "cpu" or self.b.module.kernel or not dtypes.issubdtype(dtype, np.floating) or dtype.itemsize == 1 or 0 in out.shape:
            return False
        return not self._is_moderate(few, _limit(dtype) / 2 ** _DOUBLINGS, 0)

    def _is_moderate(self, x: Any, limit: float, doublings: int) -> bool:
        if type(x) is Literal:
            return not abs(float(x.val)) > limit  # NaN is not large
        if x.aval.dtype.kind in "biu":
            return 2.0 ** (8 * x.aval.dtype.itemsize) <= limit
        eqn = self._made(x)
        if eqn is None:
            return False
        traits, operands = eqn.primitive.traits, eqn.invars
        if traits.reach is Reach.MODERATE:
            return True
        if traits.reach is Reach.AS_OPERANDS and doublings < _DOUBLINGS:
            return all([self._is_moderate(v, limit, doublings + 1) for v in operands[traits.chooses:]])
        return (traits.kind in _PASSED_ON or eqn.primitive is broadcast_in_dim_p) and self._is_moderate(operands[0], limit, doublings)

    def _in_range(self, eqn: JaxprEqn, spread: JaxprEqn | None, few: Any, env: dict) -> Value:
        """The quotient, of numbers that are smaller where one of the ``few`` is large."""
        b, out = self.b, eqn.outvars[0].aval
        y = b.atom(few, env)
        limit, less, one = (b.full(number, y.aval) for number in (_limit(out.dtype), _SMALLER, 1))
        size = b.emit(f"stablehlo.abs {y}", y, out=y.aval)
        large = b.emit(f"stablehlo.compare GT, {size}, {limit}, FLOAT", size, limit, out=y.aval.update(dtype=np.dtype(bool), weak_type=False))
        factor = b.emit(f"stablehlo.select {large}, {less}, {one}", large, less, one, out=y.aval)
        smaller = b.elementwise("stablehlo.multiply", y, factor, out=y.aval)

        def repeated(value: Value) -> Value:
            if spread is None:
                return value
            env[few] = str(value)
            self.write(spread, env)
            return b.atom(spread.outvars[0], env)
        x = b.elementwise("stablehlo.multiply", b.atom(eqn.invars[0], env), repeated(factor), out=out)
        if type(few) is Literal:  # which are merged with other constants
            x = kept_apart(b, x)
        return b.elementwise(DIVIDE, x, repeated(smaller), out=out)


def _limit(dtype: np.dtype) -> float:
    """What numbers with a normal reciprocal are not above."""
    return 1 / float(dtypes.finfo(dtype).smallest_normal)
