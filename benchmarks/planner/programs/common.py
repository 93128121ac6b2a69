"""What the programs share: the register, example data, and the pieces that most networks have.

A program is a function without arguments, under its name in `PROGRAMS`, that returns a function and the arguments to
compile and call it with. Data are made by NumPy, so that making them compiles nothing.
"""
from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

PROGRAMS: dict[str, Callable[[], tuple[Callable, tuple]]] = {}


def program(make: Callable[[], tuple[Callable, tuple]]) -> Callable[[], tuple[Callable, tuple]]:
    """Enter ``make`` in the register under its own name."""
    PROGRAMS[make.__name__] = make
    return make


class Data:
    """A stream of example arrays, the same in every run."""

    def __init__(self, seed: int = 0):
        self.rng = np.random.default_rng(seed)

    def normal(self, *shape: int, scale: float = 1.0) -> jax.Array:
        return jnp.asarray((self.rng.normal(size=shape) * scale).astype(np.float32))

    def weight(self, *shape: int) -> jax.Array:
        """Normal, with the variance that keeps the size of activations; the last axis is the output."""
        return self.normal(*shape, scale=1 / np.sqrt(np.prod(shape[:-1])))

    def uniform(self, *shape: int, low: float = 0.0, high: float = 1.0) -> jax.Array:
        return jnp.asarray(self.rng.uniform(low, high, shape).astype(np.float32))

    def integers(self, high: int, *shape: int) -> jax.Array:
        return jnp.asarray(self.rng.integers(0, high, shape).astype(np.int32))


def zeros(*shape: int) -> jax.Array:
    return jnp.asarray(np.zeros(shape, np.float32))


def ones(*shape: int) -> jax.Array:
    return jnp.asarray(np.ones(shape, np.float32))


def dense(p, x):
    return x @ p["w"] + p["b"]


def dense_init(data: Data, n_in: int, n_out: int) -> dict:
    return dict(w=data.weight(n_in, n_out), b=zeros(n_out))


def layer_norm(p, x):
    mean = jnp.mean(x, axis=-1, keepdims=True)
    variance = jnp.var(x, axis=-1, keepdims=True)
    return (x - mean) / jnp.sqrt(variance + 1e-5) * p["scale"] + p["shift"]


def norm_init(width: int) -> dict:
    return dict(scale=ones(width), shift=zeros(width))


def cross_entropy(logits, labels):
    """Mean over all labels of minus the log-probability of the right class."""
    log_p = jax.nn.log_softmax(logits, axis=-1)
    return -jnp.mean(jnp.take_along_axis(log_p, labels[..., None], axis=-1))


def sgd(loss, rate=0.1):
    """A training step: (params, *batch) -> (params, loss)."""
    def step(params, *batch):
        value, grads = jax.value_and_grad(loss)(params, *batch)
        return jax.tree_util.tree_map(lambda p, g: p - rate * g, params, grads), value
    return step


def clip_by_global_norm(grads, limit):
    norm = jnp.sqrt(sum(jnp.sum(jnp.square(g)) for g in jax.tree_util.tree_leaves(grads)))
    factor = jnp.minimum(1.0, limit / (norm + 1e-6))
    return jax.tree_util.tree_map(lambda g: g * factor, grads), norm


def adam_init(params):
    """First moments, second moments and the count of steps."""
    empty = lambda: jax.tree_util.tree_map(lambda p: zeros(*p.shape), params)
    return empty(), empty(), jnp.asarray(np.float32(0))


def adam_update(params, grads, state, rate=1e-3, b1=0.9, b2=0.999, decay=0.01):
    """One step of Adam with decoupled weight decay. Source: Loshchilov, Hutter, ICLR 2019."""
    first, second, count = state
    tree_map = jax.tree_util.tree_map
    count = count + 1
    first = tree_map(lambda m, g: b1 * m + (1 - b1) * g, first, grads)
    second = tree_map(lambda v, g: b2 * v + (1 - b2) * jnp.square(g), second, grads)

    def update(p, m, v):
        return p - rate * (m / (1 - b1 ** count) / (jnp.sqrt(v / (1 - b2 ** count)) + 1e-8) + decay * p)
    return tree_map(update, params, first, second), (first, second, count)


def adam(loss, limit=1.0):
    """A training step with clipping and Adam: (params, state, *batch) -> (params, state, loss, norm)."""
    def step(params, state, *batch):
        value, grads = jax.value_and_grad(loss)(params, *batch)
        grads, norm = clip_by_global_norm(grads, limit)
        params, state = adam_update(params, grads, state)
        return params, state, value, norm
    return step
