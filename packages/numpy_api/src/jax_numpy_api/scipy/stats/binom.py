"""jax.scipy.stats.binom: the number of successes in ``n`` trials."""
from __future__ import annotations

from jax_core.representation.array import Array

from ... import lax, numpy as jnp
from ..special import betaln, xlog1py, xlogy
from .family import Discrete
from .saddle import log_binomial


def zero_where(one: Array, value: Array) -> Array:
    """The logarithm ``value``, without its rounding error where it is that of ``one``; slopes stay."""
    return value - lax.stop_gradient(jnp.where(one, value, 0.0))


def log_choices(n: Array, k: Array) -> Array:
    """``log(n! / (k! (n - k)!))``."""
    value = -jnp.log1p(n) - betaln(n - k + 1, k + 1)
    return zero_where((k == 0) | (k == n), value)


def _logpmf(k, n, p):
    return log_binomial(k, n - k, p, 1 - p, log_choices(n, k) + xlogy(k, p) + xlog1py(n - k, -p))


def _direct(k, n, p):
    return p ** k * (1 - p) ** (n - k) * jnp.exp(jnp.minimum(log_choices(n, k), 80.0))  # where there are more one of the powers is 0


pmf, logpmf = Discrete("binomial", "n p", _logpmf,
                       high=lambda n, p: n, valid=lambda n, p: (n >= 0) & (p >= 0) & (p <= 1),
                       edge=lambda n, p: (p == 0) | (p == 1), direct=_direct).functions()
