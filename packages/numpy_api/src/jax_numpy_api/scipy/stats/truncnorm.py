"""jax.scipy.stats.truncnorm: the normal distribution cut off below ``a`` and above ``b`` (of the standard variable)."""
import math

from ... import numpy as jnp
from ...nn import log1mexp
from ..special import log_ndtr, ndtr
from .family import Continuous

_NARROW = 0.1  # times 1 + the middle: from here on the terms of `_log_narrow` reach float64's precision


def _log_narrow(a, b):
    """``log(ndtr(b) - ndtr(a))`` by the mean of the density's series around the middle, in Hermite's polynomials."""
    middle, square = a + 0.5 * (b - a), jnp.square(0.5 * (b - a))
    m = jnp.square(middle)
    he = m - 1, (m - 6) * m + 3, ((m - 15) * m + 45) * m - 15, (((m - 28) * m + 210) * m - 420) * m + 105
    terms = square * (he[0] / 6 + square * (he[1] / 120 + square * (he[2] / 5040 + square * he[3] / 362880)))
    return jnp.log(b - a) - 0.5 * m - 0.5 * math.log(2 * math.pi) + jnp.log1p(terms)


def _log_mass(a, b):
    """``log(ndtr(b) - ndtr(a))`` for ``a <= b``: as a difference of tails on one side, of two tails from 1 around 0; by the middle where the
    two are close."""
    narrow = (a <= b) & ((b - a) * (1 + jnp.maximum(jnp.abs(a), jnp.abs(b))) < _NARROW)
    close = _log_narrow(jnp.where(narrow, a, 0.0), jnp.where(narrow, b, _NARROW / 2))
    return jnp.where(narrow, close, _log_apart(jnp.where(narrow, -1.0, a), jnp.where(narrow, 1.0, b)))


def _log_apart(a, b):
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


def _log_part(low, high, a, b, other_low, other_high):
    """Logarithm of the share of the mass from ``low`` to ``high``; near 1 by what the other part of the whole has."""
    whole = _log_mass(a, b)
    value, rest = _log_mass(low, high) - whole, _log_mass(other_low, other_high) - whole
    most = value > -0.5
    return jnp.where(most, jnp.log1p(-jnp.exp(jnp.where(most, rest, -1.0))), value)


pdf, logpdf, cdf, logcdf, sf, logsf = Continuous(
    "truncated normal", "a b", low=lambda a, b: a, high=lambda a, b: b, inside=lambda a, b: jnp.clip(0.0, a, b),
    valid=lambda a, b: a < b,
    logpdf=lambda z, a, b: -0.5 * z * z - 0.5 * math.log(2 * math.pi) - _log_mass(a, b),
    logcdf=lambda z, a, b: _log_part(a, z, a, b, z, b), logsf=lambda z, a, b: _log_part(z, b, a, b, a, z),
    cdf=lambda z, a, b: jnp.exp(_log_mass(a, z) - _log_mass(a, b)), sf=lambda z, a, b: jnp.exp(_log_mass(z, b) - _log_mass(a, b)),
).functions("pdf logpdf cdf logcdf sf logsf")
