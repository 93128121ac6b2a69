"""jax.scipy.stats.poisson: the Poisson distribution."""
import math

from ... import numpy as jnp
from ...numpy.promotion import convert
from ..special import entr, gammaincc, gammaln, xlogy
from .family import Discrete, nan_unless, promoted, public
from .saddle import log_poisson


def _logpmf(k, mu):
    return log_poisson(k, mu, xlogy(k, mu) - gammaln(k + 1) - mu)


pmf, logpmf = Discrete("Poisson", "mu", _logpmf, valid=lambda mu: mu >= 0,
                       edge=lambda mu: mu < 1e-30, direct=lambda k, mu: mu ** k * jnp.exp(-mu - gammaln(k + 1))).functions()


def _cdf(k, mu, loc):
    k, mu, loc = promoted("poisson.cdf", k, mu, loc)
    k = jnp.floor(k - loc)
    safe = jnp.where((k >= 0) & (k < jnp.inf), k, 0.0)
    value = gammaincc(safe + 1, mu)
    return nan_unless((mu >= 0) & ~jnp.isnan(k), jnp.where(k < 0, 0.0, jnp.where(k == jnp.inf, 1.0, value)))


cdf = public("Poisson", "cdf", ["k", "mu", "loc"], _cdf)


def _entropy(mu, loc):
    """The sum up to 80, of which near 0 two terms are left; beyond, the series in 1/mu of Evans, Boersma, "The entropy of a Poisson
    distribution", SIAM Review 30 (1988)."""
    mu, _ = jnp.broadcast_arrays(*promoted("poisson.entropy", mu, loc))
    tiny = mu <= 1e-20
    small = jnp.where((mu < 80) & ~tiny, mu, 1.0)
    logs = _logpmf(jnp.arange(200, dtype=mu.dtype).reshape(*[1] * small.ndim, 200), small[..., None])
    total = -jnp.sum(jnp.exp(logs) * jnp.where(logs == -jnp.inf, 0.0, logs), -1)
    large = jnp.where(mu < 80, 80.0, mu)
    v = 1 / large
    series = v * (1 / 12 + v * (1 / 24 + v * (19 / 360 + v * (9 / 80 + v * (863 / 2520)))))
    value = jnp.where(mu < 80, total, 0.5 * jnp.log(2 * math.pi * math.e * large) - series)
    return convert(nan_unless(mu >= 0, jnp.where(tiny, entr(jnp.where(tiny, mu, 1.0)) + mu, value)), mu.dtype)


entropy = public("Poisson", "cdf", ["mu", "loc"], _entropy)
entropy.__name__ = entropy.__qualname__ = "entropy"
entropy.__doc__ = """Entropy of the Poisson distribution, in nats; it does not depend on ``loc``.

Source: the sum of -p log p, and for large ``mu`` its asymptotic series in 1 / ``mu``.

>>> jax.scipy.stats.poisson.entropy(3.0)
Array(1.9314696, dtype=float32)
"""
