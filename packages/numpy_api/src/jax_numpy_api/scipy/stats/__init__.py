"""jax.scipy.stats: probability distributions, one module each, kernel density estimation, and a few statistics.

``family`` has what the distributions share, ``saddle`` the densities of many events, ``tails`` what is too small to be held but as a
logarithm, ``examples`` what docstrings show.
"""
from ..._lazy import names_of as _names_of

DISTRIBUTIONS = """bernoulli beta betabinom binom cauchy chi2 dirichlet expon gamma gennorm geom gumbel_l gumbel_r laplace
    logistic multinomial multivariate_normal nbinom norm pareto poisson t truncnorm uniform vonmises wrapcauchy""".split()

__getattr__, __dir__, __all__ = _names_of(
    __name__, {"kde": "gaussian_kde", "statistics": "mode rankdata sem"}, submodules=DISTRIBUTIONS)
