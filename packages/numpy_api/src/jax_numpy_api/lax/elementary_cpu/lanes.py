"""Formulas as Python expressions: a `Lane` is a value of the program being written, and its operators write operations.

A formula is written once for float32 and float64; numbers in it become constants of the lane's dtype. It has no branches, only
selections, so that LLVM makes vector code of it. Multiplications and additions may be contracted to fused ones or not, as the
machine has them, so a formula must be right both ways: products that must be exact have factors with few enough bits.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from jax_core.representation.aval import ShapedArray

from ..compare import emit_compare
from ..nary import SpelledOut

if TYPE_CHECKING:
    from jax_core.interfaces import Builder, Value
    from jax_core.representation.typing import DTypeLike

FLOAT32, FLOAT64, INT32, INT64 = (np.dtype(t) for t in (np.float32, np.float64, np.int32, np.int64))


SMALL = 1024
"""Elements up to which the time to compile counts more: a formula takes 5 to 15 ms, and saves 3 us a run on so many."""

FEW = 32
"""Elements up to which LLVM may be told not to optimise the code of a program (`small_programs.FEW_ELEMENTS` in the XLA backend)."""

SHORT = 16
"""Length of the last axis below which the compiler's loops have no vectors, once their bodies are long."""


BOX = 128
"""Elements of the last two axes up to which loops over three axes and more have no vectors, where the last one is short."""


def is_short(aval: ShapedArray) -> bool:
    return len(aval.shape) > 1 and aval.shape[-1] < SHORT


def is_box(aval: ShapedArray) -> bool:
    """Whether its elements lie in small boxes, as those of many matrices of 3 x 3."""
    return len(aval.shape) > 2 and aval.shape[-1] < SHORT and aval.shape[-1] * aval.shape[-2] <= BOX


def in_one_loop(b: Builder, out: ShapedArray, operands: Sequence[Value], compute: Callable[..., Value]) -> Value | None:
    """``compute(*operands)``, of their shape, in one loop over all elements, in memory: 10,000 sines of 3 x 3 take 0.16 ms so, and 0.73 in loops over
    short axes. None where that is not for the program to say."""
    line = ShapedArray((out.size,), out.dtype)
    if b.platform != "cpu" or b.devices > 1 or not b.keeps(line):
        return None
    found = b.in_memory(compute(*[b.reshape(x, line.shape) for x in operands]), "loops over short axes are slow")
    return b.reshape(found, out.shape)


class Format:
    """The bits of a float: the integer dtype of its width, width of the mantissa, bias of the exponent."""

    __slots__ = ("dtype", "integer", "mantissa", "bias")

    def __init__(self, dtype: Any, integer: Any, mantissa: int, bias: int):
        self.dtype, self.integer, self.mantissa, self.bias = dtype, integer, mantissa, bias

    def bits(self, number: float) -> int:
        """The integer with the bits of ``number``."""
        return int(np.array(number, self.dtype).view(self.integer))


_FORMATS = {FLOAT32: Format(FLOAT32, INT32, 23, 127), FLOAT64: Format(FLOAT64, INT64, 52, 1023)}


class Lane:
    """A value of the program that ``b`` writes, with operators."""

    __slots__ = ("b", "value")

    def __init__(self, b: Any, value: Any):
        self.b, self.value = b, value

    @property
    def dtype(self) -> np.dtype:
        return self.value.aval.dtype

    @property
    def format(self) -> Format:
        """Of a float."""
        return _FORMATS[self.dtype]

    @property
    def double(self) -> bool:
        """Whether it is float64."""
        return self.dtype == FLOAT64

    def full(self, number: object) -> Lane:
        """``number`` in its dtype, for every element."""
        return Lane(self.b, self.b.full(number, self.value.aval))

    def op(self, name: str, *others: Any) -> Lane:
        """The StableHLO operation ``name`` on it and ``others``: lanes of its type, or numbers."""
        values = [x.value if isinstance(x, Lane) else self.b.full(x, self.value.aval) for x in others]
        return Lane(self.b, self.b.elementwise(f"stablehlo.{name}", self.value, *values, out=self.value.aval))

    def __add__(self, other):
        return self.op("add", other)

    def __sub__(self, other):
        return self.op("subtract", other)

    def __rsub__(self, other):
        return self.full(other).op("subtract", self)

    def __mul__(self, other):
        return self.op("multiply", other)

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other):
        return self.op("divide", other)

    def __rtruediv__(self, other):
        return self.full(other).op("divide", self)

    def __and__(self, other):
        return self.op("and", other)

    def __or__(self, other):
        return self.op("or", other)

    def __xor__(self, other):
        return self.op("xor", other)

    def __lshift__(self, other):
        return self.op("shift_left", other)

    def __rshift__(self, other):
        return self.op("shift_right_arithmetic", other)

    def __neg__(self):
        return self.op("negate")

    def __abs__(self):
        return self.op("abs")

    def _compare(self, direction, other):
        other = other if isinstance(other, Lane) else self.full(other)
        return Lane(self.b, emit_compare(self.b, direction, self.value, other.value))

    def __lt__(self, other):
        return self._compare("LT", other)

    def __le__(self, other):
        return self._compare("LE", other)

    def __gt__(self, other):
        return self._compare("GT", other)

    def __ge__(self, other):
        return self._compare("GE", other)

    def equals(self, other: object) -> Lane:
        """Whether it is equal to ``other``."""
        return self._compare("EQ", other)

    def differs(self, other: object) -> Lane:
        """Whether it is not; true of NaN."""
        return self._compare("NE", other)

    def where(self, yes: Any, no: Any) -> Lane:
        """Of a condition: ``yes`` where it holds, ``no`` elsewhere; one of them may be a number."""
        like = yes if isinstance(yes, Lane) else no
        yes, no = (x if isinstance(x, Lane) else like.full(x) for x in (yes, no))
        text = f"stablehlo.select {self.value}, {yes.value}, {no.value}"
        return Lane(self.b, self.b.emit(text, self.value, yes.value, no.value, out=yes.value.aval))

    def to(self, dtype: DTypeLike) -> Lane:
        """Converted to another dtype."""
        return Lane(self.b, self.b.convert(self.value, dtype))

    def bits(self) -> Lane:
        """The bits of a float as an integer."""
        return self._cast(self.format.integer)

    def as_float(self, dtype: DTypeLike) -> Lane:
        """The float that has the bits of an integer."""
        return self._cast(dtype)

    def _cast(self, dtype):
        out = self.value.aval.update(dtype=dtype)
        return Lane(self.b, self.b.emit(f"stablehlo.bitcast_convert {self.value}", self.value, out=out))

    def round(self) -> Lane:
        """The nearest integer, as a float."""
        return self.op("round_nearest_even")

    def with_sign_of(self, other: Lane) -> Lane:
        """It, which is not negative, with the sign of ``other``."""
        return (self.bits() | other.sign_bit()).as_float(self.dtype)

    def sign_bit(self) -> Lane:
        """The sign of a float, alone, as an integer."""
        return self.bits() & _lowest(self.format.integer)

    def clamp(self, low: float, high: float) -> Lane:
        """The nearest number within these bounds; NaN stays."""
        return self.full(low).op("clamp", self, self.full(high))


def _lowest(integer):
    return int(np.iinfo(integer).min)


def polynomial(x: Lane, coefficients: Sequence[float]) -> Any:
    """The polynomial with these coefficients, the constant one first, by Horner's rule."""
    out: Any = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        out = out * x + c
    return out


def itself_where_subnormal(x: Lane, out: Lane) -> Lane:
    """``out``, the value at ``x`` of a function that is ``x`` near 0; of subnormal numbers, which arithmetic takes for 0, ``x``."""
    return (abs(x) < float(np.finfo(x.dtype).tiny)).where(x, out)


def two_to(n: Lane) -> Lane:
    """``2 ** n`` for integers ``n``, as floats, in the range of the exponent: their last bits, shifted to where it stands."""
    fmt = n.format
    return (((n + magic(fmt)).bits() << fmt.mantissa) + fmt.bits(1.0)).as_float(fmt.dtype)


def magic(fmt: Format) -> float:
    """A number whose last bits are a small integer, when that is added to it."""
    return 1.5 * 2.0 ** fmt.mantissa


class Formulation(SpelledOut):
    """A lowering rule: a formula of lanes for real numbers on the CPU, in arrays of more than ``small`` elements, else ``otherwise``.

    A caller who says how accurate the result must be gets ``otherwise``, and so do programs that are for elsewhere (`Builder.portable`).

    Args:
      narrow: the formula for float32, in which the halves of a float are computed too; None where there is none.
      wide: the same for float64.
      unless: name of an attribute of builders that says that ``otherwise`` is better.
      short: whether it is better also where the last axis is shorter than `SHORT`.
      brief: dtypes whose formula is no longer than ``otherwise``, and so is better in small arrays, too.
      small: up to so many elements ``otherwise`` is better.
    """

    __slots__ = ("otherwise", "narrow", "wide", "unless", "short", "brief", "small")

    def __init__(self, otherwise: Callable, *, narrow: Callable[..., Lane] | None = None,
                 wide: Callable[..., Lane] | None = None, unless: str = "", short: bool = True, brief: tuple[np.dtype, ...] = (), small: int = SMALL):
        self.otherwise, self.narrow, self.wide, self.unless, self.short, self.brief, self.small = otherwise, narrow, wide, unless, short, brief, small
        self.in_float32 = narrow is not None

    def applies(self, b) -> bool:
        """Whether there is a formula for the result that is being lowered, and it pays."""
        out = b.out_avals[0]
        double = out.dtype == FLOAT64
        small = out.size <= self.small and (FLOAT64 if double else FLOAT32) not in self.brief
        return not ((self.wide if double else self.narrow) is None or small or b.platform != "cpu" or b.portable or out.dtype.kind == "c"
                    or self.unless and getattr(b, self.unless) or not self.short and is_short(out) and not is_box(out))

    def __call__(self, b, *operands, **params):
        out = b.out_avals[0]
        double = out.dtype == FLOAT64
        formula = self.wide if double else self.narrow
        if formula is None or params or not self.applies(b):
            return self.otherwise(b, *operands, **params)

        def compute(*xs: Value) -> Value:
            return b.convert(formula(*(Lane(b, b.convert(x, FLOAT64 if double else FLOAT32)) for x in xs)).value, out.dtype)
        operands = [x if x.aval.shape == out.shape else b.broadcast(x, out.shape) for x in operands]
        found = in_one_loop(b, out, operands, compute) if is_box(out) else None
        return compute(*operands) if found is None else found
