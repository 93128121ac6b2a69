"""Types of `jax.scipy.stats.vonmises`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array
from jax.typing import ArrayLike
from typing import Any

def logpdf(x: ArrayLike, kappa: ArrayLike) -> Array:
    """Logarithm of the density of the von Mises distribution."""
def pdf(x: ArrayLike, kappa: ArrayLike) -> Array:
    """Density of the von Mises distribution."""
