"""jax.scipy.stats.gennorm: the generalised normal distribution, with density proportional to ``exp(-abs(x)**beta)``."""
import math

from ... import numpy as jnp
from ..special import gammainc, gammaincc, gammaln
from .family import Continuous


def _far(z, beta):
    """Where ``exp`` of less the power is 0, and the power may overflow."""
    return jnp.abs(z) ** beta > 1e4


def _cdf(z, beta):
    """Where the power underflows and the chain rule multiplies 0 by infinity, ``z`` times the density at 0."""
    near, far = jnp.abs(z) ** beta < jnp.finfo(z.dtype).tiny, _far(z, beta)
    power = jnp.where(near | far, 1.0, jnp.abs(z)) ** beta
    upper = 0.5 * gammaincc(1 / beta, power)
    line = 0.5 + z * (0.5 * beta * jnp.exp(-gammaln(1 / beta)))
    return jnp.where(near, line, jnp.where(far, 0.5 + 0.5 * jnp.sign(z), jnp.where(z < 0, upper, 0.5 + 0.5 * gammainc(1 / beta, power))))


pdf, logpdf, cdf = Continuous(
    "generalised normal", "beta", inside=1.0, loc_scale=False, valid=lambda beta: beta > 0,
    logpdf=lambda z, beta: jnp.log(beta) - math.log(2) - gammaln(1 / beta) - jnp.abs(z) ** beta, cdf=_cdf,
    edge=_far, direct=lambda z, beta: jnp.zeros_like(z),
).functions("pdf logpdf cdf")
