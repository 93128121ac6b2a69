"""jax.scipy.stats.nbinom: the number of failures before the ``n``-th success."""
from ... import numpy as jnp
from ...lax.quotient_cpu import shared_quotient
from ..special import betaln, xlog1py, xlogy
from .binom import zero_where
from .family import Discrete
from .saddle import log_binomial


def _log_choices(k, n):
    return zero_where(k == 0, -jnp.log(n + k) - betaln(n, k + 1))


def _logpmf(k, n, p):
    few = _log_choices(k, n) + xlogy(n, p) + xlog1py(k, -p)
    finite = jnp.minimum(n, 1e30)
    return log_binomial(n, k, p, 1 - p, few, shared_quotient(finite, finite + k))


def _direct(k, n, p):
    choices = jnp.exp(jnp.minimum(_log_choices(k, n), 80.0))  # where there are more the power of 0 is 0
    return choices * p ** n * (1 - p) ** k


pmf, logpmf = Discrete("negative binomial", "n p", _logpmf,
                       valid=lambda n, p: (n > 0) & (p > 0) & (p <= 1), edge=lambda n, p: p == 1, direct=_direct).functions()
