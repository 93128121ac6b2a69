"""Types of `jax.numpy.fft`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array, Device
from jax.sharding import PartitionSpec, Sharding
from jax.typing import ArrayLike, DTypeLike
from typing import Any, Sequence

def fft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """Discrete Fourier transform along an axis."""
def fft2(a: ArrayLike, s: Sequence[int] | None = None, axes: Sequence[int] = ..., norm: str | None = None) -> Array:
    """`fftn` over two axes. Source: `numpy.fft.fft2`."""
def fftfreq(n: int, d: ArrayLike = 1.0, *, dtype: DTypeLike | None = None, device: Sharding | PartitionSpec | Device | None = None) -> Array:
    """The frequencies of `fft` of ``n`` samples at distance ``d``. Source: `numpy.fft.fftfreq`."""
def fftn(a: ArrayLike, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str | None = None) -> Array:
    """`fft` over several axes (all by default), of lengths ``s``. Source: `numpy.fft.fftn`."""
def fftshift(x: ArrayLike, axes: int | Sequence[int] | None = None) -> Array:
    """``x`` with the zero frequency moved to the middle. Source: `numpy.fft.fftshift`."""
def hfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """`fft` of a hermitian vector, given its first half: a real array of length ``n``. Source: `numpy.fft.hfft`."""
def ifft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """Inverse of `fft`. Source: `numpy.fft.ifft`."""
def ifft2(a: ArrayLike, s: Sequence[int] | None = None, axes: Sequence[int] = ..., norm: str | None = None) -> Array:
    """Inverse of `fft2`. Source: `numpy.fft.ifft2`."""
def ifftn(a: ArrayLike, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str | None = None) -> Array:
    """Inverse of `fftn`. Source: `numpy.fft.ifftn`."""
def ifftshift(x: ArrayLike, axes: int | Sequence[int] | None = None) -> Array:
    """Inverse of `fftshift`. Source: `numpy.fft.ifftshift`."""
def ihfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """Inverse of `hfft`. Source: `numpy.fft.ihfft`."""
def irfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """Inverse of `rfft`; ``n`` is the length of the real result. Source: `numpy.fft.irfft`."""
def irfft2(a: ArrayLike, s: Sequence[int] | None = None, axes: Sequence[int] = ..., norm: str | None = None) -> Array:
    """Inverse of `rfft2`. Source: `numpy.fft.irfft2`."""
def irfftn(a: ArrayLike, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str | None = None) -> Array:
    """Inverse of `rfftn`. Source: `numpy.fft.irfftn`."""
def rfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """`fft` of real numbers: its first half, of length ``n // 2 + 1``. Source: `numpy.fft.rfft`."""
def rfft2(a: ArrayLike, s: Sequence[int] | None = None, axes: Sequence[int] = ..., norm: str | None = None) -> Array:
    """`rfftn` over two axes. Source: `numpy.fft.rfft2`."""
def rfftfreq(n: int, d: ArrayLike = 1.0, *, dtype: DTypeLike | None = None, device: Sharding | PartitionSpec | Device | None = None) -> Array:
    """The frequencies of `rfft` of ``n`` samples at distance ``d``. Source: `numpy.fft.rfftfreq`."""
def rfftn(a: ArrayLike, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str | None = None) -> Array:
    """`fftn` of real numbers: half of the last axis. Source: `numpy.fft.rfftn`."""
