"""jax.scipy.stats.geom: the number of trials up to the first success, from 1."""
from ... import numpy as jnp
from ..special import xlog1py
from .family import Discrete

pmf, logpmf = Discrete("geometric", "p", lambda k, p: xlog1py(k - 1, -p) + jnp.log(p), low=1,
                       valid=lambda p: (p > 0) & (p <= 1), edge=lambda p: p == 1, direct=lambda k, p: p * (1 - p) ** (k - 1)).functions()
