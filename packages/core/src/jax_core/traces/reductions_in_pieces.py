"""Extrema along many elements, which start with the elementwise extremum of some pieces of the operand.

It keeps NaN and shortens what is left to reduce. Each piece is code of its own for what is computed in the same kernel,
so the fusion planner has long or costly values written to memory before (`jax_xla_backend.planning.planner`).
"""
from __future__ import annotations

import math
from typing import Sequence

from ..representation.aval import AbstractValue

_LARGE = 1 << 17
"""Elements of the operand, at least."""
_STORED = (1 << 19) + 1
"""The same of floats that are in memory anyway: fewer are read twice about as quickly, with less code to compile."""
_CACHED = 1 << 22
"""Bytes of floats that are arguments of the program, up to which these are read twice: a million in 0.04 ms more, with half the code or none."""
_MANY = 1 << 12
"""Results from which on XLA's library reads rows in memory once for two reductions, with no code to compile, ..."""
_ROW = 1 << 10
"""... if a row has so many bytes at most: 16384 x 200 in 0.29 ms, in pieces in 0.49."""
_LONG = 32
"""Elements along an axis, at least."""


def pieces(aval: AbstractValue, axes: Sequence[int], *, given: bool = False, stored: bool = False) -> int:
    """How many pieces an operand of this type is taken in, 0 where that does not pay. More run faster, and are more code
    (docs/internals/compile-time.md).

    Args:
      given: whether it is an argument of the program, ...
      stored: ... or in memory anyway, and not computed where it is read.
    """
    if aval.dtype.kind == "f" and (given or stored) and _is_left_whole(aval, axes, given):
        return 0
    size, least = aval.size, _CACHED // aval.dtype.itemsize + 1 if given else _STORED if stored else _LARGE
    if size < (least if aval.dtype.kind == "f" else _LARGE):
        return 0
    if given:
        number = 16 if size > 1 << 20 else 8
    else:
        number = 8 if size > 1 << 19 else 4
    return number if max([aval.shape[axis] for axis in axes], default=0) >= max(_LONG, 4 * number) else 0


def _is_left_whole(aval: AbstractValue, axes: Sequence[int], given: bool) -> bool:
    """Whether two reductions of floats in memory pay whatever their size, as their code costs nothing: along short rows, and to a number of what was
    computed for it."""
    rows, first = math.prod([aval.shape[axis] for axis in axes]), aval.ndim - len(axes)
    if first == 0:
        return not given
    return sorted(axes) == [*range(first, aval.ndim)] and aval.size >= rows * _MANY and rows * aval.dtype.itemsize <= _ROW
