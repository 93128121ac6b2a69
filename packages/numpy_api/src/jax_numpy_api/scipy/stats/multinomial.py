"""jax.scipy.stats.multinomial: counts of several outcomes in ``n`` trials."""
from __future__ import annotations

import numpy as np

from jax_core.programs.jit import inlined
from jax_core.representation import dtypes
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike

from ... import numpy as jnp
from ...numpy.promotion import check_arraylike, promote_args_inexact
from ..special import gammaln, xlogy
from .saddle import log_multinomial


@inlined
def logpmf(x: ArrayLike, n: ArrayLike, p: ArrayLike) -> Array:
    """Logarithm of the probability of counts ``x`` (last axis) in ``n`` trials of probabilities ``p``; -inf where the counts
    do not add up to ``n``.

    Raises:
      ValueError: ``x`` or ``n`` is not of an integer dtype.

    Source: `scipy.stats.multinomial.logpmf`.

    >>> jax.scipy.stats.multinomial.logpmf(jnp.array([2, 3]), 5, jnp.array([0.4, 0.6]))
    Array(-1.0624728, dtype=float32)
    """
    check_arraylike("multinomial.logpmf", x, n, p)
    for name, counts in (("x", x), ("n", n)):
        if dtypes.dtype(counts).kind not in "biu":
            raise ValueError(f"jax.scipy.stats.multinomial.logpmf: {name} counts, so it must be of an integer dtype, got "
                             f"{dtypes.dtype(counts).name}; convert it with astype(int).")
    (p,) = promote_args_inexact("multinomial.logpmf", p)
    x = jnp.asarray(x, dtypes.dtype(p))  # counts take the dtype of the probabilities
    n = jnp.asarray(n, x.dtype)
    inside = jnp.all(x >= 0, -1) & (jnp.sum(x, -1) == n)
    safe = jnp.where((x >= 0), x, 0.0)
    value = log_multinomial(safe, p, gammaln(n + 1) + jnp.sum(xlogy(safe, p) - gammaln(safe + 1), -1))
    return jnp.where(inside, value, -np.inf).astype(x.dtype)


@inlined
def pmf(x: ArrayLike, n: ArrayLike, p: ArrayLike) -> Array:
    """Probability of counts ``x``. See `logpmf`. Source: `scipy.stats.multinomial.pmf`.

    >>> jax.scipy.stats.multinomial.pmf(jnp.array([2, 3]), 5, jnp.array([0.4, 0.6]))
    Array(0.34560016, dtype=float32)
    """
    return jnp.exp(logpmf(x, n, p))
