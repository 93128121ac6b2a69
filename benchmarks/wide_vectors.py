#!/usr/bin/env python3
"""Programs of a file compiled with vectors of 256 and of 512 bits on the CPU, in turns in one process: milliseconds of processor's time.

usage: wide_vectors.py [PROGRAMS ...] [--rounds 6]

PROGRAMS define `programs = {name: (function, arguments)}`, as those of interleaved.py; without any, some functions of a million numbers.
Only where the rule of `planning.wide_vectors` gives a program the wide vectors do the two differ.
"""
import argparse
import math
import os
import time

os.environ["JAX_ENABLE_COMPILATION_CACHE"] = "0"
import jax
import jax.numpy as jnp
import jax.scipy.special
import numpy as np
from jax_xla_backend.compiling import compiler_options

N = 1_000_000
FUNCTIONS = [jnp.add, jnp.exp, jnp.expm1, jnp.log, jnp.log1p, jnp.sin, jnp.tanh, jnp.arcsinh, jnp.arctanh, jnp.sinc, jnp.i0, jax.nn.sigmoid, jax.nn.gelu,
             jax.nn.softplus, jax.nn.softmax, jnp.logaddexp, jax.scipy.special.gammaln, jax.scipy.special.ndtri, jax.scipy.special.erfinv]
DRAWS = ["bits", "uniform", "normal", "gumbel", "exponential", "laplace", "bernoulli"]


def usual():
    x = jnp.asarray(np.random.default_rng(0).uniform(0.1, 0.9, N).astype(np.float32))
    programs = {f.__name__: (f, (x, x) if f in (jnp.add, jnp.logaddexp) else (x,)) for f in FUNCTIONS}
    for name in DRAWS:
        programs[f"random.{name}"] = lambda key, draw=getattr(jax.random, name): draw(key, shape=(N,)), (jax.random.key(0),)
    return programs


def loaded(path):
    space = {"__name__": "programs"}
    exec(compile(open(path).read().split("\nout = {}")[0], path, "exec"), space)
    return space["programs"]


def compiled(function, args, wide):
    compiler_options.wide_vectors_are_fast = lambda: wide
    jax.clear_caches()
    return jax.jit(lambda *a: function(*a)).lower(*args).compile()


def milliseconds(call, args):
    start = time.process_time()
    jax.block_until_ready(call(*args))
    number = max(1, min(200, int(0.004 / max(time.process_time() - start, 1e-7))))
    start = time.process_time()
    for _ in range(number):
        jax.block_until_ready(call(*args))
    return (time.process_time() - start) / number * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--rounds", type=int, default=6)
    args = parser.parse_args()
    logs = []
    for name, (function, given) in (item for programs in map(loaded, args.programs) for item in programs.items()) if args.programs else usual().items():
        calls = [compiled(function, given, wide) for wide in (False, True)]
        times = [min(column) for column in zip(*[[milliseconds(call, given) for call in calls] for _ in range(args.rounds)])]
        logs.append(math.log(times[0] / times[1]))
        print(f"{name:32} {times[0]:9.3f} {times[1]:9.3f} {times[0] / times[1]:6.2f}", flush=True)
    print(f"geometric mean {math.exp(sum(logs) / len(logs)):.2f}")


if __name__ == "__main__":
    main()
