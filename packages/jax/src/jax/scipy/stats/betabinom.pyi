"""Types of `jax.scipy.stats.betabinom`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array
from jax.typing import ArrayLike
from typing import Any

def logpmf(k: ArrayLike, n: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0) -> Array:
    """Logarithm of the probability of the beta-binomial distribution."""
def pmf(k: ArrayLike, n: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0) -> Array:
    """Probability of the beta-binomial distribution."""
