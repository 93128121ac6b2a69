"""Types of `jax.scipy.stats.multivariate_normal`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array
from jax.typing import ArrayLike
from typing import Any

def logpdf(x: ArrayLike, mean: ArrayLike, cov: ArrayLike, allow_singular: None = None) -> Array:
    """Logarithm of the density, by the Cholesky factor of the covariance."""
def pdf(x: ArrayLike, mean: ArrayLike, cov: ArrayLike) -> Array:
    """The density. See `logpdf`. Source: `scipy.stats.multivariate_normal.pdf`."""
