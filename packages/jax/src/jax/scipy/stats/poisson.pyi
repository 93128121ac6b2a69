"""Types of `jax.scipy.stats.poisson`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array
from jax.typing import ArrayLike
from typing import Any

def cdf(k: ArrayLike, mu: ArrayLike, loc: ArrayLike = 0) -> Array:
    """Distribution function of the Poisson distribution."""
def entropy(mu: ArrayLike, loc: ArrayLike = 0) -> Array:
    """Entropy of the Poisson distribution, in nats; it does not depend on ``loc``."""
def logpmf(k: ArrayLike, mu: ArrayLike, loc: ArrayLike = 0) -> Array:
    """Logarithm of the probability of the Poisson distribution."""
def pmf(k: ArrayLike, mu: ArrayLike, loc: ArrayLike = 0) -> Array:
    """Probability of the Poisson distribution."""
