#!/usr/bin/env python3
"""Loops that carry many leaves: microseconds of a step, as JSON.

usage: carries.py [--leaves 16,64,256] [--shapes scalar,4] [--only own,next,sum]

Each loop in three forms: the leaves separate; one array, which the body takes apart and stacks again; one array, and a body that computes on it
as a whole. Bodies: `own`, each leaf by itself; `next`, a leaf needs its neighbour; `sum`, each needs the sum of all. Use it with compare.py; the
public jax compiles for minutes from 128 separate leaves on. Nothing is read from a cache of compiled programs.
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

STEPS = 2000
SHAPES = {"scalar": (), "4": (4,)}


def total(leaves):
    found = leaves[0]
    for leaf in leaves[1:]:
        found = found + leaf
    return found


LEAVES = {  # on a tuple of leaves
    "own": lambda c: tuple([a * 0.999 + 0.1 for a in c]),
    "next": lambda c: tuple([a * 0.5 + b * 0.499 for a, b in zip(c, c[1:] + c[:1])]),
    "sum": lambda c: (lambda s: tuple([a * 0.999 + s * 1e-6 for a in c]))(total(c)),
}
WHOLE = {  # on all of them as one array, along its first axis
    "own": lambda c: c * 0.999 + 0.1,
    "next": lambda c: c * 0.5 + jnp.roll(c, -1, 0) * 0.499,
    "sum": lambda c: c * 0.999 + c.sum(0) * 1e-6,
}


def forms(body, leaves, shape):
    """The loop over ``leaves`` arrays of ``shape`` in its three forms, each with its argument."""
    start = jnp.ones((leaves, *shape))

    def repeat(step):
        return lambda c: lax.fori_loop(0, STEPS, lambda i, c: step(c), c)
    return {"separate": (repeat(LEAVES[body]), tuple(start)),
            "taken apart": (repeat(lambda c: jnp.stack(LEAVES[body](tuple([c[i] for i in range(leaves)])))), start),
            "whole": (repeat(WHOLE[body]), start)}


def measured(function, argument):
    call = jax.jit(function).lower(argument).compile()
    jax.block_until_ready(call(argument))
    best = float("inf")
    for _ in range(7):
        start = time.perf_counter()
        jax.block_until_ready(call(argument))
        best = min(best, time.perf_counter() - start)
    return round(best / STEPS * 1e6, 3)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--leaves", default="16,64,256")
    parser.add_argument("--shapes", default=",".join(SHAPES))
    parser.add_argument("--only", default=",".join(LEAVES))
    args = parser.parse_args()
    print(json.dumps({f"{leaves} of {shape}, {body}": {name: measured(*form) for name, form in forms(body, int(leaves), SHAPES[shape]).items()}
                      for leaves in args.leaves.split(",") for shape in args.shapes.split(",") for body in args.only.split(",")}, indent=1))


if __name__ == "__main__":
    main()
