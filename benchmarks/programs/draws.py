"""Random numbers, for interleaved.py: 2**24 bits, uniform and normal numbers, and a million of other distributions.

    taskset -c 0 python benchmarks/interleaved.py OURS THEIRS benchmarks/programs/draws.py --cpu

``JAX_THREEFRY_PARTITIONABLE=1`` before it tries the other layout.
"""
import jax.numpy as jnp
import numpy as np
from jax import random

k, N, M = random.PRNGKey(0), 1 << 24, 1_000_000
cov = jnp.asarray(np.eye(3, dtype=np.float32) + 0.1)
logits, vals, a = jnp.zeros((100,)), jnp.arange(M), jnp.full((M,), 2.5)

programs = {
    "bits": (lambda k: random.bits(k, (N,)), (k,)),
    "uniform": (lambda k: random.uniform(k, (N,)), (k,)),
    "normal": (lambda k: random.normal(k, (N,)), (k,)),
    "gamma": (lambda k, a: random.gamma(k, a), (k, a)),
    "gamma_scalar": (lambda k: random.gamma(k, 2.5, (M,)), (k,)),
    "beta": (lambda k: random.beta(k, 2.0, 3.0, (M,)), (k,)),
    "poisson": (lambda k: random.poisson(k, 3.0, (M,)), (k,)),
    "poisson_big": (lambda k: random.poisson(k, 50.0, (M,)), (k,)),
    "categorical": (lambda k, l: random.categorical(k, l, shape=(10000,)), (k, logits)),
    "categorical_row": (lambda k, l: random.categorical(k, l), (k, jnp.zeros((10000, 100)))),
    "permutation": (lambda k: random.permutation(k, M), (k,)),
    "choice": (lambda k, x: random.choice(k, x, (M,)), (k, vals)),
    "choice_p": (lambda k, x, p: random.choice(k, x, (M,), p=p), (k, vals[:1000], jnp.ones(1000) / 1000)),
    "choice_norep": (lambda k, x: random.choice(k, x, (M // 2,), replace=False), (k, vals)),
    "truncated_normal": (lambda k: random.truncated_normal(k, -2.0, 2.0, (M,)), (k,)),
    "exponential": (lambda k: random.exponential(k, (M,)), (k,)),
    "multivariate_normal": (lambda k, c: random.multivariate_normal(k, jnp.zeros(3), c, (M // 3,)), (k, cov)),
    "randint": (lambda k: random.randint(k, (M,), 0, 1000), (k,)),
    "bernoulli": (lambda k: random.bernoulli(k, 0.3, (M,)), (k,)),
    "gumbel": (lambda k: random.gumbel(k, (M,)), (k,)),
    "laplace": (lambda k: random.laplace(k, (M,)), (k,)),
    "cauchy": (lambda k: random.cauchy(k, (M,)), (k,)),
    "dirichlet": (lambda k: random.dirichlet(k, jnp.ones(3), (M // 3,)), (k,)),
    "student_t": (lambda k: random.t(k, 3.0, (M,)), (k,)),
    "split": (lambda k: random.split(k, M), (k,)),
    "normal_1M": (lambda k: random.normal(k, (M,)), (k,)),
    "uniform_1M": (lambda k: random.uniform(k, (M,)), (k,)),
    "normal_x3": (lambda k: random.normal(k, (M // 3, 3)), (k,)),
    "normal_x10": (lambda k: random.normal(k, (M // 10, 10)), (k,)),
    "binomial": (lambda k: random.binomial(k, 10.0, 0.3, (M,)), (k,)),
}
