"""Positions along axes: int32, and int64 along an axis with more elements than that counts, also where x64 is off."""
from __future__ import annotations

import contextlib
from typing import Any, ContextManager

import numpy as np

from jax_core.configuration import flags

LAST = 2**31 - 1
_AS_IT_IS = contextlib.nullcontext()


def position_dtype(n: int) -> np.dtype:
    """The dtype of positions along an axis of length ``n``."""
    return np.dtype(np.int32 if n <= LAST else np.int64)


def reaches_far(x: Any) -> bool:
    """Whether positions along an axis of ``x`` take 64 bits while x64 is off; what computes with them turns it on for that long."""
    for n in getattr(x, "shape", ()):
        if n > LAST:
            return not flags.enable_x64.value
    return False


def wide_positions(x: Any) -> ContextManager:
    """A context with x64 on where `reaches_far`, else one that changes nothing."""
    return flags.enable_x64(True) if reaches_far(x) else _AS_IT_IS
