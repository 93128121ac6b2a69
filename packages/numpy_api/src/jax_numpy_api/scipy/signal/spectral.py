"""Spectra of sampled signals: Welch's method, short-time Fourier transforms, trends.

Source: Welch, "The use of fast Fourier transform for the estimation of power spectra", IEEE Trans. Audio 15 (1967).
"""
from __future__ import annotations

from typing import Any, Callable, Sequence

import numpy as np

from jax_core.representation import dtypes
from jax_core.representation.arguments import integer, joint_shape
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike

from ... import lax, numpy as jnp
from ...numpy.creation import of_list
from ...numpy.promotion import as_array, broadcast_to, canonical_axis, check_arraylike, convert, promote_dtypes_inexact

_COSINES = {"boxcar": (1,), "hann": (0.5, 0.5), "hamming": (0.54, 0.46), "blackman": (0.42, 0.5, 0.08)}


def _window(window: Any, n: int, name: str) -> tuple[Any, int]:
    """Weights of a segment, and its length: a window given by values sets the length."""
    if isinstance(window, (str, tuple, float)):
        if isinstance(window, str) and window in _COSINES:
            if n == 1:  # one sample counts whole, where the formula of some windows has 0
                return np.ones(1), 1
            turn = 2 * np.pi * np.arange(n) / n
            return sum((-1) ** k * c * np.cos(k * turn) for k, c in enumerate(_COSINES[window])) * np.ones(n), n
        from scipy.signal import get_window  # an optional dependency: SciPy knows the rare ones
        return get_window(window, n), n
    check_arraylike(name, window)
    window = jnp.asarray(window)
    if window.ndim != 1:
        raise ValueError(f"{name}: window must be one-dimensional, got shape {window.shape}")
    return window, window.shape[0]


def _segment_lengths(name, window, nperseg, noverlap, nfft, length, default=256):
    if not isinstance(window, (str, tuple, float)):
        given = np.shape(window)[0] if np.ndim(window) == 1 else None
        if nperseg is not None and given is not None and nperseg != given:
            raise ValueError(f"{name}: nperseg={nperseg} differs from the length {given} of the window")
        nperseg = given if given is not None else nperseg
        if given is not None and given > length:
            raise ValueError(f"{name}: the window has length {given}, longer than the input's {length}")
    nperseg = min(default if nperseg is None else integer("jax.scipy.signal: nperseg", nperseg), length)
    if nperseg < 1:
        raise ValueError(f"{name}: nperseg must be positive, got {nperseg}")
    weights, nperseg = _window(window, nperseg, name)
    nfft = nperseg if nfft is None else integer("jax.scipy.signal: nfft", nfft)
    if nfft < nperseg:
        raise ValueError(f"{name}: nfft must not be below nperseg, got nfft={nfft} and nperseg={nperseg}")
    noverlap = nperseg // 2 if noverlap is None else integer("jax.scipy.signal: noverlap", noverlap)
    if noverlap >= nperseg:
        raise ValueError(f"{name}: noverlap must be below nperseg, got noverlap={noverlap} and nperseg={nperseg}")
    return weights, nperseg, noverlap, nfft


def _segments(x, nperseg, step):
    count = (x.shape[-1] - nperseg) // step + 1
    return x[..., np.arange(count)[:, None] * step + np.arange(nperseg)]


def _times(x, weights):
    """``x`` times real weights, which are brought to its rank and dtype, as strict promotion asks."""
    return x * broadcast_to(convert(weights, x.dtype), jnp.broadcast_shapes(x.shape, jnp.shape(weights)))


def _detrender(detrend_: Any) -> Callable:
    if detrend_ is False or detrend_ is None:
        return lambda x: x
    if callable(detrend_):
        return detrend_
    return lambda x: detrend(x, axis=-1, type=detrend_)


def _transform(x, weights, nperseg, noverlap, nfft, detrend_, onesided):
    parts = _detrender(detrend_)(_segments(x, nperseg, nperseg - noverlap))
    parts = _times(parts, weights)
    return jnp.fft.rfft(parts, nfft) if onesided else jnp.fft.fft(parts, nfft)


def _scale(scaling, fs, weights):
    if scaling == "density":
        return 1 / (fs * jnp.sum(weights * weights))
    if scaling == "spectrum":
        return 1 / jnp.sum(weights) ** 2
    raise ValueError(f"Unknown scaling: {scaling!r}; use 'density' or 'spectrum'")


def _frequencies(nfft, fs, onesided, dtype):
    return jnp.asarray((np.fft.rfftfreq if onesided else np.fft.fftfreq)(nfft), dtype) * fs


def _median_bias(n: int) -> float:
    """Expectation of the median of ``n`` periodograms over their mean."""
    k = 2 * np.arange(1.0, (n - 1) // 2 + 1)
    return float(1 + np.sum(1 / (k + 1) - 1 / k))


def csd(x: ArrayLike, y: ArrayLike | None, fs: ArrayLike = 1.0, window: str = "hann", nperseg: int | None = None,
        noverlap: int | None = None, nfft: int | None = None, detrend: str = "constant", return_onesided: bool = True,
        scaling: str = "density", axis: int = -1, average: str = "mean") -> tuple[Array, Array]:
    """Cross power spectrum of ``x`` and ``y`` by Welch's method.

    Args:
      fs: sampling frequency.
      window: a name, or values whose number is the length of a segment.
      nperseg, noverlap, nfft: lengths of a segment (256), of the overlap (half of it), of the transform.
      detrend: "constant", "linear", False, or a function of segments.
      return_onesided: only frequencies not below 0, for real signals.
      scaling: "density" (per frequency) or "spectrum".
      average: "mean" or "median" over the segments.

    Returns:
      frequencies and spectrum.

    Raises:
      ValueError: another ``average``.

    Source: `scipy.signal.csd`.

    >>> x = jnp.sin(jnp.arange(64.0) * jnp.pi / 4)
    >>> f, power = jax.scipy.signal.csd(x, 2 * x, nperseg=16)
    >>> f[jnp.argmax(abs(power))]
    Array(0.125, dtype=float32)
    """
    check_arraylike("csd", x, *(() if y is None else (y,)))
    same = y is None  # not where y is x: the dtype would depend on what jit hides
    x, y = promote_dtypes_inexact(x, x if same else y)
    x, y = as_array(x), as_array(y)
    axis = canonical_axis(axis, x.ndim)
    x, y = jnp.moveaxis(x, axis, -1), jnp.moveaxis(y, axis, -1)
    batch = joint_shape(x.shape[:-1], y.shape[:-1])
    n = max(x.shape[-1], y.shape[-1])
    if x.size == 0 or y.size == 0:
        shape = (*batch[:axis], min(x.shape[-1], y.shape[-1]), *batch[axis:])
        real = dtypes.finfo(x.dtype).dtype
        return jnp.zeros(shape, real), jnp.zeros(shape, real if same else dtypes.to_complex_dtype(x.dtype))
    x, y = (jnp.pad(v, [(0, 0)] * (v.ndim - 1) + [(0, n - v.shape[-1])]) for v in (x, y))
    weights, nperseg, noverlap, nfft = _segment_lengths("csd", window, nperseg, noverlap, nfft, n)
    real = dtypes.finfo(x.dtype).dtype
    weights = jnp.asarray(weights, real)
    onesided = return_onesided and not jnp.issubdtype(x.dtype, jnp.complexfloating)
    fx = _transform(x, weights, nperseg, noverlap, nfft, detrend, onesided)
    fy = fx if same else _transform(y, weights, nperseg, noverlap, nfft, detrend, onesided)
    power = _times(jnp.conj(fx) * fy, _scale(scaling, fs, weights))
    if onesided:
        middle = slice(1, -1 if nfft % 2 == 0 else None)
        power = power.at[..., middle].multiply(2)
    if same:
        power = jnp.real(power)
    if average == "median":
        bias = _median_bias(power.shape[-2])
        if same:
            power = jnp.median(power, -2) / bias
        else:
            power = lax.complex(jnp.median(jnp.real(power), -2), jnp.median(jnp.imag(power), -2)) / bias
    elif average == "mean":
        power = jnp.mean(power, -2)
    else:
        raise ValueError(f'average must be "median" or "mean", got {average!r}')
    return _frequencies(nfft, fs, onesided, real), jnp.moveaxis(power, -1, axis)


def welch(x: ArrayLike, fs: ArrayLike = 1.0, window: str = "hann", nperseg: int | None = None, noverlap: int | None = None,
          nfft: int | None = None, detrend: str = "constant", return_onesided: bool = True, scaling: str = "density",
          axis: int = -1, average: str = "mean") -> tuple[Array, Array]:
    """Power spectrum of ``x`` by Welch's method. Arguments as for `csd`. Source: `scipy.signal.welch`.

    >>> f, power = jax.scipy.signal.welch(jnp.sin(jnp.arange(64.0) * jnp.pi / 4), nperseg=16)
    >>> f[jnp.argmax(power)]
    Array(0.125, dtype=float32)
    """
    return csd(x, None, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average)


_BOUNDARY = {"even": "reflect", "zeros": "constant", "constant": "edge"}


def stft(x: ArrayLike, fs: ArrayLike = 1.0, window: str = "hann", nperseg: int = 256, noverlap: int | None = None,
         nfft: int | None = None, detrend: bool = False, return_onesided: bool = True, boundary: str | None = "zeros",
         padded: bool = True, axis: int = -1) -> tuple[Array, Array, Array]:
    """Short-time Fourier transform.

    Args:
      boundary: what is put before and after the signal, half a segment each: "zeros", "even", "odd", "constant" or None.
      padded: append zeros so that the last segment is whole.
      others: as for `csd`.

    Returns:
      frequencies, times, and the transform with the time as its last axis.

    Raises:
      ValueError: another ``boundary``.

    Source: `scipy.signal.stft`.

    >>> f, t, z = jax.scipy.signal.stft(jnp.ones(16), nperseg=8)
    >>> f.shape, z.shape
    ((5,), (5, 5))
    """
    if boundary not in (None, "even", "odd", "zeros", "constant"):
        raise ValueError(f"Unknown boundary option '{boundary}', must be one of: ['even', 'odd', 'constant', 'zeros', None]")
    check_arraylike("stft", x)
    x = as_array(promote_dtypes_inexact(x)[0])
    axis = canonical_axis(axis, x.ndim)
    if x.size == 0:
        nothing = jnp.zeros(x.shape, dtypes.finfo(x.dtype).dtype)
        return nothing, nothing, nothing.astype(dtypes.to_complex_dtype(x.dtype))
    x = jnp.moveaxis(x, axis, -1)
    n = x.shape[-1]
    weights, nperseg, noverlap, nfft = _segment_lengths("stft", window, nperseg, noverlap, nfft, n)
    real = dtypes.finfo(x.dtype).dtype
    weights = jnp.asarray(weights, real)
    half, lead = nperseg // 2, [(0, 0)] * (x.ndim - 1)
    if boundary == "odd":
        x = jnp.pad(x, [*lead, (half, half)], mode="reflect", reflect_type="odd")
    elif boundary is not None:
        x = jnp.pad(x, [*lead, (half, half)], mode=_BOUNDARY[boundary])
    step = nperseg - noverlap
    if padded:
        x = jnp.pad(x, [*lead, (0, -(x.shape[-1] - nperseg) % step)])
    onesided = return_onesided and not jnp.issubdtype(x.dtype, jnp.complexfloating)
    z = _times(_transform(x, weights, nperseg, noverlap, nfft, detrend, onesided), jnp.sqrt(_scale("spectrum", fs, weights)))
    start = nperseg / 2 if boundary is None else 0
    times = (jnp.asarray(np.arange(z.shape[-2]) * step + start, real)) / fs
    z = jnp.moveaxis(jnp.swapaxes(z, -1, -2), -2, axis)
    return _frequencies(nfft, fs, onesided, real), times, z


def istft(Zxx: ArrayLike, fs: ArrayLike = 1.0, window: str = "hann", nperseg: int | None = None,
          noverlap: int | None = None, nfft: int | None = None, input_onesided: bool = True, boundary: bool = True,
          time_axis: int = -1, freq_axis: int = -2) -> tuple[Array, Array]:
    """The signal whose `stft` is ``Zxx``: segments are weighted with the window again, added up, and divided by the sum of its
    squares.

    Args:
      fs, window, nperseg, noverlap, nfft: as they were given to `stft`.
      input_onesided: whether frequencies are those of a real signal, half of them.
      boundary: whether `stft` had put something before and after, which is cut off.
      time_axis, freq_axis: of ``Zxx``.

    Returns:
      times and signal.

    Raises:
      ValueError: lengths, or the two axes, do not go together.

    Source: `scipy.signal.istft`.

    >>> f, t, z = jax.scipy.signal.stft(jnp.ones(16), nperseg=8)
    >>> t, x = jax.scipy.signal.istft(z, nperseg=8)
    >>> jnp.round(x, 4)[:4]
    Array([1., 1., 1., 1.], dtype=float32)
    """
    check_arraylike("istft", Zxx)
    z = as_array(promote_dtypes_inexact(Zxx)[0])
    if z.ndim < 2:
        raise ValueError(f"istft: Zxx must have at least two axes, got shape {z.shape}")
    time_axis, freq_axis = canonical_axis(time_axis, z.ndim), canonical_axis(freq_axis, z.ndim)
    if time_axis == freq_axis:
        raise ValueError("istft: time_axis and freq_axis must differ")
    z = jnp.moveaxis(z, (time_axis, freq_axis), (-2, -1))
    full = 2 * (z.shape[-1] - 1) if input_onesided else z.shape[-1]
    nperseg = full if nperseg is None else integer("jax.scipy.signal: nperseg", nperseg)
    if nfft is None:
        nfft = nperseg if input_onesided and nperseg == full + 1 else full
    elif nfft < nperseg:
        raise ValueError(f"istft: nfft must not be below nperseg, got nfft={nfft} and nperseg={nperseg}")
    noverlap = nperseg // 2 if noverlap is None else integer("jax.scipy.signal: noverlap", noverlap)
    if noverlap >= nperseg:
        raise ValueError(f"istft: noverlap must be below nperseg, got noverlap={noverlap} and nperseg={nperseg}")
    real = dtypes.finfo(z.dtype).dtype
    weights, length = _window(window, nperseg, "istft")
    if length != nperseg:
        raise ValueError(f"istft: the window must have length nperseg={nperseg}, got {length}")
    weights = jnp.asarray(weights, real)
    parts = (jnp.fft.irfft(z, nfft) if input_onesided else jnp.fft.ifft(z, nfft))[..., :nperseg]
    step, count = nperseg - noverlap, z.shape[-2]
    index = np.arange(count)[:, None] * step + np.arange(nperseg)
    total = (count - 1) * step + nperseg
    x = jnp.zeros((*parts.shape[:-2], total), parts.dtype).at[..., index].add(_times(parts, weights * jnp.sum(weights)))
    norm = jnp.zeros(total, real).at[index].add(jnp.broadcast_to(weights * weights, index.shape))
    if boundary:
        half = nperseg // 2
        x, norm = x[..., half:total - half], norm[half:total - half]
    x = _times(x, 1 / jnp.where(norm > 1e-10, norm, 1.0))
    x = jnp.moveaxis(x, -1, time_axis - (1 if freq_axis < time_axis else 0))
    return jnp.asarray(np.arange(x.shape[0]), real) / fs, x  # of several signals SciPy, too, counts along the first axis


def detrend(data: ArrayLike, axis: int = -1, type: str = "linear", bp: Sequence[int] | ArrayLike = 0,
            overwrite_data: object = None) -> Array:
    """``data`` less its mean ("constant") or its least-squares line ("linear") along ``axis``.

    Args:
      bp: for lines, indices where a new line begins.
      overwrite_data: must be None.

    Raises:
      ValueError: another type, or a break point outside of the data.

    Source: `scipy.signal.detrend`.

    >>> jnp.round(jsp.signal.detrend(jnp.array([1., 2., 3.])), 3)
    Array([0., 0., 0.], dtype=float32)
    """
    if overwrite_data is not None:
        raise NotImplementedError("detrend: overwrite_data is not supported; arrays are immutable")
    data = of_list(data)
    check_arraylike("detrend", data)
    data = as_array(promote_dtypes_inexact(data)[0])
    if type == "constant":
        return data - jnp.mean(data, axis, keepdims=True)
    if type != "linear":
        raise ValueError(f"Trend type must be 'linear' or 'constant', got {type!r}")
    axis = canonical_axis(axis, data.ndim)
    n = data.shape[axis]
    if not n:
        raise ValueError(f"detrend: there is no line through no data, got shape {data.shape}")
    if np.asarray(bp).size and np.asarray(bp).dtype.kind not in "iu":
        raise TypeError(f"detrend: break points must be whole numbers, got {bp!r}")
    breaks = np.unique(np.concatenate([[0], np.atleast_1d(bp), [n]])).astype(int)
    if breaks[0] < 0 or breaks[-1] > n:
        raise ValueError(f"detrend: break points must be between 0 and {n}, got {bp}")
    x = jnp.moveaxis(data, axis, -1)
    parts = []
    for low, high in zip(breaks[:-1], breaks[1:]):
        part, m = x[..., low:high], high - low
        t = jnp.asarray(np.arange(m) - (m - 1) / 2, dtypes.finfo(x.dtype).dtype)
        slope = jnp.sum(_times(part, t), -1, keepdims=True) / max(float(np.sum((np.arange(m) - (m - 1) / 2) ** 2)), 1e-30)
        parts.append(part - jnp.mean(part, -1, keepdims=True) - _times(slope, t))
    return jnp.moveaxis(jnp.concatenate(parts, -1), -1, axis)
