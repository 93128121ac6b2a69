"""The names of `jax_numpy_api.scipy.signal`. Written by packages/jax/tools/make_stubs.py."""
from .convolution import (
    convolve as convolve,
    convolve2d as convolve2d,
    correlate as correlate,
    correlate2d as correlate2d,
    fftconvolve as fftconvolve,
)
from .spectral import (
    csd as csd,
    detrend as detrend,
    istft as istft,
    stft as stft,
    welch as welch,
)
