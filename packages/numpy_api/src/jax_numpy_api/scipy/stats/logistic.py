"""jax.scipy.stats.logistic: the logistic distribution."""
from ... import numpy as jnp
from ..special import expit, logit
from .family import Continuous


def _logpdf(z):
    size = jnp.where(jnp.real(z) < 0, -z, z) if jnp.iscomplexobj(z) else jnp.abs(z)  # the density is even
    return -size - 2 * jnp.log1p(jnp.exp(-size))


pdf, logpdf, cdf, sf, ppf, isf = Continuous(
    "logistic", analytic="pdf logpdf cdf sf ppf isf", logpdf=_logpdf,
    cdf=expit, sf=lambda z: expit(-z), ppf=logit, isf=lambda q: -logit(q),
).functions("pdf logpdf cdf sf ppf isf", ppf="x", isf="x")
