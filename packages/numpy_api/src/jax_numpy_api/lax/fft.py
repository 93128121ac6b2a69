"""Discrete Fourier transforms along the last axes.

Each transform is linear. Its transpose, without conjugation, is itself for complex input and output; for real input or
output it is the transform of the opposite kind, in which the frequencies that real transforms leave out count twice.

Source: StableHLO specification, `fft`.
"""
from __future__ import annotations

import enum
import math
from typing import TYPE_CHECKING, Sequence

import numpy as np

from jax_core.representation import dtypes, splits
from jax_core.representation.arguments import integers
from jax_core.representation.aval import ShapedArray
from jax_core.representation.marks import LINEAR
from jax_core.representation.primitive import Primitive
from jax_core.representation.traits import Kind, Traits
from jax_core.representation.typing import ArrayLike
from jax_core.traces.structural import moved
from jax_numpy_api import lax

if TYPE_CHECKING:
    from jax_core.representation.array import Array

_MOST_AXES = 3  # of one op


class FftType(enum.IntEnum):
    """Kinds of transforms: forward, inverse, and both for real arrays of which half the frequencies are kept."""

    FFT = 0
    IFFT = 1
    RFFT = 2
    IRFFT = 3


def _type(x, *, fft_type, fft_lengths):
    name, k = fft_type.name, len(fft_lengths)
    if k > x.ndim:
        raise ValueError(f"{name} input shape {x.shape} must have at least as many input dimensions as fft_lengths "
                         f"{fft_lengths}.")
    wants_real = fft_type == FftType.RFFT
    if wants_real and x.dtype not in (np.float32, np.float64):
        raise ValueError(f"RFFT input must be float32 or float64, got {x.dtype}")
    if not wants_real and not dtypes.issubdtype(x.dtype, np.complexfloating):
        raise ValueError(f"{name} input must be complex64 or complex128, got {x.dtype}")
    batch, last = x.shape[:x.ndim - k], x.shape[x.ndim - k:]
    half = (*fft_lengths[:-1], fft_lengths[-1] // 2 + 1) if k else ()
    if last != (half if fft_type == FftType.IRFFT else fft_lengths):
        wanted = f"{half}, those of fft_lengths {fft_lengths} with half of the last one stored" if fft_type == FftType.IRFFT else f"fft_lengths {fft_lengths}"
        raise ValueError(f"{name} input shape {x.shape} minor dimensions must be equal to {wanted}")
    if fft_type == FftType.RFFT:
        return ShapedArray((*batch, *half), np.complex64 if x.dtype == np.float32 else np.complex128)
    if fft_type == FftType.IRFFT:
        return ShapedArray((*batch, *fft_lengths), np.float32 if x.dtype == np.complex64 else np.float64)
    return ShapedArray(x.shape, x.dtype)


def _weights(n, dtype):
    """How often each kept frequency of a real transform of length ``n`` occurs in the full one."""
    weights = np.full(n // 2 + 1, 2, dtype)
    weights[0] = 1
    if n % 2 == 0:
        weights[-1] = 1
    return weights


def _transpose(ct, x, *, fft_type, fft_lengths):
    if fft_type in (FftType.FFT, FftType.IFFT):
        return fft_p.bind(ct, fft_type=fft_type, fft_lengths=fft_lengths)
    size = math.prod(fft_lengths)
    if fft_type == FftType.RFFT:
        weights = size / _weights(fft_lengths[-1], ct.dtype)
        scaled = lax.mul(lax.conj(ct), _last_axis(weights, ct))
        return fft_p.bind(scaled, fft_type=FftType.IRFFT, fft_lengths=fft_lengths)
    out = lax.conj(fft_p.bind(ct, fft_type=FftType.RFFT, fft_lengths=fft_lengths))
    return lax.mul(out, _last_axis(_weights(fft_lengths[-1], out.dtype) / size, out))


def _last_axis(v, like):
    return lax.broadcast_in_dim(v.astype(like.dtype), like.shape, (like.ndim - 1,))


def _batch(axis, args, dims, **params):
    return fft_p.bind(moved(args[0], dims[0], 0), **params), 0


def _lower(b, x, *, fft_type, fft_lengths):
    out = b.out_avals[0]
    if not fft_lengths:
        return x
    if out.size == 0 or x.aval.size == 0:
        return b.full(0, out)
    if len(fft_lengths) > _MOST_AXES:
        return b.fun(_in_parts, x, fft_type=fft_type, fft_lengths=fft_lengths)[0]
    # XLA's CPU compiler stores what collectives take and give with their axis first, and gives it so to the transform, which refuses it
    held = b.platform == "cpu" and not b.portable
    if held:
        x = b.laid_out(x, range(x.aval.ndim))
    y = b.emit(f"stablehlo.fft {x}, type = {fft_type.name}, length = {list(fft_lengths)}", x, out=out)
    return b.laid_out(y, range(out.ndim)) if held else y


def _in_parts(x, *, fft_type, fft_lengths):
    """More axes than one op takes: the last of them first (the real axis is among them), or last on the way back."""
    rest, last = fft_lengths[:-_MOST_AXES], fft_lengths[-_MOST_AXES:]
    forward = fft_type in (FftType.FFT, FftType.RFFT)
    complex_type = FftType.FFT if forward else FftType.IFFT
    rank, k = np.ndim(x), len(fft_lengths)
    order = [*range(rank - k), *range(rank - _MOST_AXES, rank), *range(rank - k, rank - _MOST_AXES)]
    back = tuple(np.argsort(order).tolist())

    def others(y: Array):
        y = fft_p.bind(lax.transpose(y, tuple(order)), fft_type=complex_type, fft_lengths=rest)
        return lax.transpose(y, back)

    def these(y: Array):
        return fft_p.bind(y, fft_type=fft_type, fft_lengths=last)
    return [these(others(x)) if fft_type == FftType.IRFFT else others(these(x))]


def _reference(x, *, fft_type, fft_lengths):
    functions = {FftType.FFT: np.fft.fftn, FftType.IFFT: np.fft.ifftn, FftType.RFFT: np.fft.rfftn,
                 FftType.IRFFT: np.fft.irfftn}
    axes = tuple(range(-len(fft_lengths), 0))
    wide = np.asarray(functions[fft_type](x, fft_lengths, axes)) if fft_lengths else np.asarray(x)
    return wide.astype(_type(ShapedArray(np.shape(x), x.dtype), fft_type=fft_type, fft_lengths=fft_lengths).dtype)


fft_p = Primitive("fft", out_type=_type, jvp=LINEAR, transpose=_transpose, batch=_batch, lower=_lower, reference=_reference,
                  splits=splits.as_first, traits=Traits(Kind.LIBRARY))


def fft(x: ArrayLike, fft_type: FftType | str, fft_lengths: Sequence[int]) -> Array:
    """Discrete Fourier transform along the last ``len(fft_lengths)`` axes.

    Args:
      x: ``[..., *lengths]``: complex for FFT and IFFT (a real array is converted), float32 or float64 for RFFT; for IRFFT
        complex, with ``length // 2 + 1`` entries on the last axis.
      fft_type: which transform. The inverse ones divide by the number of elements.
      fft_lengths: lengths of the transform.

    Raises:
      ValueError: unknown transform, or shape or dtype do not fit.

    Source: StableHLO `fft`.

    >>> lax.fft(jnp.ones(2, jnp.complex64), "FFT", (2,))
    Array([2.+0.j, 0.+0.j], dtype=complex64)
    """
    if isinstance(fft_type, str):
        try:
            fft_type = FftType[fft_type.upper()]
        except KeyError:
            raise ValueError(f"Unknown FFT type '{fft_type}'; choose one of {', '.join(FftType.__members__)}.") from None
    fft_type, fft_lengths = FftType(fft_type), integers("lax.fft: fft_lengths", fft_lengths)
    dtype = dtypes.dtype(x)
    if fft_type == FftType.RFFT:
        if dtypes.issubdtype(dtype, np.complexfloating):
            raise ValueError("only real valued inputs supported for rfft")
    elif not dtypes.issubdtype(dtype, np.complexfloating):
        x = lax.convert_element_type(x, dtypes.to_complex_dtype(dtype))
    return fft_p.bind(x, fft_type=fft_type, fft_lengths=fft_lengths)
