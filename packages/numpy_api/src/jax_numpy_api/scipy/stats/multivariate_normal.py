"""jax.scipy.stats.multivariate_normal: the normal distribution of vectors."""
from __future__ import annotations

import math

from jax_core.programs.jit import inlined
from jax_core.representation.arguments import joint_shape
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike

from ... import lax, numpy as jnp
from ...numpy.promotion import check_arraylike, promote_dtypes_inexact


def logpdf(x: ArrayLike, mean: ArrayLike, cov: ArrayLike, allow_singular: None = None) -> Array:
    """Logarithm of the density, by the Cholesky factor of the covariance.

    Args:
      x: points ``(..., n)``. mean: ``(..., n)`` or a number.
      cov: covariance ``(..., n, n)``, or a number: that variance in each direction.
      allow_singular: must be None.

    Returns:
      the broadcast batch shape. NaN where ``cov`` is not positive definite.

    Raises:
      NotImplementedError: ``allow_singular`` is given. ValueError: shapes that do not fit.

    Source: `scipy.stats.multivariate_normal.logpdf`.

    >>> jax.scipy.stats.multivariate_normal.logpdf(jnp.zeros(2), jnp.ones(2), jnp.eye(2))
    Array(-2.837877, dtype=float32)
    """
    if allow_singular is not None:
        raise NotImplementedError("multivariate_normal.logpdf: allow_singular is not supported; add a small multiple of the "
                                  "identity to cov")
    return _logpdf(x, mean, cov)


@inlined
def _logpdf(x, mean, cov):
    check_arraylike("multivariate_normal.logpdf", x, mean, cov)
    x, mean, cov = map(jnp.asarray, promote_dtypes_inexact(x, mean, cov))
    if not mean.ndim:  # independent coordinates, or a single one
        if cov.ndim:
            raise ValueError(f"multivariate_normal.logpdf: cov must be a number as mean is one, got shape {cov.shape}")
        return -0.5 * jnp.square(x - mean) / cov - 0.5 * (math.log(2 * math.pi) + jnp.log(cov))
    n = mean.shape[-1]
    y = x - jnp.broadcast_to(mean, jnp.broadcast_shapes(x.shape, mean.shape))
    if not cov.ndim:
        return -0.5 * (jnp.sum(y * y, -1) / cov + n * (math.log(2 * math.pi) + jnp.log(cov)))
    if cov.ndim < 2 or cov.shape[-2:] != (n, n):
        raise ValueError(f"multivariate_normal.logpdf: mean of shape {mean.shape} needs cov of shape (..., {n}, {n}), got "
                         f"{cov.shape}")
    factor = lax.linalg.cholesky(cov)
    batch = joint_shape(y.shape[:-1], cov.shape[:-2])
    whitened = lax.linalg.triangular_solve(jnp.broadcast_to(factor, (*batch, n, n)), jnp.broadcast_to(y, (*batch, n))[..., None],
                                           left_side=True, lower=True)[..., 0]
    log_root = jnp.sum(jnp.log(jnp.diagonal(factor, axis1=-2, axis2=-1)), -1)
    return -0.5 * jnp.sum(whitened * whitened, -1) - 0.5 * n * math.log(2 * math.pi) - log_root


def pdf(x: ArrayLike, mean: ArrayLike, cov: ArrayLike) -> Array:
    """The density. See `logpdf`. Source: `scipy.stats.multivariate_normal.pdf`.

    >>> jax.scipy.stats.multivariate_normal.pdf(jnp.zeros(2), jnp.ones(2), jnp.eye(2))
    Array(0.05854983, dtype=float32)
    """
    return jnp.exp(_logpdf(x, mean, cov))
