"""jax.scipy.stats.gamma: the gamma distribution."""
from ... import numpy as jnp
from ..special import gammainc, gammaincc, gammaln, xlogy
from .family import Continuous, finite, power_at_end
from .saddle import log_poisson
from .tails import log_gammainc, log_gammaincc

pdf, logpdf, cdf, logcdf, sf, logsf = Continuous(
    "gamma", "a", low=0, inside=1.0, valid=lambda a: a > 0,
    logpdf=lambda z, a: log_poisson(a - 1, z, xlogy(a - 1, finite(z)) - z - gammaln(a)),
    edge=lambda z, a: z == 0, direct=lambda z, a: power_at_end(z, a - 1) * jnp.exp(-z - gammaln(a)),
    cdf=lambda z, a: gammainc(a, z), sf=lambda z, a: gammaincc(a, z),
    logcdf=lambda z, a: log_gammainc(a, z), logsf=lambda z, a: log_gammaincc(a, z),
).functions("pdf logpdf cdf logcdf sf logsf")
