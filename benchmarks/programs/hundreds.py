"""Functions of the gamma family of some hundred float32 numbers, where neither the run nor the compilation is negligible; for `interleaved.py`.

    taskset -c 1 python benchmarks/interleaved.py OURS THEIRS benchmarks/programs/hundreds.py --cpu [--mode compile]
"""
import jax.numpy as jnp
import numpy as np
from jax.scipy import special, stats

rng = np.random.default_rng(0)
programs = {}
for n in (100, 200, 1000):
    a, b = (jnp.asarray(np.abs(rng.normal(size=n)).astype(np.float32) * 5 + 0.1) for _ in range(2))
    programs |= {
        f"gammaln_{n}": (lambda a, b: special.gammaln(a), (a, b)),
        f"betaln_{n}": (lambda a, b: special.betaln(a, b), (a, b)),
        f"beta_{n}": (lambda a, b: special.beta(a, b), (a, b)),
        f"poisson_{n}": (lambda a, b: stats.poisson.logpmf(jnp.floor(a), b), (a, b)),
        f"binomial_{n}": (lambda a, b: stats.binom.pmf(jnp.floor(a), 20, b / 40), (a, b)),
        f"beta_density_{n}": (lambda a, b: stats.beta.logpdf(b / 30, a, 2.0), (a, b)),
        f"student_{n}": (lambda a, b: stats.t.logpdf(b, a), (a, b)),
    }
