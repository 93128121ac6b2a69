"""jax.scipy.stats.t: Student's t distribution."""
from ... import numpy as jnp
from ..special import betaln
from .cauchy import _log_square
from .family import Continuous

pdf, logpdf = Continuous(
    "Student's t", "df", valid=lambda df: df > 0,
    logpdf=lambda z, df: -betaln(0.5 * df, 0.5) - 0.5 * jnp.log(df) - 0.5 * (df + 1) * _log_square(z / jnp.sqrt(df)),
).functions("pdf logpdf")
