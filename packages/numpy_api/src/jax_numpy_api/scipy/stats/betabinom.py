"""jax.scipy.stats.betabinom: successes in ``n`` trials whose probability has a beta distribution."""
from ..special import betaln
from .binom import log_choices
from .family import Discrete

pmf, logpmf = Discrete("beta-binomial", "n a b",
                       lambda k, n, a, b: log_choices(n, k) + betaln(k + a, n - k + b) - betaln(a, b),
                       high=lambda n, a, b: n, valid=lambda n, a, b: (n >= 0) & (a > 0) & (b > 0)).functions()
