"""Convolution and correlation of arrays, directly or by Fourier transforms."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

from jax_core.programs.jit import inlined
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike

from ... import lax, numpy as jnp
from ...numpy.promotion import as_array, canonical_axes, check_arraylike, given_axes, promote_dtypes_inexact

if TYPE_CHECKING:
    from jax_numpy_api.lax.dot import PrecisionLike

_MODES = ("full", "same", "valid")


def _operands(name: str, in1: Any, in2: Any, mode: str) -> list:
    check_arraylike(name, in1, in2)
    if mode not in _MODES:
        raise ValueError(f"{name}: mode must be one of {list(_MODES)}, got {mode!r}")
    a, b = (as_array(x) for x in promote_dtypes_inexact(in1, in2))
    if a.ndim != b.ndim:
        raise ValueError(f"{name}: in1 and in2 must have the same number of dimensions, got shapes {a.shape} and {b.shape}")
    if a.size == 0 or b.size == 0:
        raise ValueError(f"{name}: zero-size arrays are not supported, got shapes {a.shape} and {b.shape}")
    return [a, b]


def _contains(name: str, a: Any, b: Any) -> bool:
    """Whether ``a`` is at least as long as ``b`` along all axes; raises ValueError unless one of them is."""
    if all(m >= n for m, n in zip(a.shape, b.shape)):
        return True
    if all(m <= n for m, n in zip(a.shape, b.shape)):
        return False
    raise ValueError(f"{name}: for mode='valid' one input must be at least as long as the other along every axis, got shapes "
                     f"{a.shape} and {b.shape}")


def _direct(a, b, mode, precision):
    """Convolution with padding instead of a cut where not all is wanted."""
    if mode == "valid" and not all(m >= n for m, n in zip(a.shape, b.shape)):
        a, b = b, a
    pads = []
    for m, n in zip(a.shape, b.shape):
        if mode == "full":
            pads.append((n - 1, n - 1))
        elif mode == "same":  # the middle m elements of the m + n - 1
            pads.append((n - 1 - (n - 1) // 2, (n - 1) // 2))
        else:
            pads.append((0, 0))
    return _with_padding(a, b, pads, precision)


def _with_padding(a, b, pads, precision):
    if a.ndim == 0:
        return a * b
    out = lax.conv_general_dilated(a[None, None], jnp.flip(b)[None, None], (1,) * a.ndim, pads, precision=precision)
    return out[0, 0]


@inlined(static_argnums=(2, 3, 4))
def _convolve(in1, in2, mode, method, precision):
    a, b = _operands("convolve", in1, in2, mode)
    if mode == "valid":
        _contains("convolve", a, b)
    return _fftconvolve(a, b, mode, None) if method == "fft" else _direct(a, b, mode, precision)


def _check_method(name: str, method: str) -> None:
    if method not in ("auto", "direct", "fft"):
        raise ValueError(f"{name}: method must be 'auto', 'direct' or 'fft', got {method!r}")


def convolve(in1: ArrayLike, in2: ArrayLike, mode: str = "full", method: str = "auto",
             precision: PrecisionLike = None) -> Array:
    """Convolution of two arrays of the same rank.

    Args:
      mode: "full"; "same" for the middle part of the size of ``in1``; "valid" for what needs no padding.
      method: "direct", "fft", or "auto" for direct.
      precision: of the products, as for `lax.conv_general_dilated`.

    Raises:
      ValueError: ranks, modes or methods that do not fit, empty arrays.

    Source: `scipy.signal.convolve`.

    >>> jsp.signal.convolve(jnp.array([1, 2, 3]), jnp.array([1, 1]))
    Array([1., 3., 5., 3.], dtype=float32)
    """
    _check_method("convolve", method)
    return _convolve(in1, in2, mode, method, precision)


@inlined(static_argnums=(2, 3, 4))
def _correlate(in1, in2, mode, method, precision):
    a, b = _operands("correlate", in1, in2, mode)
    if mode == "valid" and not _contains("correlate", a, b):
        return jnp.flip(jnp.conj(_correlate(b, a, mode, method, precision)))
    return _convolve(a, jnp.flip(jnp.conj(b)), mode, method, precision)


def correlate(in1: ArrayLike, in2: ArrayLike, mode: str = "full", method: str = "auto",
              precision: PrecisionLike = None) -> Array:
    """Cross-correlation: convolution with the reversed conjugate of ``in2``. Arguments as for `convolve`.

    Source: `scipy.signal.correlate`.

    >>> jsp.signal.correlate(jnp.array([1., 2., 3.]), jnp.array([0., 1.]))
    Array([1., 2., 3., 0.], dtype=float32)
    """
    _check_method("correlate", method)
    return _correlate(in1, in2, mode, method, precision)


_PADDING = {"wrap": "wrap", "symm": "symmetric"}


@inlined(static_argnums=(2, 3, 5, 6))
def _two_dimensional(in1, in2, mode, boundary, fillvalue, precision, correlating):
    name = "correlate2d" if correlating else "convolve2d"
    a, b = _operands(name, in1, in2, mode)
    if a.ndim != 2:
        raise ValueError(f"{name}: inputs must have two dimensions, got shapes {a.shape} and {b.shape}")
    if mode == "valid":
        swap = not _contains(name, a, b)
        if not correlating:
            return _direct(a, b, mode, precision)
        return jnp.flip(_correlate(b, a, mode, "direct", precision)) if swap else _correlate(a, b, mode, "direct", precision)
    if correlating:
        b = jnp.flip(jnp.conj(b))
    cut = [0 if mode == "full" else n // 2 if correlating else (n - 1) // 2 for n in b.shape]  # how much of the full result is cut off in front
    widths = [(n - 1 - k, n - 1 if mode == "full" else k) for n, k in zip(b.shape, cut)]
    if boundary == "zeros":  # the convolution pads by itself, also where axes are split
        return _with_padding(a, b, widths, precision)
    if boundary == "fill":
        padded = jnp.pad(a, widths, constant_values=fillvalue)
    else:
        padded = jnp.pad(a, widths, mode=_PADDING[boundary])
    return _with_padding(padded, b, [(0, 0), (0, 0)], precision)


def _checked_boundary(name: str, boundary: str, fillvalue: object) -> str:
    if boundary not in ("fill", "wrap", "symm"):
        raise ValueError(f"{name}: boundary must be 'fill', 'wrap' or 'symm', got {boundary!r}")
    return "zeros" if boundary == "fill" and isinstance(fillvalue, (int, float)) and fillvalue == 0 else boundary


def convolve2d(in1: ArrayLike, in2: ArrayLike, mode: str = "full", boundary: str = "fill", fillvalue: float = 0,
               precision: PrecisionLike = None) -> Array:
    """Convolution of two matrices.

    Args:
      mode: as for `convolve`.
      boundary: what lies around ``in1``: "fill" (``fillvalue``), "wrap", or "symm" (its mirror image).

    Source: `scipy.signal.convolve2d`.

    >>> jsp.signal.convolve2d(jnp.ones((2, 2)), jnp.ones((2, 2)))
    Array([[1., 2., 1.],
           [2., 4., 2.],
           [1., 2., 1.]], dtype=float32)
    """
    return _two_dimensional(in1, in2, mode, _checked_boundary("convolve2d", boundary, fillvalue), fillvalue, precision, False)


def correlate2d(in1: ArrayLike, in2: ArrayLike, mode: str = "full", boundary: str = "fill", fillvalue: float = 0,
                precision: PrecisionLike = None) -> Array:
    """Cross-correlation of two matrices. Arguments as for `convolve2d`. Source: `scipy.signal.correlate2d`.

    As there, the result of "valid" with an ``in1`` that lies in ``in2`` is the conjugate of what `correlate` gives.

    >>> jax.scipy.signal.correlate2d(jnp.eye(2), jnp.ones((2, 2)), mode='valid')
    Array([[2.]], dtype=float32)
    """
    return _two_dimensional(in1, in2, mode, _checked_boundary("correlate2d", boundary, fillvalue), fillvalue, precision, True)


# -- by Fourier transforms ---------------------------------------------------------------------------------------------

@inlined(static_argnums=(2, 3))
def _fftconvolve(in1, in2, mode, axes):
    a, b = _operands("fftconvolve", in1, in2, mode)
    if a.ndim == 0:
        return a * b
    axes = canonical_axes(axes, a.ndim)
    others = [i for i in range(a.ndim) if i not in axes]
    for i in others:
        if a.shape[i] != b.shape[i] and 1 not in (a.shape[i], b.shape[i]):
            raise ValueError(f"fftconvolve: shapes {a.shape} and {b.shape} do not broadcast along axis {i}, which is not among "
                             f"axes={axes}")
    if mode == "valid":
        shapes = [tuple(x.shape[i] for i in axes) for x in (a, b)]
        if all(m < n for m, n in zip(*shapes)) or all(m <= n for m, n in zip(*shapes)):
            a, b = b, a
        elif not all(m >= n for m, n in zip(*shapes)):
            raise ValueError(f"fftconvolve: for mode='valid' one input must be at least as long as the other along every axis, "
                             f"got shapes {a.shape} and {b.shape}")
    lengths = [a.shape[i] + b.shape[i] - 1 for i in axes]
    if jnp.issubdtype(a.dtype, jnp.complexfloating):
        out = jnp.fft.ifftn(jnp.fft.fftn(a, lengths, axes) * jnp.fft.fftn(b, lengths, axes), lengths, axes)
    else:
        out = jnp.fft.irfftn(jnp.fft.rfftn(a, lengths, axes) * jnp.fft.rfftn(b, lengths, axes), lengths, axes)
    cut = [slice(None)] * a.ndim
    for i, full in zip(axes, lengths):
        size = {"full": full, "same": a.shape[i], "valid": a.shape[i] - b.shape[i] + 1}[mode]
        start = (full - size) // 2
        cut[i] = slice(start, start + size)
    return out[tuple(cut)].astype(a.dtype)


def fftconvolve(in1: ArrayLike, in2: ArrayLike, mode: str = "full", axes: Sequence[int] | None = None) -> Array:
    """Convolution by fast Fourier transforms along ``axes`` (all by default); other axes broadcast.

    Args:
      mode: as for `convolve`.

    Raises:
      ValueError: ranks, lengths or modes that do not fit, empty arrays.

    Source: `scipy.signal.fftconvolve`.

    >>> jnp.round(jsp.signal.fftconvolve(jnp.array([1., 2.]), jnp.array([1., 1.])), 3)
    Array([1.       , 3.0000002, 2.       ], dtype=float32)
    """
    return _fftconvolve(in1, in2, mode, given_axes(axes))
