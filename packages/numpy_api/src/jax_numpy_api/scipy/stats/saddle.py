"""Logarithms of densities of many events, as sums of small terms.

``log(m**x exp(-m) / x!)`` is small beside each of its terms where ``x`` is near ``m``: at a million, in float32, terms of 1e7 leave -7.8
with an error of 1. With Stirling's formula for ``x!`` it is ``-deviance(x, m) - log(2 pi x) / 2`` less a small correction, in which nothing
cancels; binomial and beta densities are made of three of these.

Source: Loader, "Fast and accurate computation of binomial probabilities" (2000); DLMF 5.11.1.
"""
from __future__ import annotations

import functools
import math
import operator

from jax_core.representation import dtypes
from jax_core.representation.array import Array

from ... import numpy as jnp
from ...lax.quotient_cpu import shared_quotient
from ...numpy.promotion import convert
from ..special import gammaln, xlogy
from ..special._series import differentiable
from ..special.gammas import _stirling_slope, _stirling_sum

LARGE = 8.0      # from here on the terms of Stirling's series reach float64's precision
_LEAST, _LIMIT = 1e-8, 1e30  # between these neither sums nor quotients overflow
_HALF_LOG_2_PI = 0.5 * math.log(2 * math.pi)


def large(*xs: Array) -> Array:
    """Where Stirling's formula holds for all ``xs``, and nothing overflows."""
    return functools.reduce(operator.and_, [(x > LARGE) & (x < _LIMIT) for x in xs])


@differentiable
def deviance(x: Array, m: Array) -> Array:
    """``x log(x / m) + m - x`` for positive numbers: how far ``x`` is from its mean ``m``."""
    gap = x - m
    v = shared_quotient(gap, x + m)
    square = v * v
    rest: Array | float = 0.0
    for k in range(17 if x.dtype.itemsize == 8 else 9, 1, -2):  # of 2 atanh(v) = log(x / m)
        rest = rest * square + 1 / k
    return jnp.where(jnp.abs(v) < 0.1, gap * v + 2 * x * v * square * rest, x * jnp.log(x / m) - gap)


@deviance.defjvp
def _deviance_jvp(primals, tangents):
    (x, m), (dx, dm) = primals, tangents
    return deviance(x, m), dx * _log_ratio(x, m) - dm * shared_quotient(x - m, m)


def _log_ratio(x, m):
    gap = shared_quotient(x - m, m)
    return jnp.where(jnp.abs(gap) < 0.1, jnp.log1p(jnp.maximum(gap, -0.5)), jnp.log(x / m))


def _sum_of(inside, tangents, slopes, few):
    """The tangent of what has these slopes inside, and is ``few`` elsewhere."""
    terms = [tangent * jnp.where(inside, slope, 0.0) for tangent, slope in zip(tangents, slopes)]
    return functools.reduce(operator.add, terms, few * jnp.where(inside, 0.0, 1.0))


def log_poisson(x: Array, m: Array, few: Array) -> Array:
    """``log(m**x exp(-m) / x!)`` by Stirling's formula where ``x`` is `large` and ``m`` neither tiny nor huge, elsewhere ``few``."""
    return _log_poisson(*jnp.broadcast_arrays(x, m, few))


def _inside_poisson(x, m):
    return large(x) & (m > _LEAST) & (m < _LIMIT), jnp.clip(x, LARGE, _LIMIT), jnp.clip(m, _LEAST, _LIMIT)


@differentiable
def _log_poisson(x, m, few):
    inside, x, m = _inside_poisson(x, m)
    return jnp.where(inside, -_stirling_sum(x) - deviance(x, m) - 0.5 * jnp.log(x) - _HALF_LOG_2_PI, few)


@_log_poisson.defjvp
def _log_poisson_jvp(primals, tangents):
    value = _log_poisson(*primals)
    inside, x, m = _inside_poisson(*primals[:2])
    slopes = _stirling_slope(x) - _log_ratio(x, m) - 0.5 / x, (x - m) / m
    return value, _sum_of(inside, tangents, slopes, tangents[2])


def log_binomial(x: Array, y: Array, p: Array, q: Array, few: Array, factor: Array | float = 1.0) -> Array:
    """``log(factor (x + y)! / (x! y!) p**x q**y)`` by Stirling's formula where ``x`` and ``y`` are `large` and ``p = 1 - q`` not at an end,
    elsewhere ``few``."""
    factor = convert(jnp.asarray(factor), dtypes.dtype(few), few.weak_type)  # numbers among the arguments leave the result weak
    return _log_binomial(*jnp.broadcast_arrays(x, y, p, q, factor, few))


def _inside_binomial(x, y, p, q, factor):
    """Where the formula holds, and arguments which it can do with."""
    return (large(x, y) & (p > _LEAST) & (q > _LEAST), jnp.clip(x, LARGE, _LIMIT), jnp.clip(y, LARGE, _LIMIT),
            jnp.maximum(p, _LEAST), jnp.maximum(q, _LEAST), jnp.maximum(factor, 1 / _LIMIT))


@differentiable
def _log_binomial(x, y, p, q, factor, few):
    inside, x, y, p, q, factor = _inside_binomial(x, y, p, q, factor)
    n = x + y
    small = _stirling_sum(n) - _stirling_sum(x) - _stirling_sum(y)
    log = jnp.log(factor / jnp.sqrt(x / n * y)) - _HALF_LOG_2_PI
    return jnp.where(inside, small - deviance(x, n * p) - deviance(y, n * q) + log, few)


@_log_binomial.defjvp
def _log_binomial_jvp(primals, tangents):
    value = _log_binomial(*primals)
    inside, x, y, p, q, factor = _inside_binomial(*primals[:5])
    n = x + y
    rest = 0.5 / n - _stirling_slope(n) + (1 - p - q)
    slopes = (rest + _stirling_slope(x) - 0.5 / x - _log_ratio(x, n * p), rest + _stirling_slope(y) - 0.5 / y - _log_ratio(y, n * q),
              (x - n * p) / p, (y - n * q) / q, 1 / factor)
    return value, _sum_of(inside, tangents, slopes, tangents[5])


def log_multinomial(x: Array, p: Array, few: Array, axis: int = -1) -> Array:
    """``log(n! / prod(x!) prod(p**x))``, ``n`` the sum of ``x`` along ``axis``: by Poisson distributions given their sum where ``n`` is
    `large`, elsewhere ``few``. Where ``p`` does not add up to 1, its rest counts ``n`` times."""
    n = jnp.sum(x, axis, keepdims=True)
    inside = large(n)
    n, x = jnp.where(inside, n, 2 * LARGE), jnp.where(inside, x, 0.0)
    each = _poisson(x, n * p)
    value = jnp.sum(each, axis) - jnp.squeeze(_poisson(n, n) - n * _excess(p, axis), axis)
    return jnp.where(jnp.squeeze(inside, axis), value, few)


def _excess(p, axis):
    """``sum(p) - 1`` of probabilities, exactly enough to count a hundred million times: the upper halves of their digits add up without
    rounding."""
    unit = 2.0 ** (26 if p.dtype.itemsize == 8 else 12)
    upper = jnp.round(p * unit) / unit
    return jnp.sum(upper, axis, keepdims=True) - 1 + jnp.sum(p - upper, axis, keepdims=True)


def _poisson(x, m):
    return log_poisson(x, m, xlogy(x, m) - gammaln(x + 1) - m)


def log_beta_binomial(x: Array, y: Array, a: Array, b: Array, few: Array) -> Array:
    """``log((x + y)! / (x! y!) B(x + a, y + b) / B(a, b))`` by Stirling's formula where all are `large`, elsewhere ``few``.

    In terms of deviances from the share ``r`` of ``x + a`` in all; the powers of ``r`` and ``1 - r`` cancel.
    """
    inside = large(x, y, a, b)
    x, y, a, b = (jnp.clip(z, LARGE, _LIMIT) for z in (x, y, a, b))
    n, s = x + y, a + b
    r, rest = (x + a) / (n + s), (y + b) / (n + s)
    far = deviance(x, n * r) + deviance(y, n * rest) + deviance(a, s * r) + deviance(b, s * rest)
    small = sum(_stirling_sum(z) for z in (n, x + a, y + b, s)) - sum(_stirling_sum(z) for z in (x, y, n + s, a, b))
    log = jnp.log(jnp.sqrt(n / x * (a / (x + a))) * jnp.sqrt(b / (y + b) * ((n + s) / y)) / jnp.sqrt(s)) - _HALF_LOG_2_PI
    return jnp.where(inside, small - far + log, few)
