"""Slopes of what reads one value many times, or adds one number many times: the cotangents are small, what is made of them need not be large."""
import numpy as np

import jax
import jax.numpy as jnp

rng = np.random.default_rng(0)
line, square = (jnp.asarray(rng.uniform(0.1, 0.9, shape), jnp.float32) for shape in ((200_000,), (447, 447)))
states = jnp.asarray(rng.normal(size=(3, 1000)), jnp.float32)


def lorenz(state):
    def step(state, _):
        x, y, z = state
        state = state + 0.01 * jnp.stack([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])
        return state, state
    return jax.lax.scan(step, state, None, length=100)[1]


def of(function):
    return jax.grad(lambda x: sum(jnp.sum(y ** 2) for y in jax.tree.leaves(function(x))))


def of_sum(function):
    return jax.grad(lambda x: jnp.sum(function(x)))


programs = {
    "cumprod": (of_sum(jnp.cumprod), (line,)), "cummax": (of_sum(jax.lax.cummax), (line,)), "repeat": (of_sum(lambda x: jnp.repeat(x, 2)), (line,)),
    "angle": (of(lambda x: jnp.arctan2(x, x[::-1])), (line,)), "unstack": (of(jnp.unstack), (square,)), "iteration": (of(list), (square,)),
    "unpacked": (of(lorenz), (states,)), "rows": (of(lambda x: [x[i] for i in range(len(x))]), (square,)),
    "columns": (of(lambda x: [x[:, i] for i in range(100)]), (square,)), "windows": (of(lambda x: [x[i:i + 5] for i in range(100)]), (square,)),
    "elements": (of(lambda x: [x[i, i] for i in range(100)]), (square,)),
}
