"""Types of `jax.numpy.fft`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array, Device
from jax.sharding import PartitionSpec, Sharding
from jax.typing import ArrayLike, DTypeLike
from typing import Any, Sequence

def fft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """Discrete Fourier transform along an axis."""
def fft2(a: ArrayLike, s: Sequence[int] | None = None, axes: Sequence[int] = ..., norm: str | None = None) -> Array:
    """`fftn` over two axes."""
def fftfreq(n: int, d: ArrayLike = 1.0, *, dtype: DTypeLike | None = None, device: Sharding | PartitionSpec | Device | None = None) -> Array:
    """The frequencies of `fft` of ``n`` samples at distance ``d``."""
def fftn(a: ArrayLike, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str | None = None) -> Array:
    """`fft` over several axes (all by default), of lengths ``s``."""
def fftshift(x: ArrayLike, axes: int | Sequence[int] | None = None) -> Array:
    """``x`` with the zero frequency moved to the middle."""
def hfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """`fft` of a hermitian vector, given its first half: a real array of length ``n``."""
def ifft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """Inverse of `fft`."""
def ifft2(a: ArrayLike, s: Sequence[int] | None = None, axes: Sequence[int] = ..., norm: str | None = None) -> Array:
    """Inverse of `fft2`."""
def ifftn(a: ArrayLike, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str | None = None) -> Array:
    """Inverse of `fftn`."""
def ifftshift(x: ArrayLike, axes: int | Sequence[int] | None = None) -> Array:
    """Inverse of `fftshift`."""
def ihfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """Inverse of `hfft`."""
def irfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """Inverse of `rfft`; ``n`` is the length of the real result."""
def irfft2(a: ArrayLike, s: Sequence[int] | None = None, axes: Sequence[int] = ..., norm: str | None = None) -> Array:
    """Inverse of `rfft2`."""
def irfftn(a: ArrayLike, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str | None = None) -> Array:
    """Inverse of `rfftn`."""
def rfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """`fft` of real numbers: its first half, of length ``n // 2 + 1``."""
def rfft2(a: ArrayLike, s: Sequence[int] | None = None, axes: Sequence[int] = ..., norm: str | None = None) -> Array:
    """`rfftn` over two axes."""
def rfftfreq(n: int, d: ArrayLike = 1.0, *, dtype: DTypeLike | None = None, device: Sharding | PartitionSpec | Device | None = None) -> Array:
    """The frequencies of `rfft` of ``n`` samples at distance ``d``."""
def rfftn(a: ArrayLike, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str | None = None) -> Array:
    """`fftn` of real numbers: half of the last axis."""
