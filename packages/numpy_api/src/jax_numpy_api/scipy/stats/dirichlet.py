"""jax.scipy.stats.dirichlet: the Dirichlet distribution on the simplex."""
from __future__ import annotations

import numpy as np

from jax_core.programs.jit import inlined
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike

from ... import numpy as jnp
from ...numpy.promotion import check_arraylike, promote_dtypes_inexact
from ..special import gammaln, xlogy
from .family import nan_unless
from .saddle import large, log_multinomial


@inlined
def logpdf(x: ArrayLike, alpha: ArrayLike) -> Array:
    """Logarithm of the density.

    Args:
      x: points of the simplex along the FIRST axis, ``(k, ...)``, or ``(k - 1, ...)`` with the last coordinate left out.
      alpha: positive parameters ``(k,)``.

    Returns:
      an array of shape ``x.shape[1:]``, -inf outside of the simplex.

    Raises:
      ValueError: shapes that do not fit.

    Source: `scipy.stats.dirichlet.logpdf`.

    >>> jax.scipy.stats.dirichlet.logpdf(jnp.array([0.3, 0.7]), jnp.array([2.0, 3.0]))
    Array(0.56758463, dtype=float32)
    """
    check_arraylike("dirichlet.logpdf", x, alpha)
    x, alpha = map(jnp.asarray, promote_dtypes_inexact(x, alpha))
    if alpha.ndim != 1 or x.ndim < 1 or x.shape[0] not in (alpha.shape[0], alpha.shape[0] - 1):
        raise ValueError(f"dirichlet.logpdf: needs alpha of shape (k,) and x of shape (k, ...) or (k - 1, ...), got "
                         f"{alpha.shape} and {x.shape}")
    if x.shape[0] != alpha.shape[0]:
        x = jnp.concatenate([x, 1 - jnp.sum(x, 0, keepdims=True)])
    inside = jnp.all((x >= 0) & (x <= 1), 0) & (jnp.abs(jnp.sum(x, 0) - 1) < 1e-6)
    column = alpha.reshape(alpha.shape + (1,) * (x.ndim - 1))
    safe = jnp.where(inside, x, 1 / max(alpha.shape[0], 1))
    value = jnp.sum(xlogy(column - 1, safe), 0) + gammaln(jnp.sum(alpha)) - jnp.sum(gammaln(alpha))
    positive = jnp.where(safe > 0, safe, 1.0)  # as the density of counts alpha with probabilities x
    many = log_multinomial(column, positive, value, 0) + jnp.sum(jnp.log(column / positive), 0) - jnp.log(jnp.sum(alpha))
    value = jnp.where(large(jnp.sum(alpha)) & jnp.all(safe > 0, 0), many, value)
    return nan_unless(~jnp.any(jnp.isnan(x), 0), jnp.where(inside, value, -np.inf))


@inlined
def pdf(x: ArrayLike, alpha: ArrayLike) -> Array:
    """The density. See `logpdf`. Source: `scipy.stats.dirichlet.pdf`.

    >>> jax.scipy.stats.dirichlet.pdf(jnp.array([0.3, 0.7]), jnp.array([2.0, 3.0]))
    Array(1.7640011, dtype=float32)
    """
    return jnp.exp(logpdf(x, alpha))
