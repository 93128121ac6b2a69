"""jax.scipy.stats.gumbel_l: Gumbel's distribution of smallest values."""
from ... import numpy as jnp
from .family import Continuous
from .gumbel_r import _logpdf, _logsf


def _grown(z):
    """``exp(z)``, up to where nothing is left of ``exp`` of less that, and its slope is finite in all dtypes."""
    return jnp.exp(jnp.minimum(z, 11.0))


pdf, logpdf, cdf, logcdf, sf, logsf, ppf = Continuous(
    "Gumbel (smallest value)",
    logpdf=lambda z: _logpdf(-z),
    edge=lambda z: z > 11, direct=lambda z: jnp.zeros_like(z),
    cdf=lambda z: -jnp.expm1(-_grown(z)), logcdf=lambda z: _logsf(-z), logsf=lambda z: -jnp.exp(z),
    sf=lambda z: jnp.exp(-_grown(z)), ppf=lambda q: jnp.log(-jnp.log1p(-q)),
).functions("pdf logpdf cdf logcdf sf logsf ppf", ppf="p")
