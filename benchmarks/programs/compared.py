"""Values that are compared with one of their elements, quotients of quotients, and comparisons of floats: what their forms cost (docs/internals/compiler-mistakes.md)."""
import numpy as np

import jax
import jax.numpy as jnp
from jax import lax

rng = np.random.default_rng(0)
tall, square = (tuple(jnp.asarray(rng.normal(size=shape), jnp.float32) for _ in range(2)) for shape in ((5000, 4), (1000, 1000)))


def normalised(a, b):
    return (a - jnp.mean(a, -1, keepdims=True)) * b + 0.3


def slopes_of_maxima(a, b):
    return jax.grad(lambda x: jnp.sum(jnp.max(normalised(a, b) + x, -1)))(jnp.zeros_like(a))


def largest(a, b):
    y = normalised(a, b)
    return y == jnp.max(y, -1, keepdims=True)


def above_threshold(a, b):
    y = normalised(a, b)
    return jnp.where(y >= lax.top_k(y, 3)[0][..., -1:], y, -jnp.inf)


def quotients(a, b):
    return (a / b) / (b / (jnp.abs(a) + 1)) / 3


def masks(a, b):
    return jnp.where((a >= b) & (a <= 1), a, b)


programs = {f"{f.__name__}_{name}": (f, args) for f in (slopes_of_maxima, largest, above_threshold, quotients, masks) for name, args in (("tall", tall), ("square", square))}
