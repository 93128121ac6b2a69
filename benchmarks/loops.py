#!/usr/bin/env python3
"""Loops with short steps: microseconds of a step (``run``) and milliseconds to compile, as JSON.

usage: loops.py [--sizes 64,256,1024,4096] [--only NAME,...]

A step works on arrays of the given size. Use it with compare.py. Nothing is read from a cache of compiled programs.
"""
import argparse
import json
import os
import time

os.environ.setdefault("JAX_ENABLE_COMPILATION_CACHE", "0")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
from jax import lax

STEPS = 500


def scan(step):
    """A program that scans over the rows of a table, with a carry of the rows' shape."""
    return lambda n: (lambda xs: lax.scan(step, jnp.zeros(n), xs), (jnp.ones((STEPS, n)),))


def repeat(step, leaves=1):
    def make(n):
        def function(x):
            return lax.fori_loop(0, STEPS, lambda i, c: step(c), (x,) * leaves)
        return function, (jnp.linspace(0.1, 1.0, n),)
    return make


def polynomial(c, x):
    y = c
    for _ in range(20):
        y = y * c * 0.1 + x
    return y, None


def runge_kutta(s):
    """The Lorenz system."""
    def slope(s):
        x, y, z = s
        return 10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z

    def moved(k, h):
        return tuple([a + h * b for a, b in zip(s, k)])
    k1 = slope(s)
    k2 = slope(moved(k1, 0.005))
    k3 = slope(moved(k2, 0.005))
    k4 = slope(moved(k3, 0.01))
    return tuple([a + 0.01 / 6 * (p + 2 * q + 2 * r + t) for a, p, q, r, t in zip(s, k1, k2, k3, k4)])


def smoothing(n):
    """Holt-Winters, with a season of 12."""
    def step(carry, y):
        level, trend, season = carry
        new = 0.3 * (y - season[0]) + 0.7 * (level + trend)
        trend = 0.2 * (new - level) + 0.8 * trend
        season = jnp.concatenate([season[1:], (0.1 * (y - new) + 0.9 * season[0])[None]])
        return (new, trend, season), y - level
    return lambda ys: lax.scan(step, (ys[0], ys[0], jnp.zeros((12, n))), ys), (jnp.ones((STEPS, n)),)


def edit_row(c, x):
    """A row of the table of an edit distance."""
    best = jnp.concatenate([x[:1], jnp.minimum(c[1:] + 1, c[:-1] + x[1:])])
    return lax.cummin(best), None


def branch(c, x):
    return lax.cond(c[0] > 1, lambda c: c * 0.5, lambda c: c + x, c), None


def recurrent_gradient(n):
    def loss(xs):
        return lax.scan(lambda c, x: (jnp.tanh(c * 0.5 + x), None), jnp.zeros(n), xs)[0].sum()
    return jax.grad(loss), (jnp.ones((STEPS, n)),)


def noise(n):
    def function(key):
        return lax.fori_loop(0, STEPS, lambda i, c: c + jax.random.normal(jax.random.fold_in(key, i), (n,)), jnp.zeros(n))
    return function, (jax.random.key(0),)


def stencil(n):
    side = max(4, int(n ** 0.5))

    def step(i, c):
        return c.at[1:-1, 1:-1].set(0.25 * (c[2:, 1:-1] + c[:-2, 1:-1] + c[1:-1, 2:] + c[1:-1, :-2]))
    return lambda x: lax.fori_loop(0, STEPS, step, x), (jnp.ones((side, side)),)


LOOPS = {
    "affine": repeat(lambda c: (c[0] * 0.5 + 1,)),
    "polynomial": scan(polynomial),
    "select": scan(lambda c, x: (jnp.where(c > x, c - x, c + 1) * 1.01, None)),
    "eight leaves": repeat(lambda c: tuple([a * 0.5 + b for a, b in zip(c, c[1:] + c[:1])]), 8),
    "runge-kutta": repeat(runge_kutta, 3),
    "smoothing": smoothing,
    "stacked": scan(lambda c, x: (c * 0.5 + x, c + 1)),
    "mean and maximum": scan(lambda c, x: (c * 0.5 + x - c.mean(), c.max())),
    "softmax": scan(lambda c, x: (jax.nn.softmax(c) + x, None)),
    "edit distance": scan(edit_row),
    "branch": scan(branch),
    "tanh": scan(lambda c, x: (jnp.tanh(c * 0.5 + x), None)),
    "tanh, gradient": recurrent_gradient,
    "normal numbers": noise,
    "stencil": stencil,
    "sort": scan(lambda c, x: (jnp.sort(c + x), None)),
}


def measured(make, n):
    function, args = make(n)
    lowered = jax.jit(function).lower(*args)
    start = time.perf_counter()
    call = lowered.compile()
    compiled = time.perf_counter() - start
    jax.block_until_ready(call(*args))
    best, stop, runs = float("inf"), time.perf_counter() + 0.25, 0
    while runs < 5 or time.perf_counter() < stop:
        start = time.perf_counter()
        jax.block_until_ready(call(*args))
        best, runs = min(best, time.perf_counter() - start), runs + 1
    return {"run": round(best / STEPS * 1e6, 4), "compile": round(compiled * 1e3, 1)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="64,256,1024,4096")
    parser.add_argument("--only")
    args = parser.parse_args()
    names = args.only.split(",") if args.only else LOOPS
    jax.block_until_ready(jax.jit(jnp.sin)(jnp.ones(3)))
    print(json.dumps({name: {n: measured(LOOPS[name], int(n)) for n in args.sizes.split(",")} for name in names}, indent=1))


if __name__ == "__main__":
    main()
