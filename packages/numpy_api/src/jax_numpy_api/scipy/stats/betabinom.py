"""jax.scipy.stats.betabinom: successes in ``n`` trials whose probability has a beta distribution."""
from ... import numpy as jnp
from ...lax.incomplete import _lgamma_gap
from ..special import betaln
from .family import Discrete
from .saddle import log_beta_binomial

_SERIES = 20.0  # from here on `_lgamma_gap` holds


def _part(x, a):
    """``log(gamma(x + 1) gamma(a) / gamma(x + a))``."""
    return jnp.where(x == 0, 0.0, betaln(x + 1, a) + jnp.log(x + a))  # exactly, as rounding would leave 1e-6


def _few(k, n, a, b):
    """As three beta functions, none of which is large where ``a`` and ``b`` are small. Where on one side both numbers are beyond the other
    side's, two of them are, and nearly alike: there by ratios of gamma functions whose arguments are the other side's numbers apart."""
    swapped = jnp.minimum(k, a) > jnp.minimum(n - k, b)
    x, y = jnp.where(swapped, n - k, k), jnp.where(swapped, k, n - k)
    a, b = jnp.where(swapped, b, a), jnp.where(swapped, a, b)
    least = jnp.minimum(y, b)
    many = (least >= _SERIES) & (x + a < least)
    x0, y0, a0, b0 = (jnp.where(many, z, 2 * _SERIES) for z in (x, y, a, b))
    ratios = _lgamma_gap(x0 + a0, y0 + b0) - _lgamma_gap(x0, y0 + 1) - _lgamma_gap(a0, b0)
    return jnp.where(many, ratios, _part(n, a + b) - _part(y, b)) - _part(x, a)


pmf, logpmf = Discrete("beta-binomial", "n a b",
                       lambda k, n, a, b: log_beta_binomial(k, n - k, a, b, _few(k, n, a, b)),
                       high=lambda n, a, b: n, valid=lambda n, a, b: (n >= 0) & (a > 0) & (b > 0)).functions()
