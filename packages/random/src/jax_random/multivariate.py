"""Distributions of vectors and matrices that need linear algebra: multivariate normal, random orthogonal matrices."""
from __future__ import annotations

import operator

import numpy as np

from jax_core.programs.jit import inlined
from jax_core.representation import dtypes
from jax_core.representation.array import Array
from jax_core.representation.tracebacks import api_boundary
from jax_core.representation.typing import ArrayLike, DTypeLike, Placement, Shape
from jax_numpy_api import lax, numpy as jnp

from .checks import batch_shape, check_array, check_dtype, check_shape, key_words, run
from .normals import draw_normal
from .uniforms import broadcast_to, convert

_METHODS = ("svd", "eigh", "cholesky")


def _factor(cov, method):
    """A matrix ``f`` with ``f @ f.T == cov``."""
    if method == "cholesky":
        return jnp.linalg.cholesky(cov)
    if method == "eigh":
        values, vectors = jnp.linalg.eigh(cov)
    else:
        vectors, values, _ = jnp.linalg.svd(cov)
    return lax.mul(vectors, broadcast_to(jnp.sqrt(values[..., None, :]), vectors.shape))


@inlined(static_argnames=("impl", "shape", "dtype", "method"))
def _multivariate_normal(words, mean, cov, *, impl, shape, dtype, method):
    mean, cov = convert(mean, dtype), convert(cov, dtype)
    normal = draw_normal(words, impl, shape + mean.shape[-1:], dtype)
    return lax.add(broadcast_to(mean, normal.shape), jnp.einsum("...ij,...j->...i", _factor(cov, method), normal))


@api_boundary
def multivariate_normal(key: ArrayLike, mean: ArrayLike, cov: ArrayLike, shape: Shape | None = None,
                        dtype: DTypeLike | None = None, method: str = "cholesky", *,
                        out_sharding: Placement | None = None) -> Array:
    """Independent samples of the multivariate normal distribution.

    Args:
      key: one key.
      mean: ``[..., n]``.
      cov: positive semi-definite matrices ``[..., n, n]``; "cholesky" needs them definite.
      shape: of the batch of samples, default the batch shapes of ``mean`` and ``cov`` together.
      dtype: float; default float32, or float64 where x64 is enabled.
      method: how the matrix is factored: "cholesky" (fastest), "eigh", "svd" (most robust).
      out_sharding: placement of the result.

    Returns:
      ``dtype[*shape, n]``.

    Raises:
      ValueError: another method; shapes that do not fit; dtype is not a float.

    Source: a factor of ``cov`` times normal numbers: Devroye, "Non-uniform random variate generation", 1986.

    >>> jax.random.multivariate_normal(jax.random.key(0), jnp.zeros(2), jnp.eye(2), (5,)).shape
    (5, 2)
    """
    name = "multivariate_normal"
    words, impl = key_words(name, key)
    dtype = _promoted_dtype(name, dtype, mean, cov)
    if method not in _METHODS:
        raise ValueError(f"{name}: method must be one of {{'svd', 'eigh', 'cholesky'}}, got {method!r}")
    mean, cov = check_array(name, "mean", mean), check_array(name, "cov", cov)
    mean_shape, cov_shape = np.shape(mean), np.shape(cov)
    if not mean_shape:
        raise ValueError(f"{name} requires mean.ndim >= 1, got mean.ndim == 0")
    if len(cov_shape) < 2:
        raise ValueError(f"{name} requires cov.ndim >= 2, got cov.ndim == {len(cov_shape)}")
    n = mean_shape[-1]
    if cov_shape[-2:] != (n, n):
        raise ValueError(f"{name} requires cov.shape == (..., n, n) for n={n}, but got cov.shape == {cov_shape}.")
    shape = batch_shape(name, shape, mean_shape[:-1], cov_shape[:-2])
    return run(_multivariate_normal, out_sharding, words, mean, cov, impl=impl, shape=shape, dtype=dtype, method=method)


def _promoted_dtype(name, dtype, *params):
    if dtype is None:
        return dtypes.to_inexact_dtype(dtypes.result_type(*(check_array(name, "parameter", p) for p in params)))
    return check_dtype(name, dtype)


# -- orthogonal --------------------------------------------------------------------------------------------------------

@inlined(static_argnames=("impl", "shape", "dtype", "n", "m"))
def _orthogonal(words, *, impl, shape, dtype, n, m):
    """The orthogonal factor of a normal matrix, with signs such that the triangular one has a positive diagonal."""
    tall, wide = max(n, m), min(n, m)
    q, r = jnp.linalg.qr(draw_normal(words, impl, (*shape, tall, wide), dtype))
    diagonal = jnp.diagonal(r, axis1=-2, axis2=-1)
    q = q * lax.expand_dims(lax.sign(diagonal), (len(shape),))
    return q if n >= m else jnp.swapaxes(jnp.conj(q), -2, -1)


@api_boundary
def orthogonal(key: ArrayLike, n: int, shape: Shape = (), dtype: DTypeLike | None = None, m: int | None = None, *,
               out_sharding: Placement | None = None) -> Array:
    """Independent matrices, uniformly distributed among the orthogonal (for complex dtypes, unitary) ones.

    Args:
      key: one key.
      n: number of rows.
      shape: of the batch of matrices.
      dtype: float or complex; default float32, or float64 where x64 is enabled.
      m: number of columns, default ``n``. Of rectangular matrices, the columns are orthonormal if they are fewer, else the
        rows.
      out_sharding: placement of the result.

    Returns:
      ``dtype[*shape, n, m]``.

    Raises:
      ValueError: a negative size; dtype neither float nor complex. TypeError: a size that is not an integer.

    Source: Mezzadri, "How to generate random matrices from the classical compact groups", 2007.

    >>> q = jax.random.orthogonal(jax.random.key(0), 3)
    >>> jnp.allclose(q @ q.T, jnp.eye(3), atol=1e-5)
    Array(True, dtype=bool)
    """
    words, impl = key_words("orthogonal", key)
    shape = check_shape("orthogonal", shape)
    dtype = check_dtype("orthogonal", dtype, "inexact")
    sizes = []
    for what, size in (("n", n), ("m", n if m is None else m)):
        try:
            sizes.append(operator.index(size))
        except TypeError as error:
            raise TypeError(f"orthogonal: {what} must be an integer, got {size!r}") from error
        if sizes[-1] < 0:
            raise ValueError(f"orthogonal: {what}={size} is negative; sizes must be at least 0")
    if 0 in sizes:
        return jnp.zeros((*shape, *sizes), dtype)
    return run(_orthogonal, out_sharding, words, impl=impl, shape=shape, dtype=dtype, n=sizes[0], m=sizes[1])
