"""Quotients by few numbers, and distances to the largest of products: what their forms cost (docs/internals/compiler-mistakes.md)."""
import numpy as np

import jax
import jax.numpy as jnp
from jax import lax, nn

rng = np.random.default_rng(0)
large, small = (jnp.asarray(rng.normal(size=shape), jnp.float32) for shape in ((1000, 1000), (30, 40)))
queries = jnp.asarray(rng.normal(size=(2, 128, 4, 32)), jnp.float32)
scale = jnp.float32(0.3)


def sinkhorn(x):
    def step(_, p):
        p = p / p.sum(1, keepdims=True)
        return p / p.sum(0)
    return lax.fori_loop(0, 30, step, jnp.exp(x))


def slope(f):
    return jax.grad(lambda x, t: jnp.sum(jnp.sin(f(x, t))))


of_both = {  # function of an array and a scale
    "by_maximum": lambda x, t: x / x.max(),
    "by_number": lambda x, t: x / t,
    "by_norms": lambda x, t: x / jnp.linalg.norm(x, axis=1, keepdims=True),
    "by_deviations": lambda x, t: x / x.std(0),
    "softmax": lambda x, t: nn.softmax(x),
    "softmax_of_product": lambda x, t: nn.softmax(x * t),
    "log_softmax_of_product": lambda x, t: nn.log_softmax(x * t),
    "logsumexp_of_product": lambda x, t: nn.logsumexp(x * t, 1),
    "slope_of_softmax_of_product": slope(lambda x, t: nn.softmax(x * t)),
}
programs = {f"{name}_{size}": (f, (x, scale)) for name, f in of_both.items() for size, x in (("large", large), ("small", small))}
programs |= {"sinkhorn": (sinkhorn, (small,)), "attention": (lambda q: nn.dot_product_attention(q, q, q), (queries,)),
             "slope_of_attention": (jax.grad(lambda q: jnp.sum(jnp.sin(nn.dot_product_attention(q, q, q)))), (queries,))}
