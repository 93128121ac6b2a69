"""Types of `jax.scipy.stats.dirichlet`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array
from jax.typing import ArrayLike
from typing import Any

def logpdf(x: ArrayLike, alpha: ArrayLike) -> Array:
    """Logarithm of the density."""
def pdf(x: ArrayLike, alpha: ArrayLike) -> Array:
    """The density. See `logpdf`. Source: `scipy.stats.dirichlet.pdf`."""
