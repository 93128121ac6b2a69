"""jax.scipy.stats.bernoulli: 1 with probability p, else 0."""
from ... import numpy as jnp
from ..special import xlog1py, xlogy
from .family import Discrete, nan_unless, promoted, public


def _valid(p):
    return (p >= 0) & (p <= 1)


pmf, logpmf = Discrete("Bernoulli", "p", lambda k, p: xlogy(k, p) + xlog1py(1 - k, -p), high=1, valid=_valid,
                       edge=lambda p: (p == 0) | (p == 1), direct=lambda k, p: p ** k * (1 - p) ** (1 - k)).functions()


def _cdf(k, p):
    k, p = promoted("bernoulli.cdf", k, p)
    ok = _valid(p) & ~jnp.isnan(k)
    return nan_unless(ok, jnp.where(((k >= 0) & (k < 1)) | ~ok, 1 - p, jnp.where(k < 0, 0.0, 1.0)))


def _ppf(q, p):
    q, p = promoted("bernoulli.ppf", q, p)
    return nan_unless(_valid(p) & (q >= 0) & (q <= 1), jnp.where(q <= 1 - p, jnp.zeros_like(q), jnp.ones_like(q)))


cdf = public("Bernoulli", "cdf", ["k", "p"], _cdf)
ppf = public("Bernoulli", "ppf", ["q", "p"], _ppf)
