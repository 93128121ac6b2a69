"""jax.scipy.stats.gennorm: the generalised normal distribution, with density proportional to ``exp(-abs(x)**beta)``."""
import math

from ... import numpy as jnp
from ..special import gammainc, gammaincc, gammaln
from .family import Continuous


def _cdf(z, beta):
    """Where the power underflows and the chain rule multiplies 0 by infinity, ``z`` times the density at 0."""
    near = jnp.abs(z) ** beta < jnp.finfo(z.dtype).tiny
    power = jnp.where(near, 1.0, jnp.abs(z)) ** beta
    upper = 0.5 * gammaincc(1 / beta, power)
    line = 0.5 + z * (0.5 * beta * jnp.exp(-gammaln(1 / beta)))
    return jnp.where(near, line, jnp.where(z < 0, upper, 0.5 + 0.5 * gammainc(1 / beta, power)))


pdf, logpdf, cdf = Continuous(
    "generalised normal", "beta", inside=1.0, loc_scale=False, valid=lambda beta: beta > 0,
    logpdf=lambda z, beta: jnp.log(beta) - math.log(2) - gammaln(1 / beta) - jnp.abs(z) ** beta, cdf=_cdf,
).functions("pdf logpdf cdf")
