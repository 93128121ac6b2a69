"""jax.scipy.stats.vonmises: von Mises' distribution of angles."""
import math

from ... import numpy as jnp
from ..special import i0e
from .family import Continuous

pdf, logpdf = Continuous(
    "von Mises", "kappa", loc_scale=False, valid=lambda kappa: kappa >= 0,
    logpdf=lambda z, kappa: -2 * kappa * jnp.sin(0.5 * z) ** 2 - jnp.log(2 * math.pi * i0e(kappa)),
).functions("pdf logpdf")
