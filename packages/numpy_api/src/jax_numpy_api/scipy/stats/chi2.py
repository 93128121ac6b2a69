"""jax.scipy.stats.chi2: the chi-squared distribution."""
import math

from ..special import gammainc, gammaincc, gammaln, xlogy
from .family import Continuous, finite

pdf, logpdf, cdf, logcdf, sf, logsf = Continuous(
    "chi-squared", "df", low=0, inside=1.0, valid=lambda df: df > 0,
    logpdf=lambda z, df: xlogy(0.5 * df - 1, finite(z)) - 0.5 * z - 0.5 * math.log(2) * df - gammaln(0.5 * df),
    cdf=lambda z, df: gammainc(0.5 * df, 0.5 * z), sf=lambda z, df: gammaincc(0.5 * df, 0.5 * z),
).functions("pdf logpdf cdf logcdf sf logsf")
