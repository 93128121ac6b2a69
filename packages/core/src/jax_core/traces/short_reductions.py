"""Reductions along few elements, in a form that XLA's CPU compiler makes a loop of its own for.

It hands sums, maxima and minima of arrays of 4096 elements and more to a library, which is slow along few of them (100,000
elements in rows of 4, on one core: a sum in 0.25 ms, a maximum that keeps NaN, which takes two, in 0.40; in rows of 8: 0.15 and 0.22).
A reducer of more operations than one is not handed over. Its loop takes 0.07 to 0.09 ms, if it is unrolled
(`jax_xla_backend.planning.unrolling` says when): then what is reduced stands in registers, side by side for neighbouring results.
Also the elementwise operations before it and after it are of the same kernel.
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Callable, Sequence

from ..representation.aval import ShapedArray

if TYPE_CHECKING:
    from ..interfaces import Builder, Value
    from ..representation.aval import AbstractValue

_LARGE = 1 << 11
"""Elements of the operand, from here on; the library's limit is 4096, here with a margin for what is fused."""
ROW = 8
"""Elements of a last axis along which the loop of a sum is faster, at most; programs with such rows are always unrolled. (Rows of 10 alone
are summed in 0.6 of the time, too, but exponentials less a maximum, as in softmax, are faster in the library, which knows ends of rows.)"""
COMPARED = 32
"""Elements along which an extremum that keeps NaN is worth unrolling, at most: LLVM unrolls no longer ones."""
_MANY = 1 << 16
"""Elements of the operand of an extremum, from which on that is so along more than `ROW`: the loop is code to compile where reductions by the
library are none, and saves little for each element (`benchmarks/programs/short_axes.py`)."""
_READ = 16
"""Elements of a last axis, from which on the library takes extrema of what is in memory no slower."""


def compared(aval: AbstractValue) -> int:
    """Elements along which an extremum of an array of this type is worth a loop of its own, at most."""
    return COMPARED if aval.size >= _MANY else ROW


def suits(b: Builder, x: Value, axes: Sequence[int], rows: bool) -> bool:
    """Whether `emit` is the faster way to reduce ``x`` over ``axes``; ``rows``: only along a short last axis (`ROW`)."""
    aval = x.aval
    if b.platform != "cpu" or b.portable or b.one_form or b.devices != 1 or aval.size < _LARGE or aval.dtype.name not in ("float32", "float64"):
        return False
    count = math.prod([aval.shape[axis] for axis in axes])
    if rows:
        return 1 < count <= ROW and aval.ndim - 1 in axes
    if not 1 < count <= compared(aval):
        return False
    return count < _READ or aval.ndim - 1 not in axes or not (b.given(x) or b.stored(x))


def emit(b: Builder, x: Value, start: Value, axes: Sequence[int], join: Callable[[Builder, Value, Value], Value],
         out: AbstractValue | None = None) -> Any:
    """``x`` reduced over ``axes`` from ``start`` by ``join``, which emits two operations or more.

    ``out``: type of the result, by default that of the equation's.
    """
    scalar = ShapedArray((), x.aval.dtype)
    region = b.region([scalar, scalar], lambda b, first, second: [join(b, first, second)])
    return b.emit(f'"stablehlo.reduce"({x}, {start}) ({region})', x, start, out=out or b.out_avals[0],
                  attrs=f"{{dimensions = array<i64: {', '.join(map(str, axes))}>}}")


def add(b: Builder, first: Value, second: Value) -> Value:
    """The sum, as the difference from the negative: equal in all bits."""
    negative = b.emit(f"stablehlo.negate {second}", second, out=second.aval)
    return b.emit(f"stablehlo.subtract {first}, {negative}", first, negative, out=first.aval)
