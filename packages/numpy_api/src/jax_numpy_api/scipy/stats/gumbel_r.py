"""jax.scipy.stats.gumbel_r: Gumbel's distribution of largest values."""
from ... import numpy as jnp
from ...nn import log1mexp
from .family import Continuous

pdf, logpdf, cdf, logcdf, sf, logsf, ppf = Continuous(
    "Gumbel (largest value)",
    logpdf=lambda z: jnp.where(z == -jnp.inf, -jnp.inf, -z - jnp.exp(-z)),
    logcdf=lambda z: -jnp.exp(-z), sf=lambda z: -jnp.expm1(-jnp.exp(-z)), logsf=lambda z: log1mexp(jnp.exp(-z)),
    ppf=lambda q: -jnp.log(-jnp.log(q)),
).functions("pdf logpdf cdf logcdf sf logsf ppf", ppf="p")
