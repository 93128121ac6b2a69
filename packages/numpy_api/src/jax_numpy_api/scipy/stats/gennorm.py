"""jax.scipy.stats.gennorm: the generalised normal distribution, with density proportional to ``exp(-abs(x)**beta)``."""
import math

from ... import numpy as jnp
from ..special import gammainc, gammaincc, gammaln
from .family import Continuous


def _cdf(z, beta):
    power = jnp.abs(z) ** beta
    upper = 0.5 * gammaincc(1 / beta, power)
    return jnp.where(z < 0, upper, 0.5 + 0.5 * gammainc(1 / beta, power))


pdf, logpdf, cdf = Continuous(
    "generalised normal", "beta", inside=1.0, loc_scale=False, valid=lambda beta: beta > 0,
    logpdf=lambda z, beta: jnp.log(beta) - math.log(2) - gammaln(1 / beta) - jnp.abs(z) ** beta, cdf=_cdf,
).functions("pdf logpdf cdf")
