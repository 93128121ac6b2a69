"""jax.scipy.stats: probability distributions, one module each, kernel density estimation, and a few statistics."""
from __future__ import annotations

import importlib

from .._lazy import names_of as _names_of

DISTRIBUTIONS = """bernoulli beta betabinom binom cauchy chi2 dirichlet expon gamma gennorm geom gumbel_l gumbel_r laplace
    logistic multinomial multivariate_normal nbinom norm pareto poisson t truncnorm uniform vonmises wrapcauchy""".split()

_fetch, _, _names = _names_of(__name__, {"kde": "gaussian_kde", "statistics": "mode rankdata sem"})
__all__ = sorted([*DISTRIBUTIONS, *_names])


def __getattr__(name: str):
    if name in DISTRIBUTIONS:
        return importlib.import_module(f".{name}", __name__)
    return _fetch(name)


def __dir__() -> list[str]:
    return __all__
