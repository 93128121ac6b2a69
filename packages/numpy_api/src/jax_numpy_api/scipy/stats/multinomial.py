"""jax.scipy.stats.multinomial: counts of several outcomes in ``n`` trials."""
from __future__ import annotations


import numpy as np

from jax_core.representation import dtypes
from jax_core.representation.array import Array
from jax_core.programs.jit import inlined
from jax_core.representation.typing import ArrayLike

from ... import numpy as jnp
from ...numpy.promotion import promote_args_inexact
from ..special import gammaln, xlogy
from .family import nan_unless


@inlined
def logpmf(x: ArrayLike, n: ArrayLike, p: ArrayLike) -> Array:
    """Logarithm of the probability of counts ``x`` (last axis) in ``n`` trials of probabilities ``p``; -inf where the counts
    do not add up to ``n``.

    Source: `scipy.stats.multinomial.logpmf`.

    >>> jax.scipy.stats.multinomial.logpmf(jnp.array([2, 3]), 5, jnp.array([0.4, 0.6]))
    Array(-1.0624728, dtype=float32)
    """
    if dtypes.issubdtype(dtypes.dtype(x), np.integer):  # counts take the dtype of the probabilities
        (p,) = promote_args_inexact("multinomial.logpmf", p)
        x = jnp.asarray(x, dtypes.dtype(p))
    else:
        x, p = promote_args_inexact("multinomial.logpmf", x, p)
    n = jnp.asarray(n, x.dtype)
    inside = jnp.all((x >= 0) & (x == jnp.floor(x)), -1) & (jnp.sum(x, -1) == n)
    safe = jnp.where((x >= 0), x, 0.0)
    value = gammaln(n + 1) + jnp.sum(xlogy(safe, p) - gammaln(safe + 1), -1)
    return nan_unless(~jnp.any(jnp.isnan(x), -1), jnp.where(inside, value, -np.inf)).astype(x.dtype)


@inlined
def pmf(x: ArrayLike, n: ArrayLike, p: ArrayLike) -> Array:
    """Probability of counts ``x``. See `logpmf`. Source: `scipy.stats.multinomial.pmf`.

    >>> jax.scipy.stats.multinomial.pmf(jnp.array([2, 3]), 5, jnp.array([0.4, 0.6]))
    Array(0.34560016, dtype=float32)
    """
    return jnp.exp(logpmf(x, n, p))
