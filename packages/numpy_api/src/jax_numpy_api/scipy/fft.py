"""jax.scipy.fft: discrete cosine transforms of types 1 to 4.

Types 2 and 3 are one real Fourier transform of the same length; type 1 is that of the even extension, and type 4 one
complex transform of twice the length between two rotations.

Source: Makhoul, "A fast cosine transform in one and two dimensions", IEEE Trans. ASSP 28 (1980).
"""
from __future__ import annotations

import math
import operator
from typing import Sequence

import numpy as np

from jax_core.programs.jit import inlined
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike

from .. import lax, numpy as jnp
from ..numpy.promotion import as_array, canonical_axes, check_arraylike, given_axes, promote_dtypes_inexact, several_axes

__all__ = ["dct", "dctn", "idct", "idctn"]


def _resized(x, n, axis):
    """``x`` cut or padded with zeros to length ``n``."""
    if n is None or n == x.shape[axis]:
        return x
    if n < 0:
        raise ValueError(f"dct: a length of {n} is negative")
    if n < x.shape[axis]:
        return x[(slice(None),) * axis + (slice(0, n),)]
    return jnp.pad(x, [(0, n - x.shape[axis]) if i == axis else (0, 0) for i in range(x.ndim)])


def _beside(vector, x):
    """``vector`` as an array of the rank of ``x``, along its last axis."""
    return vector.reshape((1,) * (x.ndim - 1) + (-1,))


def _twiddle(x):
    n = x.shape[-1]
    angle = np.pi * np.arange(n) / (2 * n)
    return _beside(np.cos(angle).astype(x.dtype), x), _beside(np.sin(angle).astype(x.dtype), x)


def _dct2(x):
    """``2 sum_j x[j] cos(pi k (2 j + 1) / (2 n))`` along the last axis: even elements forwards, odd ones backwards, transformed
    and turned."""
    n = x.shape[-1]
    v = jnp.concatenate([x[..., ::2], jnp.flip(x[..., 1::2], -1)], -1)
    half = jnp.fft.rfft(v, axis=-1)
    mirrored = jnp.conj(jnp.flip(half[..., 1:(n + 1) // 2], -1))
    f = jnp.concatenate([half, mirrored], -1)
    cosine, sine = _twiddle(x)
    return 2 * (jnp.real(f) * cosine + jnp.imag(f) * sine)


def _dct3(x, divide=False):
    """The inverse of `_dct2`, times ``2 n`` unless it shall ``divide``: ``x[0] + 2 sum_k x[k] cos(pi k (2 j + 1) / (2 n))``, along the last
    axis."""
    n = x.shape[-1]
    x = x / 2 if divide else x  # first, so that sums of two of the largest do not overflow
    cosine, sine = _twiddle(x)
    back = jnp.concatenate([jnp.zeros_like(x[..., :1]), jnp.flip(x[..., 1:], -1)], -1)
    f = lax.complex(x * cosine + back * sine, x * sine - back * cosine)
    v = jnp.fft.irfft(f[..., :n // 2 + 1], n, axis=-1)
    v = v if divide else v * n
    even, odd = v[..., :(n + 1) // 2], jnp.flip(v[..., (n + 1) // 2:], -1)
    out = jnp.zeros_like(x).at[..., ::2].set(even)
    return out.at[..., 1::2].set(odd) if n > 1 else out


def _ortho(n, dtype):
    scale = np.full(n, math.sqrt(1 / (2 * n)))
    scale[0] = math.sqrt(1 / (4 * n))
    return scale.astype(dtype)


def _dct1(x):
    """``x[0] + (-1)^k x[n-1] + 2 sum_j x[j] cos(pi j k / (n - 1))``, its own inverse times ``2 (n - 1)``."""
    even = jnp.concatenate([x, jnp.flip(x[..., 1:-1], -1)], -1)
    return jnp.real(jnp.fft.rfft(even, axis=-1))


def _dct4(x):
    """``2 sum_j x[j] cos(pi (2 j + 1) (2 k + 1) / (4 n))``, its own inverse times ``2 n``."""
    n = x.shape[-1]
    turn = np.exp(-0.5j * np.pi * np.arange(n) / n)
    dtype = np.result_type(x.dtype, np.complex64)
    f = jnp.fft.fft(x.astype(dtype) * _beside(turn.astype(dtype), x), 2 * n, axis=-1)[..., :n]
    return 2 * jnp.real(f * _beside((turn * np.exp(-0.25j * np.pi / n)).astype(dtype), x))


def _symmetric(x, kind, axis, norm, inverse):
    """Type 1 or 4 along one axis."""
    x = jnp.moveaxis(x, axis, -1)
    n = x.shape[-1]
    if n < (2 if kind == 1 else 1):
        raise ValueError(f"dct: type {kind} needs at least {2 if kind == 1 else 1} elements along the axis, got shape {x.shape}")
    period = 2 * (n - 1) if kind == 1 else 2 * n
    run = _dct1 if kind == 1 else _dct4
    if norm == "ortho":
        ends = np.ones(n, x.dtype)
        if kind == 1:
            ends[[0, -1]] = math.sqrt(2)
        ends = _beside(ends, x)
        out = run(x * ends) / (ends * x.dtype.type(math.sqrt(period)))
    else:
        divide = (norm == "backward" or norm is None) == inverse
        out = run(x) / period if divide else run(x)
    return jnp.moveaxis(out, -1, axis)


def _transform(x, kind, axis, norm, inverse):
    """Type 2 or 3 along one axis; the inverse of one is the other."""
    x = jnp.moveaxis(x, axis, -1)
    n = x.shape[-1]
    if n == 0:
        raise ValueError(f"dct: the axis is empty in an array of shape {x.shape}")
    forward = (kind == 2) != inverse
    scale = _beside(_ortho(n, x.dtype), x)
    if norm == "ortho":  # the inverse of type 2 is type 3 over 2 n, so its scale is the reciprocal over 2 n
        out = _dct2(x) * scale if forward else _dct3(x / (2 * n * scale))
    else:
        divide = (norm == "backward" or norm is None) == inverse
        out = _dct3(x, divide) if not forward else _dct2(x) / (2 * n) if divide else _dct2(x)
    return jnp.moveaxis(out, -1, axis)


def _check(name: str, kind: int, norm: str | None) -> None:
    if kind not in (1, 2, 3, 4):
        raise ValueError(f"{name}: type must be 1, 2, 3 or 4, got {kind!r}")
    if norm not in (None, "backward", "ortho", "forward"):
        raise ValueError(f"{name}: norm must be None, 'backward', 'ortho' or 'forward', got {norm!r}")


@inlined(static_argnums=(1, 2, 3, 4, 5, 6))
def _along(x, kind, lengths, axes, norm, inverse, name):
    x, = promote_dtypes_inexact(x)
    x = as_array(x)
    if jnp.issubdtype(x.dtype, jnp.complexfloating):
        return lax.complex(*(_along(part, kind, lengths, axes, norm, inverse, name) for part in (lax.real(x), lax.imag(x))))
    x = x if not x.ndim or x.dtype in (np.float32, np.float64) else x.astype(np.float32)
    axes = canonical_axes(axes, x.ndim) if lengths is None or axes is not None else tuple(range(x.ndim - len(lengths), x.ndim))
    lengths = (None,) * len(axes) if lengths is None else lengths
    if len(lengths) != len(axes):
        raise ValueError(f"{name}: s and axes must have one length, got {lengths} and {axes}")
    for n, axis in zip(lengths, axes):
        x = _resized(x, n, axis)
    for axis in axes:
        x = (_symmetric if kind in (1, 4) else _transform)(x, kind, axis, norm, inverse)
    return x


def _one(name, inverse, x, type, n, axis, norm):
    check_arraylike(name, x)
    _check(name, type, norm)
    return _along(x, type, None if n is None else (operator.index(n),), (operator.index(axis),), norm, inverse, name)


def _many(name, inverse, x, type, s, axes, norm):
    check_arraylike(name, x)
    _check(name, type, norm)
    s = None if s is None else several_axes(s)
    axes = given_axes(axes)
    return _along(x, type, s, axes, norm, inverse, name)


def dct(x: ArrayLike, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """Discrete cosine transform along one axis.

    Args:
      type: 1, 2, 3 or 4.
      n: length, by cutting or padding with zeros.
      norm: None or "backward" for no factor, "forward" for ``1/(2 n)`` (``1/(2 n - 2)`` for type 1), "ortho" for an
        orthogonal transform.

    Raises:
      ValueError: another type or norm, or an axis that is too short.

    Source: `scipy.fft.dct`.

    >>> jsp.fft.dct(jnp.ones(3))
    Array([6., 0., 0.], dtype=float32)
    """
    return _one("dct", False, x, type, n, axis, norm)


def idct(x: ArrayLike, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """Inverse of `dct` with the same arguments. Source: `scipy.fft.idct`.

    >>> jnp.round(jsp.fft.idct(jsp.fft.dct(jnp.array([1., 2., 3.]))), 3)
    Array([1.       , 2.       , 3.0000002], dtype=float32)
    """
    return _one("idct", True, x, type, n, axis, norm)


def dctn(x: ArrayLike, type: int = 2, s: int | Sequence[int] | None = None, axes: int | Sequence[int] | None = None,
         norm: str | None = None) -> Array:
    """`dct` along several axes (all by default), with lengths ``s``.

    Args:
      type, norm: as for `dct`.

    Source: `scipy.fft.dctn`.

    >>> jax.scipy.fft.dctn(jnp.ones((2, 2)))
    Array([[16.,  0.],
           [ 0.,  0.]], dtype=float32)
    """
    return _many("dctn", False, x, type, s, axes, norm)


def idctn(x: ArrayLike, type: int = 2, s: int | Sequence[int] | None = None, axes: int | Sequence[int] | None = None,
          norm: str | None = None) -> Array:
    """Inverse of `dctn` with the same arguments. Source: `scipy.fft.idctn`.

    >>> x = jnp.array([[1.0, 2.0], [3.0, 4.0]])
    >>> jnp.round(jax.scipy.fft.idctn(jax.scipy.fft.dctn(x)), 4)
    Array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    return _many("idctn", True, x, type, s, axes, norm)
