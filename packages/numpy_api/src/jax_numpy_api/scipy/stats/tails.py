"""Logarithms of distribution functions that are too small to be held themselves: of the gamma and beta distributions, by continued fractions.

In a tail as far out as `_FAR` says a few levels give all digits (measured against 600 levels in 25 digits), and their slopes are right as well.

Sources: DLMF 8.9.2 (upper tail, contracted); Perron's fraction of `1F1(1; a + 1; z)` (lower tail); Didonato, Morris, "Algorithm 708", ACM
Transactions on Mathematical Software 18 (1992) (beta).
"""
from __future__ import annotations

from typing import Callable

import numpy as np

from jax_core.representation.array import Array

from ... import numpy as jnp
from ..special import betainc, betaln, gammainc, gammaincc, gammaln, xlog1py, xlogy
from .family import finite
from .saddle import log_binomial, log_poisson

_FAR = -46.0  # logarithms below belong to the tail: 1e-20


def _levels(x: Array) -> range:
    """Numbers of the levels from the last to the first."""
    return range(14 if x.dtype.itemsize == 8 else 5, 0, -1)


def _wide(*xs: Array) -> list[Array]:
    xs = tuple(jnp.broadcast_arrays(*xs))
    return [x.astype(np.float32) for x in xs] if xs[0].dtype.itemsize < 4 else list(xs)


def _joined(outside: Array, tail: Callable[..., Array], elsewhere: tuple[Array, ...], plain: Callable[..., Array], inside: tuple[Array, ...],
            args: list[Array]) -> Array:
    """``plain(*args)``, a logarithm; where the point is ``outside`` and its ``tail`` small, that. Neither is evaluated at the other's points."""
    value = tail(*[jnp.where(outside, x, y) for x, y in zip(args, elsewhere)])
    small = outside & (value < _FAR)
    return jnp.where(small, value, plain(*[jnp.where(small, y, x) for x, y in zip(args, inside)]))


def _log_poisson(z, a):
    """``log(z**a exp(-z) / gamma(a + 1))``."""
    return log_poisson(a, z, xlogy(a, finite(z)) - z - gammaln(a + 1))


def _upper_fraction(z, a):
    levels = _levels(z)
    f = z - a + (2 * levels[0] + 1)
    for k in levels:
        f = (z - a + (2 * k - 1)) + k * (a - k) / f
    return f


def _lower_fraction(z, a):
    levels = _levels(z)
    f = a - z + levels[0]
    for k in levels:
        f = (a - z + (k - 1)) + k * z / f
    return f


def log_gammaincc(a: Array, z: Array) -> Array:
    """``log(gammaincc(a, z))``, also where that underflows."""
    z, a = _wide(z, a)
    tail = lambda z, a: _log_poisson(z, a) + jnp.log(a) - jnp.log(_upper_fraction(finite(z), a))
    return _joined(z > a + 10, tail, (a + 50, a), lambda z, a: jnp.log(gammaincc(a, z)), (a, a), [z, a])


def log_gammainc(a: Array, z: Array) -> Array:
    """``log(gammainc(a, z))``, also where that underflows."""
    z, a = _wide(z, a)
    tail = lambda z, a: _log_poisson(z, a) + jnp.log(a) - jnp.log(_lower_fraction(z, a))
    return _joined(z < a, tail, (0.5 * a, a), lambda z, a: jnp.log(gammainc(a, z)), (a, a), [z, a])


def _beta_fraction(x, y, a, b):
    """``x**a y**b / (B(a, b) betainc(a, b, x))``, ``y = 1 - x``."""
    from_mean = a * y - b * x

    def step(m):
        rest = (a + m) / (a + (2 * m + 1)) * (from_mean + 1 + m * (1 + y))
        return m + m * (b - m) * (x / (a + (2 * m - 1))) + rest if m else rest  # the former is 0 / 0 for m = 0, a = 1
    levels = _levels(x)
    f = step(levels[0])
    for m in levels:
        q = x / (a + (2 * m - 1))
        f = step(m - 1) + (a + (m - 1)) * q * ((a + b + (m - 1)) * q) * (m * (b - m)) / f
    return f


def _log_smaller_side(x, y, a, b):
    """``log(betainc(a, b, x))``; beyond the mean from what lies above, which that rounds away when it is near one."""
    upper = a * y < b * x
    p = betainc(jnp.where(upper, b, a), jnp.where(upper, a, b), jnp.where(upper, y, x))
    return jnp.where(upper, jnp.log1p(-jnp.where(upper, p, 0)), jnp.log(jnp.where(upper, 1, p)))


def log_betainc(a: Array, b: Array, x: Array, y: Array) -> Array:
    """``log(betainc(a, b, x))``, ``y = 1 - x``, also where that underflows."""
    x, y, a, b = _wide(x, y, a, b)

    def tail(x, y, a, b):
        few = xlogy(a, x) + xlog1py(b, -x) - betaln(a, b)
        power = log_binomial(a, b, x, y, few, a * (b / (a + b)))  # of (a + b)! / (a! b!) it is a b / (a + b)
        return power - jnp.log(_beta_fraction(x, y, a, b))
    half = jnp.full_like(x, 0.5)
    return _joined(a * y > b * x, tail, (half, half, 3 * half, half), _log_smaller_side, (half, half, a, b), [x, y, a, b])
