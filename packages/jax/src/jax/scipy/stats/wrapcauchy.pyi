"""Types of `jax.scipy.stats.wrapcauchy`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array
from jax.typing import ArrayLike
from typing import Any

def logpdf(x: ArrayLike, c: ArrayLike) -> Array:
    """Logarithm of the density of the wrapped Cauchy distribution."""
def pdf(x: ArrayLike, c: ArrayLike) -> Array:
    """Density of the wrapped Cauchy distribution."""
