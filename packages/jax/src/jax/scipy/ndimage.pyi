"""Types of `jax.scipy.ndimage`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array
from jax.typing import ArrayLike
from typing import Any, Sequence

def map_coordinates(input: ArrayLike, coordinates: Sequence[ArrayLike], order: int, mode: str = 'constant', cval: ArrayLike = 0.0) -> Array:
    """The array at coordinates between its elements."""
