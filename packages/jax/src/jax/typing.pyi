"""Types of `jax.typing`. Written by packages/jax/tools/make_stubs.py."""
import numpy as np
from jax import Array
from typing import Any, Protocol, TypeAlias

class SupportsDType(Protocol):
    @property
    def dtype(self) -> np.dtype[Any]: ...
ArrayLike: TypeAlias = Array | np.ndarray[Any, Any] | np.bool_ | np.number[Any] | bool | int | float | complex
DTypeLike: TypeAlias = str | type[Any] | np.dtype[Any] | SupportsDType
