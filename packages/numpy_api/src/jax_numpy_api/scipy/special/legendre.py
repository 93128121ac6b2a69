"""Associated Legendre functions and spherical harmonics.

All come from normalised functions, whose recurrence neither overflows nor loses digits for high degrees.

Source: DLMF 14.10.3, 14.30.1; Holmes, Featherstone, "A unified approach to the Clenshaw summation and the recursive
computation of very high degree and order normalised associated Legendre functions", J. Geodesy 76 (2002).
"""
from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from jax_core.programs.jit import inlined
from jax_core.representation import dtypes
from jax_core.representation.arguments import integer
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike
from jax_core.transformations.autodiff import jvp

from ... import lax, numpy as jnp
from ...numpy.promotion import check_arraylike, concrete, promote_args_inexact


def _normalised(n_max, x):
    """``{(m, n): sqrt((2n+1)/(4 pi) (n-m)!/(n+m)!) P_n^m(x)}`` for 0 <= m <= n <= n_max, with the phase (-1)**m."""
    root = jnp.sqrt((1 - x) * (1 + x))
    out = {(0, 0): jnp.full_like(x, 1 / math.sqrt(4 * math.pi))}
    for m in range(n_max + 1):
        if m:
            out[m, m] = -math.sqrt((2 * m + 1) / (2 * m)) * root * out[m - 1, m - 1]
        for n in range(m + 1, n_max + 1):
            up = math.sqrt((2 * n + 1) * (2 * n - 1) / ((n - m) * (n + m)))
            term = up * x * out[m, n - 1]
            if n > m + 1:
                back = math.sqrt((2 * n + 1) * (n + m - 1) * (n - m - 1) / ((2 * n - 3) * (n - m) * (n + m)))
                term = term - back * out[m, n - 2]
            out[m, n] = term
    return out


def _orders(name: str, m: Any, n: Any) -> int:
    m, n = operator.index(m), operator.index(n)
    if m != n:
        raise NotImplementedError(f"{name}: computations for m != n are not supported, got m={m} and n={n}")
    if n < 0:
        raise ValueError(f"{name}: degree and order must not be negative, got {n}")
    return n


@inlined(static_argnums=(0, 2))
def _table(n, x, normalised):
    (x,) = promote_args_inexact("lpmn_values", x)
    x = jnp.asarray(x)
    found = _normalised(n, x)
    zero = jnp.zeros_like(x)

    def factor(m: int, k: int):
        return 1.0 if normalised else math.sqrt(4 * math.pi / (2 * k + 1) * math.factorial(k + m) / math.factorial(k - m))
    return jnp.stack([jnp.stack([found[m, k] * factor(m, k) if m <= k else zero for k in range(n + 1)])
                      for m in range(n + 1)])


def lpmn_values(m: int, n: int, z: ArrayLike, is_normalized: bool) -> Array:
    """Associated Legendre functions of the first kind at ``z``: order is the first axis, degree the second.

    Args:
      m, n: largest order and degree, equal and known.
      z: vector of points in [-1, 1].
      is_normalized: as they occur in spherical harmonics, so that their squares have integral 1 over the sphere.

    Raises:
      NotImplementedError: ``m`` and ``n`` differ.
      ValueError: ``z`` is not a vector.

    Source: DLMF 14.10.3.

    >>> jax.scipy.special.lpmn_values(1, 1, jnp.array([0.5]), False)[:, :, 0]
    Array([[ 1.0000001 ,  0.50000006],
           [ 0.        , -0.8660255 ]], dtype=float32)
    """
    degree = _orders("lpmn_values", m, n)
    if np.ndim(z) != 1:
        raise ValueError(f"lpmn_values: z must be one-dimensional, got shape {np.shape(z)}")
    return _table(degree, z, bool(is_normalized))


def lpmn(m: int, n: int, z: ArrayLike) -> tuple[Array, Array]:
    """Associated Legendre functions of the first kind at ``z``, and their derivatives in ``z``. See `lpmn_values`.

    The derivative is ``((n + m) P[m, n-1] - n z P[m, n]) / (1 - z**2)`` (DLMF 14.10.5).

    Raises:
      ValueError: ``z`` is not a vector.
      NotImplementedError: ``m`` and ``n`` differ.

    >>> values, slopes = jax.scipy.special.lpmn(1, 1, jnp.array([0.5]))
    >>> values[:, :, 0], slopes[:, :, 0]
    (Array([[ 1.0000001 ,  0.50000006],
           [ 0.        , -0.8660255 ]], dtype=float32), Array([[0.       , 1.0000002],
           [0.       , 0.5773504]], dtype=float32))
    """
    degree = _orders("lpmn", m, n)
    if np.ndim(z) != 1:
        raise ValueError(f"lpmn: z must be one-dimensional, got shape {np.shape(z)}")
    return _table(degree, z, False), _slopes(degree, z)


@inlined(static_argnums=(0,))
def _slopes(degree, z):
    (z,) = promote_args_inexact("lpmn", z)
    z = jnp.asarray(z)
    p = _table(degree, z, False)
    z = jnp.broadcast_to(z, p.shape)
    order, k = (lax.broadcasted_iota(p.dtype, p.shape, i) for i in (0, 1))
    lower = jnp.pad(p, ((0, 0), (1, 0), (0, 0)))[:, :-1]
    return jnp.where(k >= order, ((k + order) * lower - k * z * p) / (1 - z * z), 0).astype(p.dtype)


def sph_harm_y(n: ArrayLike, m: ArrayLike, theta: ArrayLike, phi: ArrayLike, diff_n: int | None = None,
               n_max: int | None = None) -> Array | tuple[Array, ...]:
    """Spherical harmonics ``Y_n^m`` at polar angle ``theta`` and azimuth ``phi``, complex.

    Args:
      n: degrees, whole numbers not below 0.
      m: orders, whole numbers, ``|m| <= n``.
      theta, phi: angles, one for each degree and order (they are broadcast).
      diff_n: 1 or 2 for the derivatives in ``(theta, phi)`` of first, or first and second order.
      n_max: the largest degree; must be given where ``n`` is traced.

    Returns:
      the values; with ``diff_n`` a tuple of them, the gradients ``(..., 2)`` and the Hessians ``(..., 2, 2)``.

    Raises:
      ValueError: ``n`` is traced and ``n_max`` is missing, or another ``diff_n``. TypeError: ``n`` or ``m`` is not of an integer dtype.

    Source: `scipy.special.sph_harm_y`.

    >>> jax.scipy.special.sph_harm_y(jnp.array([1]), jnp.array([0]), jnp.array([0.5]), jnp.array([0.0]))
    Array([0.42878905+0.j], dtype=complex64)
    """
    if diff_n not in (None, 0, 1, 2):
        raise ValueError(f"sph_harm_y: diff_n must be None, 0, 1 or 2, got {diff_n!r}")
    check_arraylike("sph_harm_y", n, m)
    for what, x in (("n", n), ("m", m)):
        if not dtypes.issubdtype(dtypes.dtype(x), np.integer):
            raise TypeError(f"sph_harm_y: {what} takes whole numbers, got {dtypes.dtype(x)}")
    if n_max is None:
        known = concrete(n)
        if known is None:
            raise ValueError("sph_harm_y: the degree n is traced; give its upper bound n_max")
        n_max = int(np.max(known, initial=0))
    n_max = integer("sph_harm: n_max", n_max)
    if not diff_n:
        value = _sph_harm(n, m, theta, phi, n_max)
        return value if diff_n is None else (value,)
    theta, phi = jnp.broadcast_arrays(*promote_args_inexact("sph_harm_y", theta, phi))
    return _derivatives(lambda t, p: _sph_harm(n, m, t, p, n_max), (theta, phi), diff_n)


def _derivatives(fun, point, order):
    """An elementwise function at ``point``, its gradient along a new last axis, and so on up to ``order``."""
    def gradient(*point):
        ones, zeros = jnp.ones_like(point[0]), jnp.zeros_like(point[0])
        along = [jvp(fun, point, tuple(ones if i == j else zeros for j in range(2)))[1] for i in range(2)]
        return jnp.stack(along, -1)
    if order == 1:
        return fun(*point), gradient(*point)
    ones, zeros = jnp.ones_like(point[0]), jnp.zeros_like(point[0])
    hessian = [jvp(gradient, point, tuple(ones if i == j else zeros for j in range(2)))[1] for i in range(2)]
    return fun(*point), gradient(*point), jnp.stack(hessian, -2)


@inlined(static_argnums=(4,))
def _sph_harm(n, m, theta, phi, n_max):
    theta, phi = promote_args_inexact("sph_harm_y", theta, phi)
    n, m, theta, phi = jnp.broadcast_arrays(jnp.asarray(n), jnp.asarray(m), theta, phi)
    table = _normalised(n_max, jnp.cos(theta))
    order = jnp.abs(m)
    value = jnp.zeros_like(theta)
    for (a, b), p in table.items():
        value = jnp.where((order == a) & (n == b), p, value)
    sign = jnp.where((m < 0) & (order % 2 == 1), -1.0, 1.0).astype(theta.dtype)
    angle = order.astype(phi.dtype) * phi
    angle = jnp.where(m < 0, -angle, angle)
    size = sign * value
    return lax.complex(size * jnp.cos(angle), size * jnp.sin(angle))
