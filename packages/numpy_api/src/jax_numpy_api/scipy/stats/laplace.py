"""jax.scipy.stats.laplace: the Laplace distribution."""
import math

from ... import numpy as jnp
from .family import Continuous

pdf, logpdf, cdf = Continuous(
    "Laplace", logpdf=lambda z: -jnp.abs(z) - math.log(2),
    cdf=lambda z: jnp.where(z < 0, 0.5 * jnp.exp(-jnp.abs(z)), 1 - 0.5 * jnp.exp(-jnp.abs(z))),
).functions("pdf logpdf cdf")
