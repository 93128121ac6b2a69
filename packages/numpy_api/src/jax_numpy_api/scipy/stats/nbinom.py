"""jax.scipy.stats.nbinom: the number of failures before the ``n``-th success."""
from ... import numpy as jnp
from ..special import betaln, xlog1py, xlogy
from .family import Discrete

pmf, logpmf = Discrete("negative binomial", "n p",
                       lambda k, n, p: -jnp.log(n + k) - betaln(n, k + 1) + xlogy(n, p) + xlog1py(k, -p),
                       valid=lambda n, p: (n > 0) & (p > 0) & (p <= 1)).functions()
