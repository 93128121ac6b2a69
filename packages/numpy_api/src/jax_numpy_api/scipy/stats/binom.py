"""jax.scipy.stats.binom: the number of successes in ``n`` trials."""
from __future__ import annotations

from jax_core.representation.array import Array

from ... import numpy as jnp
from ..special import betaln, xlog1py, xlogy
from .family import Discrete


def log_choices(n: Array, k: Array) -> Array:
    """``log(n! / (k! (n - k)!))``."""
    return -jnp.log1p(n) - betaln(n - k + 1, k + 1)


pmf, logpmf = Discrete("binomial", "n p", lambda k, n, p: log_choices(n, k) + xlogy(k, p) + xlog1py(n - k, -p),
                       high=lambda n, p: n, valid=lambda n, p: (n >= 0) & (p >= 0) & (p <= 1)).functions()
