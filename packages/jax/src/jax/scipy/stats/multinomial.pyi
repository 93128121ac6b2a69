"""Types of `jax.scipy.stats.multinomial`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array
from jax.typing import ArrayLike
from typing import Any

def logpmf(x: ArrayLike, n: ArrayLike, p: ArrayLike) -> Array:
    """Logarithm of the probability of counts ``x`` (last axis) in ``n`` trials of probabilities ``p``; -inf where the counts do not add up to ``n``."""
def pmf(x: ArrayLike, n: ArrayLike, p: ArrayLike) -> Array:
    """Probability of counts ``x``. See `logpmf`. Source: `scipy.stats.multinomial.pmf`."""
