"""Types of `jax.scipy.signal`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array
from jax.lax import DotAlgorithm, DotAlgorithmPreset, Precision
from jax.typing import ArrayLike
from typing import Any, Sequence

def convolve(in1: ArrayLike, in2: ArrayLike, mode: str = 'full', method: str = 'auto', precision: None | str | Precision | tuple[str, str] | tuple[Precision, Precision] | DotAlgorithm | DotAlgorithmPreset = None) -> Array:
    """Convolution of two arrays of the same rank."""
def convolve2d(in1: ArrayLike, in2: ArrayLike, mode: str = 'full', boundary: str = 'fill', fillvalue: float = 0, precision: None | str | Precision | tuple[str, str] | tuple[Precision, Precision] | DotAlgorithm | DotAlgorithmPreset = None) -> Array:
    """Convolution of two matrices."""
def correlate(in1: ArrayLike, in2: ArrayLike, mode: str = 'full', method: str = 'auto', precision: None | str | Precision | tuple[str, str] | tuple[Precision, Precision] | DotAlgorithm | DotAlgorithmPreset = None) -> Array:
    """Cross-correlation: convolution with the reversed conjugate of ``in2``. Arguments as for `convolve`."""
def correlate2d(in1: ArrayLike, in2: ArrayLike, mode: str = 'full', boundary: str = 'fill', fillvalue: float = 0, precision: None | str | Precision | tuple[str, str] | tuple[Precision, Precision] | DotAlgorithm | DotAlgorithmPreset = None) -> Array:
    """Cross-correlation of two matrices. Arguments as for `convolve2d`. Source: `scipy.signal.correlate2d`."""
def csd(x: ArrayLike, y: ArrayLike | None, fs: ArrayLike = 1.0, window: str = 'hann', nperseg: int | None = None, noverlap: int | None = None, nfft: int | None = None, detrend: str = 'constant', return_onesided: bool = True, scaling: str = 'density', axis: int = -1, average: str = 'mean') -> tuple[Array, Array]:
    """Cross power spectrum of ``x`` and ``y`` by Welch's method."""
def detrend(data: ArrayLike, axis: int = -1, type: str = 'linear', bp: Sequence[int] | ArrayLike = 0, overwrite_data: object | None = None) -> Array:
    """``data`` less its mean ("constant") or its least-squares line ("linear") along ``axis``."""
def fftconvolve(in1: ArrayLike, in2: ArrayLike, mode: str = 'full', axes: Sequence[int] | None = None) -> Array:
    """Convolution by fast Fourier transforms along ``axes`` (all by default); other axes broadcast."""
def istft(Zxx: ArrayLike, fs: ArrayLike = 1.0, window: str = 'hann', nperseg: int | None = None, noverlap: int | None = None, nfft: int | None = None, input_onesided: bool = True, boundary: bool = True, time_axis: int = -1, freq_axis: int = -2) -> tuple[Array, Array]:
    """The signal whose `stft` is ``Zxx``: segments are weighted with the window again, added up, and divided by the sum of its squares."""
def stft(x: ArrayLike, fs: ArrayLike = 1.0, window: str = 'hann', nperseg: int = 256, noverlap: int | None = None, nfft: int | None = None, detrend: bool = False, return_onesided: bool = True, boundary: str | None = 'zeros', padded: bool = True, axis: int = -1) -> tuple[Array, Array, Array]:
    """Short-time Fourier transform."""
def welch(x: ArrayLike, fs: ArrayLike = 1.0, window: str = 'hann', nperseg: int | None = None, noverlap: int | None = None, nfft: int | None = None, detrend: str = 'constant', return_onesided: bool = True, scaling: str = 'density', axis: int = -1, average: str = 'mean') -> tuple[Array, Array]:
    """Power spectrum of ``x`` by Welch's method. Arguments as for `csd`. Source: `scipy.signal.welch`."""
