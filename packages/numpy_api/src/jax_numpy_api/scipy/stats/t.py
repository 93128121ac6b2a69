"""jax.scipy.stats.t: Student's t distribution."""
from ... import numpy as jnp
from ..special import betaln
from . import norm
from .cauchy import _log_square
from .family import Continuous


def _log_density(z, df):
    """With infinitely many degrees of freedom it is the normal distribution."""
    normal = jnp.isinf(df)
    df = jnp.where(normal, 1, df)
    some = -betaln(0.5 * df, 0.5) - 0.5 * jnp.log(df) - 0.5 * (df + 1) * _log_square(z / jnp.sqrt(df))
    return jnp.where(normal, norm.logpdf(jnp.where(normal, z, 0)), some)


pdf, logpdf = Continuous("Student's t", "df", valid=lambda df: df > 0, logpdf=_log_density).functions("pdf logpdf")
