"""What memory holds that nobody has written to; a program must not depend on it.

NaN and False; of integers the lowest, where a kernel is interpreted as on a TPU the largest; or zeros, where `InterpretParams` asks for them.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from jax_core.representation import dtypes
from jax_core.traces.structural import broadcast_in_dim

from .mode import interpretation
from .specs import InterpretParams

if TYPE_CHECKING:
    from jax_core.representation.typing import DTypeLike


def kind_of(interpret: bool | InterpretParams) -> str:
    """How memory is at first under this way to interpret kernels: "lowest", "largest" or "zero"."""
    if not isinstance(interpret, InterpretParams):
        return "lowest"
    return "zero" if interpret.uninitialized_memory == "zero" else "largest"


def first_kind() -> str:
    """As what memory is at first in the kernel that is being traced or interpreted."""
    return kind_of(interpretation.value)


def uninitialized_value(dtype: DTypeLike | None, kind: str | None = None) -> Any:
    """The element of such memory, a NumPy scalar; ``kind`` is by default that of the kernel that is being traced."""
    dtype, kind = np.dtype(dtype), kind or first_kind()
    if kind == "zero" or dtype == np.bool_:
        return np.zeros((), dtype)[()]
    if dtypes.issubdtype(dtype, np.integer):
        info = dtypes.iinfo(dtype)
        return np.asarray(info.max if kind == "largest" else info.min, dtype)[()]
    return np.asarray(np.nan).astype(dtype)[()]


def uninitialized(shape: Sequence[int], dtype: DTypeLike, kind: str | None = None) -> Any:
    """Such memory of a shape."""
    return broadcast_in_dim(uninitialized_value(dtype, kind), tuple(shape), ())
