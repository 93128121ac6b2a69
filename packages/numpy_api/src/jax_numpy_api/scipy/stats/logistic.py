"""jax.scipy.stats.logistic: the logistic distribution."""
from ... import numpy as jnp
from ..special import expit, logit
from .family import Continuous

pdf, logpdf, cdf, sf, ppf, isf = Continuous(
    "logistic", analytic="pdf logpdf cdf sf ppf isf", logpdf=lambda z: -jnp.abs(z) - 2 * jnp.log1p(jnp.exp(-jnp.abs(z))),
    cdf=expit, sf=lambda z: expit(-z), ppf=logit, isf=lambda q: -logit(q),
).functions("pdf logpdf cdf sf ppf isf", ppf="x", isf="x")
