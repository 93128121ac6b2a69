"""jax.scipy.stats.gumbel_r: Gumbel's distribution of largest values."""
from ... import numpy as jnp
from ...nn import log1mexp
from .family import Continuous


def _left(z):
    """``exp(-z)``, up to where nothing is left of ``exp`` of less that, and its slope is finite in all dtypes."""
    return jnp.exp(-jnp.maximum(z, -11.0))


def _logpdf(z):
    end = z < -1e4  # infinity less infinity, and near it XLA's fused steps overflow too late; the slope is that of the larger term
    inner = jnp.where(end, 0.0, z)
    return jnp.where(end, -jnp.exp(-jnp.where(end, z, 0.0)), -inner - jnp.exp(-inner))


def _logsf(z):
    """Far out, where ``exp(-z)`` may be no number any more, two terms of its series."""
    far = z > 20
    return jnp.where(far, -z - 0.5 * jnp.exp(-jnp.where(far, z, 20.0)), log1mexp(_left(jnp.where(far, 20.0, z))))


pdf, logpdf, cdf, logcdf, sf, logsf, ppf = Continuous(
    "Gumbel (largest value)",
    logpdf=_logpdf,
    edge=lambda z: z < -11, direct=lambda z: jnp.zeros_like(z), cdf=lambda z: jnp.exp(-_left(z)),
    logcdf=lambda z: -jnp.exp(-z), sf=lambda z: -jnp.expm1(-_left(z)), logsf=_logsf,
    ppf=lambda q: -jnp.log(-jnp.log(q)),
).functions("pdf logpdf cdf logcdf sf logsf ppf", ppf="p")
