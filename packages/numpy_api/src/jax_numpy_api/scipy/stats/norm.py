"""jax.scipy.stats.norm: the normal distribution."""
import math

from ..special import log_ndtr, ndtr, ndtri
from .family import Continuous

pdf, logpdf, cdf, logcdf, sf, logsf, ppf, isf = Continuous(
    "normal", analytic="pdf logpdf",
    logpdf=lambda z: -0.5 * z * z - 0.5 * math.log(2 * math.pi),
    cdf=ndtr, sf=lambda z: ndtr(-z), logcdf=log_ndtr, logsf=lambda z: log_ndtr(-z), ppf=ndtri, isf=lambda q: -ndtri(q),
).functions("pdf logpdf cdf logcdf sf logsf ppf isf")
