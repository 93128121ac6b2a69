"""jax.scipy.stats.expon: the exponential distribution."""
from ... import numpy as jnp
from ...nn import log1mexp
from .family import Continuous

pdf, logpdf, cdf, logcdf, sf, logsf, ppf = Continuous(
    "exponential", low=0, inside=1.0, closed=True, analytic="ppf",
    logpdf=lambda z: -z, cdf=lambda z: -jnp.expm1(-z), sf=lambda z: jnp.exp(-z), logsf=lambda z: -z,
    logcdf=log1mexp, ppf=lambda q: -jnp.log1p(-q),
).functions("pdf logpdf cdf logcdf sf logsf ppf")
