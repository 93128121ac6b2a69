#!/usr/bin/env python3
"""Ten steps of Runge and Kutta for systems of differential equations: milliseconds of a run and to compile, as JSON.

usage: ode.py [--sizes 20000,262144,2097152]

Chains of some fifty cheap operations, where it costs more to keep a value than to compute it again. Use it with
../compare.py. Nothing is read from a cache of compiled programs.
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


def kepler(x, y, u, v):
    pull = -(x * x + y * y + 0.1) ** -1.5
    return u, v, x * pull, y * pull


SYSTEMS = {  # number of variables, and their rates
    "lorenz": (3, lambda x, y, z: (10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z)),
    "lotka_volterra": (2, lambda u, v: (u * (1.1 - 0.4 * v), v * (0.1 * u - 0.4))),
    "van_der_pol": (2, lambda x, v: (v, 1.5 * (1 - x * x) * v - x)),
    "pendulum": (2, lambda q, p: (p, -jnp.sin(q) - 0.1 * p)),
    "kepler": (4, kepler),
    "fitzhugh_nagumo": (2, lambda v, w: (v - v ** 3 / 3 - w + 0.5, 0.08 * (v + 0.7 - 0.8 * w))),
    "robertson": (3, lambda a, b, c: (1e2 * b * c - 0.04 * a, 0.04 * a - 1e2 * b * c - 30 * b * b, 30 * b * b)),
    "hill": (2, lambda x, y: (1 / (1 + y * y) - x, x / (1 + x) - y)),
    "gate": (2, lambda v, n: (n * jnp.exp(-v * v) - v, 0.3 * (jax.nn.sigmoid(v) - n))),
}


def step(rate, s, h=0.01):
    """One step of length ``h`` by the classical method of fourth order."""
    moved = lambda k, h: tuple(x + h * d for x, d in zip(s, k))
    a = rate(*s)
    b = rate(*moved(a, h / 2))
    c = rate(*moved(b, h / 2))
    d = rate(*moved(c, h))
    return tuple(x + h / 6 * (p + 2 * q + 2 * r + t) for x, p, q, r, t in zip(s, a, b, c, d))


def measured(variables, rate, size):
    start = [np.random.RandomState(i).uniform(0.5, 1, size).astype(np.float32) for i in range(variables)]
    lowered = jax.jit(lambda *s: jax.lax.fori_loop(0, 10, lambda _, s: step(rate, s), s)).lower(*start)
    t0 = time.perf_counter()
    call = lowered.compile()
    compiled = time.perf_counter() - t0
    jax.block_until_ready(call(*start))
    best, runs, stop = float("inf"), 0, time.perf_counter() + 0.5
    while runs < 4 or time.perf_counter() < stop:
        t0 = time.perf_counter()
        jax.block_until_ready(call(*start))
        best, runs = min(best, time.perf_counter() - t0), runs + 1
    return {"run": round(best * 1e3, 4), "compile": round(compiled * 1e3, 1)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="20000,262144,2097152")
    sizes = [int(n) for n in parser.parse_args().sizes.split(",")]
    jax.block_until_ready(jax.jit(jnp.sin)(jnp.ones(3)))
    print(json.dumps({name: {n: measured(*system, n) for n in sizes} for name, system in SYSTEMS.items()}, indent=1))


if __name__ == "__main__":
    main()
