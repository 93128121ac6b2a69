"""jax.scipy.stats.pareto: the Pareto distribution on [1, inf)."""
from ... import numpy as jnp
from ...nn import log1mexp
from .family import Continuous

pdf, logpdf, cdf, logcdf, sf, logsf, ppf = Continuous(
    "Pareto", "b", low=1, inside=2.0, closed=True, valid=lambda b: b > 0, analytic="ppf",
    logpdf=lambda z, b: jnp.log(b) - (b + 1) * jnp.log(z),
    cdf=lambda z, b: -jnp.expm1(-b * jnp.log(z)), logcdf=lambda z, b: log1mexp(b * jnp.log(z)), sf=lambda z, b: z ** -b, logsf=lambda z, b: -b * jnp.log(z),
    ppf=lambda q, b: jnp.exp(-jnp.log1p(-q) / b),
).functions("pdf logpdf cdf logcdf sf logsf ppf")
