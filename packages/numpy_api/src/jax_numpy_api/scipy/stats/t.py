"""jax.scipy.stats.t: Student's t distribution."""
from ... import numpy as jnp
from ..special import betaln
from .family import Continuous

pdf, logpdf = Continuous(
    "Student's t", "df", valid=lambda df: df > 0,
    logpdf=lambda z, df: -betaln(0.5 * df, 0.5) - 0.5 * jnp.log(df) - 0.5 * (df + 1) * jnp.log1p(z * z / df),
).functions("pdf logpdf")
