"""Functions of complex numbers beside their branch cuts, where the sign of a zero says on which side of the cut a number lies.

The square root and the inverse functions that are made of it take conjugates to conjugates (`asinh`: mirror images in the imaginary axis), so
one part of the result has the sign of that part of the operand, or the other one (`acos`). The code that XLA has for them compares with zero,
where -0 is 0, and gives the upper side for both; so the sign is written over.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Callable

import numpy as np

from jax_core.representation import dtypes

from .nary import emit, op

if TYPE_CHECKING:
    from jax_core.interfaces import Builder, Value

    from .accuracy import Accuracy


def beside_cut(name: str, part: str = "imag", flipped: bool = False) -> Callable:
    """The lowering rule "the op ``name``", whose ``part`` has the sign of that part of the operand, or the opposite one if ``flipped``."""
    plain = op(name)

    def lower(b: Builder, x: Value, accuracy: Accuracy | None = None):
        out = plain(b, x, accuracy)
        if x.aval.dtype.kind != "c":
            return out
        float_dtype = dtypes.finfo(x.aval.dtype).dtype
        width = 8 * np.dtype(float_dtype).itemsize
        number = x.aval.update(dtype=float_dtype)
        word = x.aval.update(dtype=np.dtype(f"uint{width}"))

        def bits(z):
            return emit(b, "stablehlo.bitcast_convert", emit(b, f"stablehlo.{part}", z, out=number), out=word)
        sign, size = b.full(1 << width - 1, word), b.full((1 << width - 1) - 1, word)
        side = emit(b, "stablehlo.and", bits(x), sign)
        if flipped:
            side = emit(b, "stablehlo.xor", side, sign)
        signed = emit(b, "stablehlo.bitcast_convert", emit(b, "stablehlo.or", side, emit(b, "stablehlo.and", bits(out), size)), out=number)
        parts = {key: emit(b, f"stablehlo.{key}", out, out=number) for key in ("real", "imag") if key != part} | {part: signed}
        return emit(b, "stablehlo.complex", parts["real"], parts["imag"], out=b.out_avals[0])
    return lower
