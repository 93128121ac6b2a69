"""jax.scipy.signal: convolution, and spectra of sampled signals."""
from typing import TYPE_CHECKING

from ..._lazy import names_of as _names_of

if TYPE_CHECKING:
    from .names import *

_MODULES = {
    "convolution": "convolve convolve2d correlate correlate2d fftconvolve",
    "spectral": "csd detrend istft stft welch",
}
__getattr__, __dir__, __all__ = _names_of(__name__, _MODULES)
