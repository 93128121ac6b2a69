"""jax.scipy.stats.uniform: the uniform distribution on [0, 1]."""
from .family import Continuous

pdf, logpdf, cdf, ppf = Continuous(
    "uniform", analytic="pdf logpdf ppf", low=0, high=1, inside=0.5, closed=True, logpdf=lambda z: 0.0 * z, cdf=lambda z: z, ppf=lambda q: q,
).functions("pdf logpdf cdf ppf")
