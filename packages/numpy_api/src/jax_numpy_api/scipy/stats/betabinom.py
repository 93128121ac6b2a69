"""jax.scipy.stats.betabinom: successes in ``n`` trials whose probability has a beta distribution."""
from ... import numpy as jnp
from ..special import betaln
from .family import Discrete
from .saddle import log_beta_binomial


def _few(k, n, a, b):
    """As three beta functions, none of which is large where ``a`` and ``b`` are small."""
    def part(x, a):
        return jnp.where(x == 0, 0.0, betaln(x + 1, a) + jnp.log(x + a))  # exactly, as rounding would leave 1e-6
    return part(n, a + b) - part(k, a) - part(n - k, b)


pmf, logpmf = Discrete("beta-binomial", "n a b",
                       lambda k, n, a, b: log_beta_binomial(k, n - k, a, b, _few(k, n, a, b)),
                       high=lambda n, a, b: n, valid=lambda n, a, b: (n >= 0) & (a > 0) & (b > 0)).functions()
