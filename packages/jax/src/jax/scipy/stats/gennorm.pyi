"""Types of `jax.scipy.stats.gennorm`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array
from jax.typing import ArrayLike
from typing import Any

def cdf(x: ArrayLike, beta: ArrayLike) -> Array:
    """Distribution function of the generalised normal distribution."""
def logpdf(x: ArrayLike, beta: ArrayLike) -> Array:
    """Logarithm of the density of the generalised normal distribution."""
def pdf(x: ArrayLike, beta: ArrayLike) -> Array:
    """Density of the generalised normal distribution."""
