#!/usr/bin/env python3
"""Eager calls of exact operations on a million elements: by NumPy on the host, as users get them, and compiled by `jit`.

usage: taskset -c 0 python eager_large.py

Milliseconds of the processor's time, the least of eight measurements of five calls. Eager calls run on the host until they have moved many
bytes, then compiled (`running.eager`); the first column is without that limit.
"""
import json
import math
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax_xla_backend.running import eager

N = 10**6
X = jnp.asarray(np.random.default_rng(0).uniform(0.1, 0.9, N).astype(np.float32))
SQUARE, I, TEST = X.reshape(1000, 1000), (X * 1000).astype(jnp.int32), X > 0.5
CALLS = {
    "lax.population_count": (lax.population_count, I),
    "lax.div of integers": (lax.div, I, I + 1),
    "lax.select": (lax.select, TEST, X, -X),
    "lax.rev": (lambda x: lax.rev(x, (0,)), X),
    "jnp.zeros": (lambda: jnp.zeros(N),),
    "lax.slice by steps of 2": (lambda x: lax.slice(x, (0,), (N,), (2,)), X),
    "lax.clamp": (lambda x: lax.clamp(np.float32(0.2), x, np.float32(0.5)), X),
    "lax.argmax of columns, 1000 x 1000": (lambda x: lax.argmax(x, 0, np.int32), SQUARE),
    "lax.concatenate": (lambda x: lax.concatenate([x, x], 0), X),
    "transpose of 1000 x 1000": (lambda x: x.T, SQUARE),
    "x[::-1]": (lambda x: x[::-1], X),
    "lax.argmax": (lambda x: lax.argmax(x, 0, np.int32), X),
}


def milliseconds(call, *args):
    """The least processor's time of one call, after those that decide how it runs."""
    for _ in range(20):
        jax.block_until_ready(call(*args))
    best = math.inf
    for _ in range(8):
        start = time.process_time()
        for _ in range(5):
            jax.block_until_ready(call(*args))
        best = min(best, (time.process_time() - start) / 5)
    return round(1e3 * best, 3)


def main():
    limit, found = eager._WORTH_COMPILING, {}
    for name, (call, *args) in CALLS.items():
        eager._moved.clear()
        eager._WORTH_COMPILING = math.inf
        host = milliseconds(call, *args)
        eager._WORTH_COMPILING = limit
        found[name] = {"host": host, "eager": milliseconds(call, *args), "jit": milliseconds(jax.jit(call), *args)}
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
