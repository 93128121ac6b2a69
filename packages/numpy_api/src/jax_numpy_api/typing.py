"""jax.typing: what may be passed where an array or a dtype is wanted."""
from __future__ import annotations

from typing import Any, Protocol, Union

import numpy as np

from jax_core.representation.array import Array


class SupportsDType(Protocol):
    """An object with a ``dtype``."""

    @property
    def dtype(self) -> np.dtype: ...


ArrayLike = Union[Array, np.ndarray, np.bool_, np.number, bool, int, float, complex]
DTypeLike = Union[str, type[Any], np.dtype, SupportsDType]
