"""Extrema along many elements, which start with the elementwise extremum of some pieces of the operand.

It keeps NaN and shortens what is left to reduce. Each piece is code of its own for what is computed in the same kernel,
so the fusion planner has long or costly values written to memory before (`jax_xla_backend.planning.planner`).
"""
from __future__ import annotations

from typing import Sequence

from ..representation.aval import AbstractValue

GIVEN = 16
"""Pieces of a value in memory."""
_LARGE = 1 << 17
"""Elements of the operand, at least."""
_LONG = 32
"""Elements along an axis, at least."""


def computed(aval: AbstractValue) -> int:
    """Pieces of a value that is computed where it is read. On up to 2**19 elements 8 run 5 % faster than 4, for twice the code
    (docs/internals/compile-time.md)."""
    return 8 if aval.size > 1 << 19 else 4


def suits(aval: AbstractValue, axes: Sequence[int], pieces: int) -> bool:
    """Whether the operand is large, and long along one of ``axes``."""
    return aval.size >= _LARGE and max([aval.shape[axis] for axis in axes], default=0) >= max(_LONG, 4 * pieces)
