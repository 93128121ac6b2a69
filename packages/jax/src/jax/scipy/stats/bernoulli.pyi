"""Types of `jax.scipy.stats.bernoulli`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array
from jax.typing import ArrayLike
from typing import Any

def cdf(k: ArrayLike, p: ArrayLike) -> Array:
    """Distribution function of the Bernoulli distribution."""
def logpmf(k: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Array:
    """Logarithm of the probability of the Bernoulli distribution."""
def pmf(k: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Array:
    """Probability of the Bernoulli distribution."""
def ppf(q: ArrayLike, p: ArrayLike) -> Array:
    """Quantile: inverse of the distribution function of the Bernoulli distribution."""
