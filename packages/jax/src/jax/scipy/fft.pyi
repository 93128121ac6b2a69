"""Types of `jax.scipy.fft`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array
from jax.typing import ArrayLike
from typing import Any, Sequence

def dct(x: ArrayLike, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """Discrete cosine transform along one axis."""
def dctn(x: ArrayLike, type: int = 2, s: int | Sequence[int] | None = None, axes: int | Sequence[int] | None = None, norm: str | None = None) -> Array:
    """`dct` along several axes (all by default), with lengths ``s``."""
def idct(x: ArrayLike, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """Inverse of `dct` with the same arguments. Source: `scipy.fft.idct`."""
def idctn(x: ArrayLike, type: int = 2, s: int | Sequence[int] | None = None, axes: int | Sequence[int] | None = None, norm: str | None = None) -> Array:
    """Inverse of `dctn` with the same arguments. Source: `scipy.fft.idctn`."""
