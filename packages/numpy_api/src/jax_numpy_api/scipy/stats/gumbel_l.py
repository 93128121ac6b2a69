"""jax.scipy.stats.gumbel_l: Gumbel's distribution of smallest values."""
from ... import numpy as jnp
from ...nn import log1mexp
from .family import Continuous

pdf, logpdf, cdf, logcdf, sf, logsf, ppf = Continuous(
    "Gumbel (smallest value)",
    logpdf=lambda z: jnp.where(z == jnp.inf, -jnp.inf, z - jnp.exp(z)),
    cdf=lambda z: -jnp.expm1(-jnp.exp(z)), logcdf=lambda z: log1mexp(jnp.exp(z)), logsf=lambda z: -jnp.exp(z),
    sf=lambda z: jnp.exp(-jnp.exp(z)), ppf=lambda q: jnp.log(-jnp.log1p(-q)),
).functions("pdf logpdf cdf logcdf sf logsf ppf", ppf="p")
