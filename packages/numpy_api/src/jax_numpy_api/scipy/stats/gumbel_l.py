"""jax.scipy.stats.gumbel_l: Gumbel's distribution of smallest values."""
from ... import numpy as jnp
from ...nn import log1mexp
from .family import Continuous


def _grown(z):
    """``exp(z)``, up to where nothing is left of ``exp`` of less that, and its slope is finite."""
    return jnp.exp(jnp.minimum(z, 80.0))


pdf, logpdf, cdf, logcdf, sf, logsf, ppf = Continuous(
    "Gumbel (smallest value)",
    logpdf=lambda z: jnp.where(z == jnp.inf, -jnp.inf, z - jnp.exp(z)),
    edge=lambda z: z > 80, direct=lambda z: jnp.zeros_like(z),
    cdf=lambda z: -jnp.expm1(-_grown(z)), logcdf=lambda z: log1mexp(_grown(z)), logsf=lambda z: -jnp.exp(z),
    sf=lambda z: jnp.exp(-_grown(z)), ppf=lambda q: jnp.log(-jnp.log1p(-q)),
).functions("pdf logpdf cdf logcdf sf logsf ppf", ppf="p")
