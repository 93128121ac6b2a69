"""jax.scipy.stats.beta: the beta distribution on [0, 1]."""
import math

from jax_core.representation import dtypes

from ... import numpy as jnp
from ..special import betainc, betaln, xlog1py, xlogy
from .family import Continuous, power_at_end
from .saddle import log_binomial
from .tails import log_betainc


def _logpdf(z, a, b):
    few = xlogy(a - 1, z) + xlog1py(b - 1, -z) - betaln(a, b)
    return log_binomial(a - 1, b - 1, z, 1 - z, few, a + b - 1)


def _direct(z, a, b):
    most = math.log(dtypes.finfo(z.dtype).max)
    return power_at_end(z, a - 1) * power_at_end(1 - z, b - 1) * jnp.exp(jnp.minimum(-betaln(a, b), most))  # where that overflows one of the powers is 0


def _sf(z, a, b):
    """From the upper end, but near the lower one, whose distance ``1 - z`` does not hold, one less what lies below."""
    below = (z < a) & (z < 0.5) & (z * b < 4)
    value = betainc(jnp.where(below, a, b), jnp.where(below, b, a), jnp.where(below, z, 1 - z))
    return jnp.where(below, 1 - value, value)


pdf, logpdf, cdf, logcdf, sf, logsf = Continuous(
    "beta", "a b", low=0, high=1, inside=0.5, valid=lambda a, b: (a > 0) & (b > 0),
    logpdf=_logpdf, edge=lambda z, a, b: (z == 0) | (z == 1), direct=_direct,
    cdf=lambda z, a, b: betainc(a, b, z), sf=_sf,
    logcdf=lambda z, a, b: log_betainc(a, b, z, 1 - z), logsf=lambda z, a, b: log_betainc(b, a, 1 - z, z),
).functions("pdf logpdf cdf logcdf sf logsf")
