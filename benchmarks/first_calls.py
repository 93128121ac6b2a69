#!/usr/bin/env python3
"""Milliseconds of the first call of functions on a 100 x 100 array, which compiles them, and of all together, as JSON.

usage: first_calls.py; compare.py runs it under two interpreters. Nothing is read from a cache of compiled programs.
"""
import json
import os
import time

os.environ["JAX_ENABLE_COMPILATION_CACHE"] = "0"
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp

CALLS = {
    "cos": jnp.cos, "exp": jnp.exp, "tanh": jnp.tanh, "abs": jnp.abs, "add": lambda x: x + 1, "multiply": lambda x: x * x,
    "divide": lambda x: x / 2, "square": lambda x: x**2, "greater": lambda x: x > 1, "gelu": jax.nn.gelu, "relu": jax.nn.relu,
    "softmax": jax.nn.softmax, "where": lambda x: jnp.where(x > 0, x, 0), "clip": lambda x: jnp.clip(x, 0, 1),
    "transpose": lambda x: x.T, "slice": lambda x: x[2:, 3], "reshape": lambda x: x.reshape(-1) * 2, "astype": lambda x: x.astype(int),
    "normal": lambda x: jax.random.normal(jax.random.key(1), x.shape), "sum": jnp.sum, "mean": lambda x: x.mean(0), "std": jnp.std,
    "concatenate": lambda x: jnp.concatenate([x, x]), "linspace": lambda x: jnp.linspace(0, 1, 10000), "matmul": lambda x: x @ x,
}
x = jnp.ones((100, 100))
jax.block_until_ready(jnp.sin(jnp.ones((50, 60))))  # the first compilation of the process
times = {}
for name, call in CALLS.items():
    start = time.perf_counter()
    jax.block_until_ready(call(x))
    times[name] = round((time.perf_counter() - start) * 1e3, 3)
print(json.dumps({**times, "total": round(sum(times.values()), 1)}, indent=1))
