"""Chains `x = f(x) + reduction(x)` of several depths, and updates of many leaves: what a planner exists for.

The stacks of layer norms come in several depths, so that the time to compile can be held against their length.
"""
from __future__ import annotations

import jax
import jax.numpy as jnp

from .common import (Data, PROGRAMS, adam_init, adam_update, clip_by_global_norm, layer_norm, norm_init, program)


def select_chain(depth: int):
    """``depth`` rounds of where, clip, square and mean on 512x512, with gradient."""
    def f(x):
        for _ in range(depth):
            x = jnp.where(x > 0, x, 0.1 * x)
            x = jnp.clip(x, -3.0, 3.0)
            x = x + 0.05 * jnp.square(x) - jnp.mean(x)
        return jnp.sum(jnp.square(x))
    return jax.grad(f), (Data(80).normal(512, 512),)


def layer_norm_stack(depth: int):
    """Residual stack of layer norms and an activation, with gradient in input and parameters."""
    def f(params, x):
        for p in params:
            x = x + jnp.tanh(layer_norm(p, x))
        return jnp.mean(jnp.square(x))
    return jax.grad(f, argnums=(0, 1)), ([norm_init(128) for _ in range(depth)], Data(81).normal(256, 128))


def softmax_chain(depth: int):
    """Repeated softmax of scores that feed on it, forward only."""
    def f(x):
        for _ in range(depth):
            x = x + jax.nn.softmax(x, axis=-1) * jnp.max(x, axis=-1, keepdims=True)
        return x
    return f, (Data(82).normal(512, 256),)


PROGRAMS.update({
    "select_chain_20": lambda: select_chain(20),
    "select_chain_40": lambda: select_chain(40),
    "layer_norm_stack_10": lambda: layer_norm_stack(10),
    "layer_norm_stack_20": lambda: layer_norm_stack(20),
    "layer_norm_stack_40": lambda: layer_norm_stack(40),
    "softmax_chain_12": lambda: softmax_chain(12),
})


@program
def adam_many_leaves():
    """Clipping and Adam for 150 leaves of several sizes."""
    data = Data(83)
    leaves = lambda: [data.normal(*shape) for _ in range(30) for shape in ((64,), (64, 64), (64, 128), (128,), (32, 32, 3))]

    def step(params, grads, state):
        grads, norm = clip_by_global_norm(grads, 1.0)
        return *adam_update(params, grads, state), norm
    params = leaves()
    return step, (params, leaves(), adam_init(params))


@program
def lamb_update():
    """Updates scaled by the ratio of two norms for each leaf. Source: You et al., ICLR 2020."""
    data = Data(84)
    leaves = lambda: [data.normal(256, 256) for _ in range(12)]

    def step(params, grads, first, second):
        out = []
        for p, g, m, v in zip(params, grads, first, second):
            m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * jnp.square(g)
            update = m / (jnp.sqrt(v) + 1e-6) + 0.01 * p
            size, step_size = jnp.sqrt(jnp.sum(p * p)), jnp.sqrt(jnp.sum(update * update))
            ratio = jnp.where((size > 0) & (step_size > 0), size / step_size, 1.0)
            out.append((p - 1e-3 * ratio * update, m, v))
        return out
    return step, (leaves(), leaves(), leaves(), [jnp.abs(x) for x in leaves()])
