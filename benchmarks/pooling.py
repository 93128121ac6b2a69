#!/usr/bin/env python3
"""Pooling f32[32,64,64,32] and f32[4,32,32,8], channels last and first, and its gradients: ms of a run and to compile, as JSON.

usage: pooling.py [--only NAME,...]; compare.py runs it under two interpreters. Nothing is read from a cache of compiled programs.
"""
import argparse
import json
import os
import time

os.environ.setdefault("JAX_ENABLE_COMPILATION_CACHE", "0")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

WINDOWS = {"2x2 by 2": (2, 2, "VALID"), "3x3 by 2": (3, 2, "SAME"), "3x3 by 1": (3, 1, "SAME"), "4x4 by 4": (4, 4, "VALID"),
           "4x4 by 2": (4, 2, "SAME"), "2x2 by 1": (2, 1, "VALID")}
KINDS = {"max": (-np.inf, lax.max), "sum": (0.0, lax.add)}


def measure(shape: tuple, last: bool, window: int, stride: int, padding: str, start: float, op) -> dict[str, dict[str, float]]:
    """Times of pooling, and of its derivative's program, applied to a cotangent."""
    batch, height, width, channels = shape
    spread = lambda n: (1, n, n, 1) if last else (1, 1, n, n)
    rng = np.random.default_rng(0)
    x = jnp.asarray(rng.normal(size=shape if last else (batch, channels, height, width)).astype(np.float32))
    pool = lambda x: lax.reduce_window(x, start, op, spread(window), spread(stride), padding)
    ct = jnp.asarray(rng.normal(size=jax.eval_shape(pool, x).shape).astype(np.float32))
    return {"forward": times(pool, x), "gradient": times(lambda x, ct: jax.vjp(pool, x)[1](ct)[0], x, ct)}


def times(function, *args) -> dict[str, float]:
    """Milliseconds to compile, and of the fastest of eight runs."""
    lowered = jax.jit(function).lower(*args)
    before = time.perf_counter()
    compiled = lowered.compile()
    seconds = time.perf_counter() - before
    runs = []
    for _ in range(8):
        before = time.perf_counter()
        jax.block_until_ready(compiled(*args))
        runs.append(time.perf_counter() - before)
    return {"run": round(min(runs) * 1e3, 3), "compile": round(seconds * 1e3, 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default=",".join(WINDOWS))
    args = parser.parse_args()
    print(json.dumps({
        f"{'last' if last else 'first'} {'large' if shape[0] > 4 else 'small'} {kind} {name}": measure(shape, last, *WINDOWS[name], *KINDS[kind])
        for last in (True, False) for shape in ((32, 64, 64, 32), (4, 32, 32, 8)) for name in args.only.split(",") for kind in KINDS},
        indent=1))


if __name__ == "__main__":
    main()
