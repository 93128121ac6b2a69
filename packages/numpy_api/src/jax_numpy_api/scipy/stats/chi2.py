"""jax.scipy.stats.chi2: the chi-squared distribution."""
import math

from ... import numpy as jnp
from ..special import gammainc, gammaincc, gammaln, xlogy
from .family import Continuous, finite, power_at_end
from .saddle import log_poisson
from .tails import log_gammainc, log_gammaincc


def _few(z, df):
    return xlogy(0.5 * df - 1, finite(0.5 * z)) - 0.5 * z - gammaln(0.5 * df)


pdf, logpdf, cdf, logcdf, sf, logsf = Continuous(
    "chi-squared", "df", low=0, inside=1.0, valid=lambda df: df > 0,
    logpdf=lambda z, df: log_poisson(0.5 * df - 1, 0.5 * z, _few(z, df)) - math.log(2),
    edge=lambda z, df: z == 0,
    direct=lambda z, df: 0.5 * power_at_end(0.5 * z, 0.5 * df - 1) * jnp.exp(-0.5 * z - gammaln(0.5 * df)),
    cdf=lambda z, df: gammainc(0.5 * df, 0.5 * z), sf=lambda z, df: gammaincc(0.5 * df, 0.5 * z),
    logcdf=lambda z, df: log_gammainc(0.5 * df, 0.5 * z), logsf=lambda z, df: log_gammaincc(0.5 * df, 0.5 * z),
).functions("pdf logpdf cdf logcdf sf logsf")
