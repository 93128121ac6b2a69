#!/usr/bin/env python3
"""What a progress bar costs a compiled loop: microseconds of processor's time of a step without and with it, as a table.

usage: progress_bar.py [--rounds 12]

Each loop is compiled three times: twice without a bar, whose difference is the noise, and with one; the three take turns. Ours only: the public
jax has no bars of its own. Needs tqdm.
"""
import argparse
import os
import time

os.environ.setdefault("JAX_ENABLE_COMPILATION_CACHE", "0")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import progress_bar

RUN = 0.15  # seconds of one run


def products(size, count):
    w = jnp.eye(size) * 0.99

    def body(c, _):
        for _ in range(count):
            c = w @ c
        return jnp.tanh(c), None
    return body, jnp.ones((size, size))


def elementwise(size):
    return lambda c, _: (jnp.sin(c) * 0.5 + c * 0.4, None), jnp.linspace(0.0, 1.0, size)


def mixed(size):
    """A product, tanh, a sort, a norm, and a stacked result."""
    w = jnp.eye(size) * 0.99

    def body(c, _):
        c = jnp.sort(jnp.tanh(w @ c))
        return c, jnp.linalg.norm(c)
    return body, jnp.linspace(0.0, 1.0, size)


LOOPS = {"three products 40x40": lambda: products(40, 3), "eight products 16x16": lambda: products(16, 8), "elementwise, 1024": lambda: elementwise(1024),
         "elementwise, 4096": lambda: elementwise(4096), "elementwise, 65536": lambda: elementwise(65536), "product, sort, norm, 64": lambda: mixed(64)}


def compiled(body, start, steps):
    return jax.jit(lambda c: lax.scan(body, c, None, length=steps)).lower(start).compile()


def seconds(call, argument):
    begin = time.process_time()
    jax.block_until_ready(call(argument))
    return time.process_time() - begin


def measured(body, start, rounds):
    trial = compiled(body, start, 200)
    seconds(trial, start)
    steps = max(1000, int(RUN / (seconds(trial, start) / 200)))
    calls = [compiled(body, start, steps), compiled(body, start, steps), compiled(progress_bar(body, steps, file=open(os.devnull, "w")), start, steps)]
    best = [float("inf")] * 3
    for _ in range(rounds + 1):
        best = [min(b, seconds(call, start)) for b, call in zip(best, calls)]
    return [b / steps * 1e6 for b in best]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=12)
    args = parser.parse_args()
    print("| body of a `scan` | µs a step without | again without | with a bar |\n|---|---|---|---|")
    for name, make in LOOPS.items():
        plain, again, barred = measured(*make(), args.rounds)
        print(f"| {name} | {plain:.3g} | {again / plain - 1:+.1%} | {barred / plain - 1:+.1%} |", flush=True)


if __name__ == "__main__":
    main()
