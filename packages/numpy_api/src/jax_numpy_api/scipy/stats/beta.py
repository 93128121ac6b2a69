"""jax.scipy.stats.beta: the beta distribution on [0, 1]."""
from ..special import betainc, betaln, xlog1py, xlogy
from .family import Continuous

pdf, logpdf, cdf, logcdf, sf, logsf = Continuous(
    "beta", "a b", low=0, high=1, inside=0.5, valid=lambda a, b: (a > 0) & (b > 0),
    logpdf=lambda z, a, b: xlogy(a - 1, z) + xlog1py(b - 1, -z) - betaln(a, b),
    cdf=lambda z, a, b: betainc(a, b, z), sf=lambda z, a, b: betainc(b, a, 1 - z),
).functions("pdf logpdf cdf logcdf sf logsf")
