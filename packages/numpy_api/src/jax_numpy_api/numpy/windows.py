"""Window functions for signal processing, and the modified Bessel function that one of them needs."""
from __future__ import annotations

from typing import Any

import numpy as np

from jax_core.representation import dtypes
from jax_core.representation.array import Array
from jax_core.programs.jit import inlined
from jax_core.representation.typing import ArrayLike

from .. import lax
from . import bessel
from .creation import array
from .promotion import promote_args_inexact


def _window(M: int, formula: Any) -> Array:
    """A window of ``M`` points (a fraction is cut off), computed in float64 and rounded; one point is 1."""
    M = int(M)
    dtype = dtypes.default_float_dtype()
    return array(formula(M).astype(dtype) if M > 1 else np.ones(max(M, 0), dtype))


_FEW_POINTS = 1 << 12


def _cosine(M: int, turns: int) -> np.ndarray:
    """``cos`` at ``M`` points of which the last is ``turns`` whole turns from the first.

    Of many points the sines and cosines of every 1024th are turned by those of the first 1024, a product of matrices.
    """
    step = 2 * np.pi * turns / (M - 1)
    if M <= _FEW_POINTS:
        return np.cos(step * np.arange(M))
    near, far = step * np.arange(1024), step * np.arange(0, M, 1024)
    return (np.stack([np.cos(far), -np.sin(far)], 1) @ np.stack([np.cos(near), np.sin(near)])).reshape(-1)[:M]


def bartlett(M: int) -> Array:
    """The triangle, from 0 to 1 to 0. Source: `numpy.bartlett`.

    >>> jnp.bartlett(5)
    Array([0. , 0.5, 1. , 0.5, 0. ], dtype=float32)
    """
    return _window(M, np.bartlett)


def blackman(M: int) -> Array:
    """The window of Blackman: three cosine terms. Source: `numpy.blackman`.

    >>> jnp.round(jnp.blackman(5), 3)
    Array([-0.  ,  0.34,  1.  ,  0.34, -0.  ], dtype=float32)
    """
    return _window(M, lambda m: 0.42 - 0.5 * _cosine(m, 1) + 0.08 * _cosine(m, 2))


def hamming(M: int) -> Array:
    """The window of Hamming: a raised cosine that does not reach 0. Source: `numpy.hamming`.

    >>> jnp.round(jnp.hamming(5), 3)
    Array([0.08000001, 0.54      , 1.        , 0.54      , 0.08000001],
          dtype=float32)
    """
    return _window(M, lambda m: 0.54 - 0.46 * _cosine(m, 1))


def hanning(M: int) -> Array:
    """The window of von Hann: a raised cosine. Source: `numpy.hanning`.

    >>> jnp.round(jnp.hanning(5), 3)
    Array([0. , 0.5, 1. , 0.5, 0. ], dtype=float32)
    """
    return _window(M, lambda m: 0.5 - 0.5 * _cosine(m, 1))


def kaiser(M: int, beta: ArrayLike) -> Array:
    """The window of Kaiser with shape parameter ``beta``, which may be traced. Source: `numpy.kaiser`.

    >>> jnp.round(jnp.kaiser(3, 1.), 3)
    Array([0.79, 1.  , 0.79], dtype=float32)
    """
    M = int(M)
    dtype = dtypes.default_float_dtype()
    if M <= 1:
        return array(np.ones(max(M, 0), dtype))
    alpha = 0.5 * (M - 1)
    place = np.sqrt(np.maximum(0, 1 - ((np.arange(M) - alpha) / alpha) ** 2)).astype(dtype)
    return i0(array(place) * beta) / i0(beta)


@inlined()
def i0(x: ArrayLike) -> Array:
    """Modified Bessel function of the first kind and order 0. Source: `numpy.i0`.

    Raises:
      ValueError: ``x`` is complex.

    >>> jnp.i0(1.)
    Array(1.2660658, dtype=float32, weak_type=True)
    """
    x, = promote_args_inexact("i0", x)
    if not dtypes.issubdtype(lax.dtype(x), np.floating):
        raise ValueError(f"Unsupported input type to jax.numpy.i0: {lax.dtype(x)}")
    return bessel.i0(array(x))
