"""Quotients that several operations read, for XLA's CPU compiler.

It makes a kernel of its own of a division whose result several operations read, with all that is before it, even where these are in one
kernel. A special function with masks so becomes 5 to 50 kernels, and each takes 10 to 20 ms to compile. Behind an operation of one
operand, which it would compute again for each reader, the division stays in their kernel, and is computed once.

`benchmarks/programs/special_compile.py` compiles such functions.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

from jax_core.representation import dtypes

from .arithmetic import div
from .reduce import reduce_precision

if TYPE_CHECKING:
    from jax_core.representation.array import Array


def shared_quotient(x: Array, y: Array) -> Array:
    """``x / y`` of real floats, for several readers."""
    return _rounded(div(x, y), 1)


def kept(x: Array) -> Array:
    """A real float that XLA rewrites neither into its readers nor into a kernel of its own; on a GPU a kernel ends with it."""
    return _rounded(x, 0)


def _rounded(x, more):
    """``x``, rounded to as many digits as it has, and to ``more`` bits of exponent. That changes nothing, and the CPU compiler keeps it. Those for
    GPUs drop it; rounding to just the dtype's own precision is a barrier for them (`reduce_precision`)."""
    info = dtypes.finfo(x.dtype)
    return reduce_precision(x, info.nexp + more, info.nmant)
