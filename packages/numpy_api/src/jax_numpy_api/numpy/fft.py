"""jax.numpy.fft: Fourier transforms over one axis or several, by XLA's own op.

XLA transforms up to three last axes at once; the axes asked for are moved there, in groups of three. A length asked for
cuts the axis off or fills it up with zeros.
"""
from __future__ import annotations

import math
from typing import Any, Sequence

import numpy as np

from jax_core.programs.jit import inlined
from jax_core.representation import dtypes
from jax_core.representation.arguments import integer, integers
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike, DTypeLike, Placement

from .. import lax
from .creation import array, of_list, placed
from .promotion import (
    as_array,
    canonical_axes,
    canonical_axis,
    check_arraylike,
    narrowed,
    promote_dtypes_complex,
    promote_dtypes_inexact,
    unwrapped,
)
from .shaping import moveaxis, roll
from .ufuncs import _is_complex, _like, conj

_KINDS = {"fft": "FFT", "ifft": "IFFT", "rfft": "RFFT", "irfft": "IRFFT"}


def _check_norm(name: str, norm: Any) -> None:
    if norm not in (None, "backward", "ortho", "forward"):
        raise ValueError(f"jax.numpy.fft.{name}: norm must be None, 'backward', 'ortho' or 'forward', got {norm!r}")


def _scale(norm: Any, inverse: bool, size: int) -> float:
    """What the unscaled forward transform, or the inverse one that XLA divides by the size, is multiplied by."""
    norm = norm or "backward"
    if norm == "ortho":
        return size ** 0.5 if inverse else size ** -0.5
    return 1.0 if (norm == "backward") else (float(size) if inverse else 1.0 / size)


def _transform(name: str, kind: str, a: Any, s: Any, axes: Any, norm: Any) -> Array:
    check_arraylike(f"jax.numpy.fft.{name}", a)
    _check_norm(name, norm)
    a = unwrapped(a)
    rank = np.ndim(a)
    s = None if s is None else integers(f"jax.numpy.fft.{name}: s (or n)", s)
    if s is not None and axes is not None and len(s) != len(axes):
        raise ValueError(f"jax.numpy.fft.{name}: s and axes must have one length, got s={s} and axes={tuple(axes)}")
    if axes is None:
        axes = tuple(range(rank)) if s is None else tuple(range(rank - len(s), rank))
    axes = tuple(canonical_axis(x, rank) for x in axes)
    if len(set(axes)) != len(axes):
        raise ValueError(f"jax.numpy.fft.{name} does not support repeated axes. Got axes {axes}.")
    if s is not None and any(n <= 0 for n in s):
        raise ValueError(f"jax.numpy.fft.{name}: shape must be positive, got s={s}")
    return _transform_core(a, name, kind, s, axes, norm)


@inlined(static_argnums=(1, 2, 3, 4, 5))
def _transform_core(a, name, kind, s, axes, norm):
    if kind == "rfft":
        a = as_array(*promote_dtypes_inexact(a))
        if _is_complex(a):
            raise ValueError(f"jax.numpy.fft.{name}: a real array is needed, got dtype {a.dtype}")
    else:
        a, = promote_dtypes_complex(a)
    a = _wide(as_array(narrowed(a)))
    if not axes:
        return lax.convert_element_type(a, a.dtype)  # no longer weak
    last = len(axes)
    a = moveaxis(a, axes, tuple(range(a.ndim - last, a.ndim)))
    full = list(a.shape[a.ndim - last:])
    if s is not None:
        wanted = list(s)
        if kind == "irfft":
            wanted[-1] = s[-1] // 2 + 1
        a = _fitted(a, wanted)
        full = list(s)
    elif kind == "irfft":
        full[-1] = 2 * (a.shape[-1] - 1)
    if any(n < 1 for n in full):
        if s is not None or kind == "irfft" or kind == "rfft" and full[-1] < 1:
            raise ValueError(f"jax.numpy.fft.{name}: invalid number of data points {full} for axes {axes}")
    out = _in_groups(a, kind, full)
    factor = _scale(norm, kind in ("ifft", "irfft"), math.prod(full) or 1)
    if factor != 1.0:
        out = lax.mul(out, _like(out, factor))
    return moveaxis(out, tuple(range(a.ndim - last, a.ndim)), axes)


def _wide(a: Array) -> Array:
    """XLA has no transform of narrow floats."""
    if dtypes.issubdtype(a.dtype, np.floating) and np.dtype(a.dtype).itemsize < 4:
        return lax.convert_element_type(a, np.float32)
    return a


def _fitted(a: Array, wanted: list) -> Array:
    first = a.ndim - len(wanted)
    for i, n in enumerate(wanted):
        if a.shape[first + i] > n:
            a = lax.slice_in_dim(a, 0, n, axis=first + i)
    config = [(0, 0, 0)] * first + [(0, n - a.shape[first + i], 0) for i, n in enumerate(wanted)]
    return lax.pad(a, np.zeros((), a.dtype)[()], config) if any(c[1] for c in config) else a


def _in_groups(a: Array, kind: str, lengths: list) -> Array:
    """Up to three axes at a time; the real transform is on the last axis, so it comes first or last of all."""
    if len(lengths) <= 3:
        return lax.fft(a, _KINDS[kind], lengths)
    head, tail = lengths[:-3], lengths[-3:]
    if kind in ("rfft", "fft"):
        a = lax.fft(a, _KINDS[kind], tail)
        return _others(a, "fft", head)
    a = _others(a, "ifft", head)
    return lax.fft(a, _KINDS[kind], tail)


def _others(a: Array, kind: str, lengths: list) -> Array:
    """The axes before the last three."""
    n = len(lengths)
    source = tuple(range(a.ndim - 3 - n, a.ndim - 3))
    moved = moveaxis(a, source, tuple(range(a.ndim - n, a.ndim)))
    return moveaxis(_in_groups(moved, kind, lengths), tuple(range(a.ndim - n, a.ndim)), source)


def _one(name: str, kind: str, a: Any, n: Any, axis: Any, norm: Any) -> Array:
    if isinstance(axis, (tuple, list)):
        raise ValueError(f"jax.numpy.fft.{name} does not support multiple axes. Please use jax.numpy.fft.{name}n. Got axis = {axis!r}.")
    if axis is None and name in ("hfft", "ihfft"):
        raise TypeError(f"jax.numpy.fft.{name}: axis must be an integer, got None")
    return _transform(name, kind, a, None if n is None else (n,), None if axis is None else (axis,), norm)


def _two(name: str, kind: str, a: Any, s: Any, axes: Any, norm: Any) -> Array:
    if len(axes) != 2:
        raise ValueError(f"jax.numpy.fft.{name} only supports 2 axes. Got axes = {axes!r}.")
    return _transform(name, kind, a, s, axes, norm)


def fft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """Discrete Fourier transform along an axis.

    Args:
      a: array.
      n: length; the axis is cut off or filled up with zeros.
      axis: along which; None stands for all axes, or with ``n`` for the last.
      norm: which direction divides by the length: "backward" (default: the inverse), "forward", or "ortho": both, by the
        root.

    Returns:
      a complex array.

    Source: `numpy.fft.fft`.

    >>> jnp.fft.fft(jnp.array([1., 0., 0., 0.]))
    Array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j], dtype=complex64)
    """
    return _one("fft", "fft", a, n, axis, norm)


def ifft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """Inverse of `fft`.

    Args:
      n: length; the axis is cut off or filled up with zeros.
      axis, norm: as for `fft`.

    Source: `numpy.fft.ifft`.

    >>> jnp.fft.ifft(jnp.array([4., 0., 0., 0.])).real
    Array([1., 1., 1., 1.], dtype=float32)
    """
    return _one("ifft", "ifft", a, n, axis, norm)


def rfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """`fft` of real numbers: its first half, of length ``n // 2 + 1``.

    Args:
      n: length; the axis is cut off or filled up with zeros.
      axis, norm: as for `fft`.

    Source: `numpy.fft.rfft`.

    >>> jnp.fft.rfft(jnp.ones(4)).real
    Array([4., 0., 0.], dtype=float32)
    """
    return _one("rfft", "rfft", a, n, axis, norm)


def irfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """Inverse of `rfft`; ``n`` is the length of the real result.

    Args:
      axis, norm: as for `fft`.

    Source: `numpy.fft.irfft`.

    >>> jnp.fft.irfft(jnp.array([4., 0., 0.]))
    Array([1., 1., 1., 1.], dtype=float32)
    """
    return _one("irfft", "irfft", a, n, axis, norm)


_TURNED = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}


def hfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """`fft` of a hermitian vector, given its first half: a real array of length ``n``.

    Args:
      axis, norm: as for `fft`.

    Source: `numpy.fft.hfft`.

    >>> jnp.fft.hfft(jnp.array([1., 0., 0.]))
    Array([1., 1., 1., 1.], dtype=float32)
    """
    _check_norm("hfft", norm)
    check_arraylike("jax.numpy.fft.hfft", a)
    return _one("hfft", "irfft", conj(a), n, axis, _TURNED[norm])


def ihfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """Inverse of `hfft`.

    Args:
      n: length; the axis is cut off or filled up with zeros.
      axis, norm: as for `fft`.

    Source: `numpy.fft.ihfft`.

    >>> jnp.fft.ihfft(jnp.ones(4)).real
    Array([1., 0., 0.], dtype=float32)
    """
    _check_norm("ihfft", norm)
    return conj(_one("ihfft", "rfft", of_list(a), n, axis, _TURNED[norm]))


def fftn(a: ArrayLike, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str | None = None) -> Array:
    """`fft` over several axes (all by default), of lengths ``s``.

    Args:
      norm: as for `fft`.

    Source: `numpy.fft.fftn`.

    >>> jnp.fft.fftn(jnp.ones((2, 2)))[0, 0]
    Array(4.+0.j, dtype=complex64)
    """
    return _transform("fftn", "fft", a, s, axes, norm)


def ifftn(a: ArrayLike, s: Sequence[int] | None = None, axes: Sequence[int] | None = None,
          norm: str | None = None) -> Array:
    """Inverse of `fftn`.

    Args:
      s: lengths along ``axes``.
      axes: along which.
      norm: as for `fft`.

    Source: `numpy.fft.ifftn`.

    >>> jnp.fft.ifftn(jnp.full((2, 2), 4.)).real
    Array([[4., 0.],
           [0., 0.]], dtype=float32)
    """
    return _transform("ifftn", "ifft", a, s, axes, norm)


def rfftn(a: ArrayLike, s: Sequence[int] | None = None, axes: Sequence[int] | None = None,
          norm: str | None = None) -> Array:
    """`fftn` of real numbers: half of the last axis.

    Args:
      s: lengths along ``axes``.
      axes: along which.
      norm: as for `fft`.

    Source: `numpy.fft.rfftn`.

    >>> jnp.fft.rfftn(jnp.ones((2, 2))).real
    Array([[4., 0.],
           [0., 0.]], dtype=float32)
    """
    return _transform("rfftn", "rfft", a, s, axes, norm)


def irfftn(a: ArrayLike, s: Sequence[int] | None = None, axes: Sequence[int] | None = None,
           norm: str | None = None) -> Array:
    """Inverse of `rfftn`.

    Args:
      s: lengths along ``axes``.
      axes: along which.
      norm: as for `fft`.

    Source: `numpy.fft.irfftn`.

    >>> jnp.fft.irfftn(jnp.array([[4., 0.], [0., 0.]]))
    Array([[1., 1.],
           [1., 1.]], dtype=float32)
    """
    return _transform("irfftn", "irfft", a, s, axes, norm)


def fft2(a: ArrayLike, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1), norm: str | None = None) -> Array:
    """`fftn` over two axes.

    Args:
      s: lengths along ``axes``.
      axes: along which.
      norm: as for `fft`.

    Source: `numpy.fft.fft2`.

    >>> jnp.fft.fft2(jnp.ones((2, 2)))
    Array([[4.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]], dtype=complex64)
    """
    return _two("fft2", "fft", a, s, axes, norm)


def ifft2(a: ArrayLike, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1), norm: str | None = None) -> Array:
    """Inverse of `fft2`.

    Args:
      s: lengths along ``axes``.
      axes: along which.
      norm: as for `fft`.

    Source: `numpy.fft.ifft2`.

    >>> jnp.fft.ifft2(jnp.full((2, 2), 4.)).real
    Array([[4., 0.],
           [0., 0.]], dtype=float32)
    """
    return _two("ifft2", "ifft", a, s, axes, norm)


def rfft2(a: ArrayLike, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1), norm: str | None = None) -> Array:
    """`rfftn` over two axes.

    Args:
      s: lengths along ``axes``.
      axes: along which.
      norm: as for `fft`.

    Source: `numpy.fft.rfft2`.

    >>> jnp.fft.rfft2(jnp.ones((2, 2))).real
    Array([[4., 0.],
           [0., 0.]], dtype=float32)
    """
    return _two("rfft2", "rfft", a, s, axes, norm)


def irfft2(a: ArrayLike, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1), norm: str | None = None) -> Array:
    """Inverse of `rfft2`.

    Args:
      s: lengths along ``axes``.
      axes: along which.
      norm: as for `fft`.

    Source: `numpy.fft.irfft2`.

    >>> jnp.fft.irfft2(jnp.array([[4., 0.], [0., 0.]]))
    Array([[1., 1.],
           [1., 1.]], dtype=float32)
    """
    return _two("irfft2", "irfft", a, s, axes, norm)


# -- frequencies -------------------------------------------------------------------------------------------------------

def _frequencies(name: str, n: Any, d: Any, dtype: Any, device: Any, values: Any) -> Array:
    if isinstance(n, (list, tuple)) or np.ndim(n):
        raise ValueError(f"The n argument of jax.numpy.fft.{name} only takes an int. Got n = {n!r}.")
    if isinstance(d, (list, tuple)):
        raise ValueError(f"The d argument of jax.numpy.fft.{name} only takes a single value. Got d = {d!r}.")
    dtype = dtypes.default_float_dtype() if dtype is None else dtypes.canonicalize_user_dtype(dtype, name)
    if not dtypes.issubdtype(dtype, np.floating):
        raise ValueError(f"jax.numpy.fft.{name}: dtype must be a floating-point dtype, got {dtype}")
    return placed(array((values / n).astype(dtype)) / d, device)


def fftfreq(n: int, d: ArrayLike = 1.0, *, dtype: DTypeLike | None = None, device: Placement | None = None) -> Array:
    """The frequencies of `fft` of ``n`` samples at distance ``d``.

    Args:
      device: placement of the result.

    Source: `numpy.fft.fftfreq`.

    >>> jnp.fft.fftfreq(4, d=0.5)
    Array([ 0. ,  0.5, -1. , -0.5], dtype=float32)
    """
    n = integer("jax.numpy.fft.fftfreq: n", n) if not isinstance(n, (list, tuple)) else n
    places = np.concatenate([np.arange((n - 1) // 2 + 1), np.arange(-(n // 2), 0)]) if not isinstance(n, (list, tuple)) else n
    return _frequencies("fftfreq", n, d, dtype, device, places)


def rfftfreq(n: int, d: ArrayLike = 1.0, *, dtype: DTypeLike | None = None, device: Placement | None = None) -> Array:
    """The frequencies of `rfft` of ``n`` samples at distance ``d``.

    Args:
      device: placement of the result.

    Source: `numpy.fft.rfftfreq`.

    >>> jnp.fft.rfftfreq(4)
    Array([0.  , 0.25, 0.5 ], dtype=float32)
    """
    n = integer("jax.numpy.fft.rfftfreq: n", n) if not isinstance(n, (list, tuple)) else n
    return _frequencies("rfftfreq", n, d, dtype, device, np.arange(n // 2 + 1) if not isinstance(n, (list, tuple)) else n)


def _half_turns(name: str, x: Any, axes: Any, sign: int) -> Array:
    check_arraylike(f"jax.numpy.fft.{name}", x)
    x = as_array(x)
    one = axes is None or np.ndim(axes) == 0
    axes = canonical_axes(axes, x.ndim) if one else tuple(canonical_axis(a, x.ndim) for a in axes)  # each as often as it is given
    return roll(x, tuple(sign * (x.shape[a] // 2) if sign > 0 else -(x.shape[a] // 2) for a in axes), axes) if axes else x


def fftshift(x: ArrayLike, axes: int | Sequence[int] | None = None) -> Array:
    """``x`` with the zero frequency moved to the middle.

    Args:
      axes: along which; None for all.

    Source: `numpy.fft.fftshift`.

    >>> jnp.fft.fftshift(jnp.arange(5))
    Array([3, 4, 0, 1, 2], dtype=int32)
    """
    return _half_turns("fftshift", x, axes, 1)


def ifftshift(x: ArrayLike, axes: int | Sequence[int] | None = None) -> Array:
    """Inverse of `fftshift`.

    Args:
      axes: along which; None for all.

    Source: `numpy.fft.ifftshift`.

    >>> jnp.fft.ifftshift(jnp.fft.fftshift(jnp.arange(5)))
    Array([0, 1, 2, 3, 4], dtype=int32)
    """
    return _half_turns("ifftshift", x, axes, -1)
