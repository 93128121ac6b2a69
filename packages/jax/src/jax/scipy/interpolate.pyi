"""Types of `jax.scipy.interpolate`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array
from jax.typing import ArrayLike
from typing import Any, Sequence

class RegularGridInterpolator:
    """Interpolation of values on a rectangular, not necessarily even, grid."""
    def __call__(self, xi: ArrayLike, method: str | None = None) -> Array: ...
    def __init__(self, points: Sequence[ArrayLike], values: ArrayLike, method: str = 'linear', bounds_error: bool = False, fill_value: ArrayLike = ...) -> None: ...
    fill_value: Any
