"""jax.scipy.stats.vonmises: von Mises' distribution of angles."""
import math

from ... import numpy as jnp
from ..special import i0, i0e
from .family import Continuous


def _logpdf(z, kappa):
    """Scaled by ``exp(kappa)``, but for small ``kappa``: the scaled Bessel function has a kink at 0."""
    small = kappa < 1
    near, far = jnp.where(small, kappa, 0.5), jnp.where(small, 1.0, kappa)
    sine = jnp.sin(0.5 * z)
    scaled = -(far * sine) * (2 * sine) - jnp.log(i0e(far))  # twice the largest kappa would be infinite
    return jnp.where(small, near * jnp.cos(z) - jnp.log(i0(near)), scaled) - math.log(2 * math.pi)


pdf, logpdf = Continuous("von Mises", "kappa", loc_scale=False, valid=lambda kappa: kappa >= 0, logpdf=_logpdf).functions("pdf logpdf")
