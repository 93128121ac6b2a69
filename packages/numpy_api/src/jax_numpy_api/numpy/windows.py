"""Window functions for signal processing, and the modified Bessel function that one of them needs."""
from __future__ import annotations

from typing import Any, Callable

import numpy as np

from jax_core.programs.jit import inlined
from jax_core.representation import dtypes
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike

from .. import lax
from . import bessel
from .creation import array
from .promotion import evaluating, promote_args_inexact

_FEW_POINTS = 1 << 14


def _window(M: int, formula: Callable) -> Array:
    """A symmetric window of ``M`` points (a fraction is cut off); one point is 1. ``formula(place, sin)`` is its value at a part of the way,
    0 to 1/2. Of few points it is computed in float64 and rounded."""
    M = int(M)
    dtype = dtypes.default_float_dtype()
    if M <= 1:
        return array(np.ones(max(M, 0), dtype))
    if M > _FEW_POINTS and evaluating():
        return _window_compiled(M, formula, dtype)
    return array(formula(_nearer_end(np.arange(M), np.minimum) / (M - 1), np.sin).astype(dtype))


@inlined(static_argnums=(0, 1, 2))
def _window_compiled(M: int, formula: Callable, dtype: np.dtype) -> Array:
    steps = lax.convert_element_type(_nearer_end(lax.iota(np.int32, M), lax.min), dtype)
    return formula(lax.div(steps, dtype.type(M - 1)), lax.sin)


def _nearer_end(n: Any, minimum: Callable) -> Any:
    return minimum(n, n.shape[0] - 1 - n)


def _bartlett(place: Any, sin: Callable) -> Any:
    return 2 * place


# A raised cosine is the square of a sine, which is exact near 0 too.

def _hanning(place: Any, sin: Callable) -> Any:
    half = sin(place * np.pi)
    return half * half


def _hamming(place: Any, sin: Callable) -> Any:
    return 0.08 + 0.92 * _hanning(place, sin)


def _blackman(place: Any, sin: Callable) -> Any:
    s = _hanning(place, sin)
    return s * (0.36 + 0.64 * s)


def bartlett(M: int) -> Array:
    """The triangle, from 0 to 1 to 0. Source: `numpy.bartlett`.

    >>> jnp.bartlett(5)
    Array([0. , 0.5, 1. , 0.5, 0. ], dtype=float32)
    """
    return _window(M, _bartlett)


def blackman(M: int) -> Array:
    """The window of Blackman: three cosine terms. Source: `numpy.blackman`.

    >>> jnp.round(jnp.blackman(5), 3)
    Array([0.  , 0.34, 1.  , 0.34, 0.  ], dtype=float32)
    """
    return _window(M, _blackman)


def hamming(M: int) -> Array:
    """The window of Hamming: a raised cosine that does not reach 0. Source: `numpy.hamming`.

    >>> jnp.round(jnp.hamming(5), 3)
    Array([0.08000001, 0.54      , 1.        , 0.54      , 0.08000001],
          dtype=float32)
    """
    return _window(M, _hamming)


def hanning(M: int) -> Array:
    """The window of von Hann: a raised cosine. Source: `numpy.hanning`.

    >>> jnp.round(jnp.hanning(5), 3)
    Array([0. , 0.5, 1. , 0.5, 0. ], dtype=float32)
    """
    return _window(M, _hanning)


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
    x = array(x)
    return bessel.i0(x.astype(np.float32)).astype(x.dtype) if x.dtype.itemsize < 4 else bessel.i0(x)
