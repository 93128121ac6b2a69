"""Arithmetic of integers of one byte, in a form that XLA's library for the CPU does not take.

The library computes what sums, extrema and products of 4096 elements and more are made of, and has the nearest byte for results that are
none, where they are to wrap (YNNPACK in jaxlib 0.10.2 to 0.12).
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

if TYPE_CHECKING:
    from jax_core.representation.aval import AbstractValue

    from .builder import Builder
    from .values import Value

WRONG_OF_BYTES = {f"stablehlo.{op}" for op in ("add", "subtract", "multiply", "divide", "negate", "abs")}
WORDS = {np.dtype(np.int8): np.dtype(np.int16), np.dtype(np.uint8): np.dtype(np.uint16)}
"""For integers of one byte words that hold their products."""
_OTHER_SIGN = {np.dtype(np.int16): np.dtype(np.uint16), np.dtype(np.uint16): np.dtype(np.int16)}


def on_words(b: Builder, op: str, operands: Sequence[Value], out: AbstractValue) -> Any:
    """An operation of `WRONG_OF_BYTES` on words. Kernels compute it of bytes again.

    Words of the other sign have the same sums and products, and non-negative ones the same quotients; XLA would make bytes of words again, but
    does not look through casts of bits. (It leaves absolute values and signed quotients as they are.)
    """
    word = kept = WORDS[out.dtype]
    if op != "stablehlo.abs" and (op != "stablehlo.divide" or out.dtype.kind == "u"):
        word = _OTHER_SIGN[kept]
    values = [b.convert(x, kept) for x in operands]
    if word != kept:
        values = [b.emit(f"stablehlo.bitcast_convert {x}", x, out=x.aval.update(dtype=word)) for x in values]
    result = b.elementwise(op, *values, out=out.update(dtype=word))
    return b.emit(f"stablehlo.convert {result}", result, out=out)
