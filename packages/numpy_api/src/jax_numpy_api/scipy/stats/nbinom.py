"""jax.scipy.stats.nbinom: the number of failures before the ``n``-th success."""
from ... import numpy as jnp
from ..special import betaln, xlog1py, xlogy
from .family import Discrete
from .saddle import log_binomial


def _logpmf(k, n, p):
    return log_binomial(n, k, p, 1 - p, -jnp.log(n + k) - betaln(n, k + 1) + xlogy(n, p) + xlog1py(k, -p), n / (n + k))


pmf, logpmf = Discrete("negative binomial", "n p", _logpmf,
                       valid=lambda n, p: (n > 0) & (p > 0) & (p <= 1)).functions()
