"""jax.scipy.stats.cauchy: the Cauchy distribution. Both tails are angles of ``(z, 1)``, which keeps their digits."""
import math

from ... import numpy as jnp
from .family import Continuous


def _cotangent(q):
    return jnp.sin(math.pi * (0.5 - q)) / jnp.sin(math.pi * q)  # a cosine, and 0 in the middle


pdf, logpdf, cdf, logcdf, sf, logsf, ppf, isf = Continuous(
    "Cauchy", analytic="pdf logpdf cdf logcdf sf logsf ppf isf",
    logpdf=lambda z: -math.log(math.pi) - jnp.log1p(z * z),
    cdf=lambda z: jnp.arctan2(1.0, -z) / math.pi, sf=lambda z: jnp.arctan2(1.0, z) / math.pi,
    ppf=lambda q: jnp.where(q == 1, jnp.inf, -_cotangent(q)), isf=lambda q: jnp.where(q == 1, -jnp.inf, _cotangent(q)),
).functions("pdf logpdf cdf logcdf sf logsf ppf isf")
