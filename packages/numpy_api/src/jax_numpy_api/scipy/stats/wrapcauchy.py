"""jax.scipy.stats.wrapcauchy: the wrapped Cauchy distribution of angles in [0, 2 pi]."""
import math

from ... import numpy as jnp
from .family import Continuous

pdf, logpdf = Continuous(
    "wrapped Cauchy", "c", low=0, high=2 * math.pi, inside=1.0, loc_scale=False, valid=lambda c: (c > 0) & (c < 1),
    logpdf=lambda z, c: jnp.log((1 - c) * (1 + c) / (2 * math.pi * ((1 - c) ** 2 + 4 * c * jnp.sin(0.5 * z) ** 2))),
).functions("pdf logpdf")
