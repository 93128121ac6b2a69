"""jax.scipy.stats.truncnorm: the normal distribution cut off below ``a`` and above ``b`` (of the standard variable)."""
import math

from ... import numpy as jnp
from ...nn import log1mexp
from ..special import log_ndtr, ndtr
from .family import Continuous


def _log_mass(a, b):
    """``log(ndtr(b) - ndtr(a))`` for ``a <= b``: as a difference of tails on one side, of two tails from 1 around 0."""
    flip = a > 0
    a, b = jnp.where(flip, -b, a), jnp.where(flip, -a, b)
    one_sided = b <= 0
    empty, whole = a == b, a == -jnp.inf  # there is nothing to subtract from a whole tail, and the slope of it is infinite
    top, low = jnp.where(one_sided & ~empty, b, -1.0), jnp.where(one_sided & ~empty & ~whole, a, jnp.where(b < -1, b, -1.0) - 1.0)
    log_top = log_ndtr(top)
    ratio = log_ndtr(low) - log_top
    one = log_top + jnp.where(whole, 0.0, log1mexp(-ratio))
    two = jnp.log1p(-ndtr(jnp.where(one_sided, -1.0, a)) - ndtr(jnp.where(one_sided, -1.0, -b)))
    return jnp.where(empty, -jnp.inf, jnp.where(one_sided, one, two))


pdf, logpdf, cdf, logcdf, sf, logsf = Continuous(
    "truncated normal", "a b", low=lambda a, b: a, high=lambda a, b: b, inside=lambda a, b: jnp.clip(0.0, a, b),
    valid=lambda a, b: a < b,
    logpdf=lambda z, a, b: -0.5 * z * z - 0.5 * math.log(2 * math.pi) - _log_mass(a, b),
    logcdf=lambda z, a, b: _log_mass(a, z) - _log_mass(a, b), logsf=lambda z, a, b: _log_mass(z, b) - _log_mass(a, b),
    sf=lambda z, a, b: jnp.exp(_log_mass(z, b) - _log_mass(a, b)),
).functions("pdf logpdf cdf logcdf sf logsf")
