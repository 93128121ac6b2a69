"""Bessel functions: modified ones of order 0 and 1, and those of the first kind of all orders up to a given one.

Sources: DLMF 10.6.1, 10.12.4 (Miller's backward recurrence).
"""
from __future__ import annotations

import functools
import itertools

import numpy as np

from jax_core.representation.arguments import integer
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike
from jax_core.transformations.custom_jvp import custom_jvp

from ... import lax, numpy as jnp
from ...numpy import bessel
from ...numpy.promotion import convert, promote_args_inexact
from ._series import inlined, wide

_UNROLL = 5  # steps of the recurrence in one kernel; up to so many last ones are written out


@inlined
def i0e(x: ArrayLike) -> Array:
    """``exp(-|x|) * I0(x)``. Source: `scipy.special.i0e`.

    >>> jsp.special.i0e(1.)
    Array(0.4657596, dtype=float32, weak_type=True)
    """
    return lax.bessel_i0e(*promote_args_inexact("i0e", x))


@inlined
def i0(x: ArrayLike) -> Array:
    """The modified Bessel function of order 0. Source: `scipy.special.i0`.

    >>> jsp.special.i0(1.)
    Array(1.2660658, dtype=float32, weak_type=True)
    """
    (x,), dtype = wide("i0", x, kept=True)
    return convert(bessel.i0(x), dtype)


@inlined
def i1e(x: ArrayLike) -> Array:
    """``exp(-|x|) * I1(x)``. Source: `scipy.special.i1e`.

    >>> jsp.special.i1e(1.)
    Array(0.20791042, dtype=float32, weak_type=True)
    """
    return lax.bessel_i1e(*promote_args_inexact("i1e", x))


@inlined
def i1(x: ArrayLike) -> Array:
    """The modified Bessel function of order 1. Source: `scipy.special.i1`.

    >>> jsp.special.i1(1.)
    Array(0.5651591, dtype=float32, weak_type=True)
    """
    (x,), dtype = wide("i1", x, kept=True)
    return convert(bessel.i1(x), dtype)


def bessel_jn(z: ArrayLike, *, v: int, n_iter: int = 50) -> Array:
    """Bessel functions of the first kind of orders 0 to ``v``, stacked along a new first axis.

    Args:
      z: real points.
      v: the largest order, a known whole number.
      n_iter: order where the backward recurrence starts, larger than ``v`` and by some tens larger than ``|z|``; the result is NaN
        where ``|z|`` is larger.

    Raises:
      ValueError: ``n_iter`` not above ``v``, or ``z`` complex.

    Source: DLMF 10.6.1, 10.12.4 (Miller's backward recurrence).

    >>> jax.scipy.special.bessel_jn(jnp.array([1.5]), v=1)
    Array([[0.5118277],
           [0.5579365]], dtype=float32)
    """
    v, n_iter = integer("bessel_jn: v", v), integer("bessel_jn: n_iter", n_iter)
    if v < 0 or n_iter <= v:
        raise ValueError(f"bessel_jn: needs 0 <= v < n_iter, got v={v} and n_iter={n_iter}")
    (z,) = promote_args_inexact("bessel_jn", jnp.asarray(z))
    if jnp.issubdtype(z.dtype, jnp.complexfloating):
        raise ValueError(f"bessel_jn: z must be real, got {z.dtype}")
    return _bessel_jn(z, v, n_iter)


@functools.partial(custom_jvp, nondiff_argnums=(1, 2))
@inlined(static_argnums=(1, 2))
def _bessel_jn(z, v, n_iter):
    """Backwards ``J[k-1] = (2 k/z) J[k] - J[k+1]`` from an arbitrary start, then scaled by ``J0 + 2 J2 + 2 J4 + ... = 1``.

    A loop, as fifty steps written out take CUDA's compiler minutes; in float32 at least, as the start and the quotients leave narrower ranges. Where
    ``|z|`` is so small that even theirs would be left, three terms of the power series.
    """
    (x,), dtype = wide("bessel_jn", z)
    small = jnp.abs(x) < 0.01
    inverse = 1 / jnp.where(small, 1.0, jnp.where(jnp.abs(x) > n_iter, np.nan, x))

    def step(carry, k):
        above, here, total = carry
        total = total + jnp.where(k % 2 == 0, 2 * here, 0)
        below = 2 * k.astype(x.dtype) * inverse * here - above
        factor = jnp.where(jnp.abs(below) > 1e10, jnp.asarray(1e-10, x.dtype), 1)
        return (here * factor, below * factor, total * factor), (here, factor)
    start = jnp.zeros_like(x), jnp.full_like(x, 1e-30), jnp.zeros_like(x)
    carry, _ = lax.scan(lambda carry, k: (step(carry, k)[0], None), start, np.arange(n_iter, v, -1, np.int32), unroll=_UNROLL)
    if v <= _UNROLL:
        rows: list[Array] = []
        for k in range(v, 0, -1):
            carry, (here, factor) = step(carry, np.int32(k))
            rows = [row * factor for row in [*rows, here]]
        found = jnp.stack([carry[1], *reversed(rows)])
    else:
        carry, (stacked, factors) = lax.scan(step, carry, np.arange(v, 0, -1, np.int32), unroll=_UNROLL)
        found = jnp.concatenate([carry[1][None], (stacked * lax.cumprod(factors, 0, reverse=True))[::-1]])  # as scaled as the last of them
    return convert(jnp.where(small[None], _power_series(x, v), found / (carry[2] + carry[1])[None]), dtype)


def _power_series(x, v):
    """Three terms of the power series of each order (DLMF 10.2.2)."""
    half = x / 2
    if v <= _UNROLL:
        first = jnp.stack([*itertools.accumulate(range(1, v + 1), lambda power, k: power * (half / k), initial=jnp.ones_like(x))])
    else:
        divisors = np.arange(1, v + 1, dtype=x.dtype).reshape(v, *[1] * x.ndim)
        first = lax.cumprod(jnp.concatenate([jnp.ones_like(x)[None], half[None] / divisors]), 0)  # (x/2)^k / k!
    order, square = np.arange(v + 1, dtype=x.dtype).reshape(v + 1, *[1] * x.ndim), (half ** 2)[None]
    return first * (1 - square / (order + 1) * (1 - square / (2 * (order + 2))))


@_bessel_jn.defjvp
def _bessel_jn_jvp(v, n_iter, primals, tangents):
    """``(J[k-1] - J[k+1]) / 2``, and ``J[-1] = -J[1]``: the recurrence's own derivative cancels for small ``z``."""
    z, (t,) = jnp.asarray(primals[0]), tangents
    values = _bessel_jn(z, v + 1, max(n_iter, v + 2))
    below = jnp.concatenate([-values[1:2], values[:v]])
    return values[:v + 1], 0.5 * (below - values[1:]) * t[None]
