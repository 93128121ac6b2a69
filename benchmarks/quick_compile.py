#!/usr/bin/env python3
"""Programs compiled the quick way and in full, by size: the tables of docs/internals/compile-time.md.

usage: quick_compile.py [--passes | --loops | --few | --functions] [--sizes 16,64,256,1024,4096,16384] [--only NAME,...] [--seconds 0.1]

Programs over small arrays without loops' unrolling; with --passes, programs that only read their inputs, with it. With --loops, those of the latter
that users get without: unrolled (for "full") and not (for "quick"). With --few, programs over
small arrays and without loops the quick way (for "full") and without LLVM's optimisation (for "quick"), and then programs of a few
numbers in all three ways: milliseconds to compile, microseconds of a run; and the ns of an element that steps lose without optimisation.
With --functions, those that users get as one function (jaxlib from 0.12 on), as kernels (for "full") and so (for "quick");
runs are measured in processor's time there.

Prints, for each size, geometric means of full/quick over the programs: of the time to compile and of a run, and the runs that
lose most. Both ways take turns; each figure is its minimum of three compilations (processor's time), or of runs for `--seconds`.
"""
import argparse
import math
import os
import time

os.environ["JAX_ENABLE_COMPILATION_CACHE"] = "0"
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import jet
from jax_xla_backend.compiling.compiler_options import NO_UNROLLING, NOT_OPTIMISED, QUICK_OPTIONS, is_one_function, joined, options_for

FULL = {"xla_cpu_parallel_codegen_split_count": 32}  # XLA's own count
WAYS = {"quick": dict(joined(QUICK_OPTIONS, NO_UNROLLING)), "full": FULL}
rows = lambda x: x.reshape(-1, 16)
PROGRAMS = {
    "add": lambda x: (x + 1.5) * 2, "exp": jnp.exp, "sin": jnp.sin, "tanh": jnp.tanh, "log": jnp.log, "pow": lambda x: x**1.7,
    "where": lambda x: jnp.where(x > 0.5, x, -x), "integers": lambda x: (x * 9).astype(jnp.int32) // 3 % 7,
    "bfloat16": lambda x: (x.astype(jnp.bfloat16) * 2 + 1).astype(jnp.float32),
    "sum": jnp.sum, "sum of rows": lambda x: rows(x).sum(1), "sum of columns": lambda x: rows(x).sum(0), "max": jnp.max,
    "argmax": jnp.argmax, "cumsum": jnp.cumsum, "sort": jnp.sort, "softmax": lambda x: jax.nn.softmax(rows(x)),
    "layer norm": lambda x: (rows(x) - rows(x).mean(1, keepdims=True)) / jnp.sqrt(rows(x).var(1, keepdims=True) + 1e-5),
    "transpose": lambda x: rows(x).T + 1, "concatenate": lambda x: jnp.concatenate([x, x * 2, x + 1]),
    "roll": lambda x: jnp.roll(x, 3) + x, "gather": lambda x: x[(x * 7).astype(int) % x.size],
    "scatter": lambda x: jnp.zeros_like(x).at[(x * 7).astype(int) % 8].add(x), "vector": lambda x: rows(x) @ x[:16],
    "convolution": lambda x: jnp.convolve(x, x[:8], mode="same"), "fft": lambda x: jnp.abs(jnp.fft.rfft(x)),
    "normal": lambda x: jax.random.normal(jax.random.key(0), x.shape),
    "loop": lambda x: lax.scan(lambda c, _: (jnp.tanh(c) * 1.01, c.sum()), x, None, length=20)[0],
}

PASSES = {
    "affine": lambda x: x * 1.5 - 2, "divide": lambda x: x / (x + 1), "exp": jnp.exp, "log": jnp.log, "tanh": jnp.tanh, "sin": jnp.sin,
    "erf": lax.erf, "pow": lambda x: x**1.7, "gelu": jax.nn.gelu, "gelu gradient": jax.grad(lambda x: jax.nn.gelu(x).sum()),
    "where": lambda x: jnp.where(x > 0.5, x, -x), "clip": lambda x: jnp.clip(x, 0.2, 0.8), "integers": lambda x: (x * 9).astype(int) ^ 3,
    "bfloat16": lambda x: x.astype(jnp.bfloat16) * 2, "transpose": lambda x: rows(x).T + 1, "reverse": lambda x: rows(x)[:, ::-1] * 2,
    "slices": lambda x: x[::2] * x[1::2], "pad": lambda x: jnp.pad(x, 3), "concatenate": lambda x: jnp.concatenate([x, x]),
    "variance": lambda x: jnp.var(rows(x), 1), "layer norm": PROGRAMS["layer norm"], "squares": lambda x: jnp.mean((x - 1) ** 2),
    "range": lambda x: (x - x.min()) / (x.max() - x.min()), "any": lambda x: (rows(x) > 3).any(1), "maximum": lambda x: rows(x).max(0),
    "logsumexp": lambda x: jax.nn.logsumexp(rows(x), 1), "norm": jnp.linalg.norm, "mean of numbers": jnp.nanmean,
    "rows plus one": lambda x: rows(x) + x[:16], "all": lambda x: (x > 0).all(), "count": lambda x: (x > 0.5).sum(), "product": jnp.prod, "sum": jnp.sum,
    "zeros": lambda x: jnp.zeros(x.shape), "outer": lambda x: x[:64, None] * x[None, :64], "rows of 1024": lambda x: x.reshape(-1, 1024).sum(1),
}


def sums(n):
    def function(x):
        for _ in range(n):
            x = jnp.tanh(x) + x.sum()
        return x
    return function


def chain(n, step=lambda x: jnp.sin(x) * 1.01 + 0.1):
    def function(x):
        for _ in range(n):
            x = step(x)
        return x
    return function


FEW = {
    "8 sines of a number": (lambda x: [jnp.sin(x + i) for i in range(8)], 0.5),
    "jet of digamma, a number": (lambda x: jet.jet(jax.scipy.special.digamma, (x,), ((1.0, 0.0, 0.0),)), 0.5),
    "slopes of svd, 3 x 3": (jax.jacfwd(jnp.linalg.svd), np.arange(9.0).reshape(3, 3) ** 2),
    **{f"{n} times tanh(x) + x.sum(), 4 x 4": (sums(n), np.ones((4, 4))) for n in (5, 20, 60)},
    "1000 times sin(x) * 1.01 + 0.1, a number": (chain(1000), 0.5), "100 times, 32 numbers": (chain(100), np.linspace(0.1, 1, 32)),
}
EACH = {
    "x * 1.01 + 0.1": lambda x: x * 1.01 + 0.1, "1 / (x + 1)": lambda x: 1 / (x + 1), "where": lambda x: jnp.where(x > 0.5, x, x + 0.01),
    "sin": jnp.sin, "pow": lambda x: x**1.7 + 0.1, "exp": lambda x: jnp.exp(-x), "log": lambda x: jnp.log(x + 1), "tanh": lambda x: jnp.tanh(x) + 1,
    "erf": lambda x: lax.erf(x) + 0.5, "log1p": lambda x: lax.log1p(x) + 0.1, "expm1": lambda x: lax.expm1(-x) + 1.5, "lgamma": lambda x: lax.lgamma(x) + 1,
    "x + x.sum()": lambda x: x + x.sum() * 0.1, "gather": lambda x: x[(x * 3).astype(int)] * 0.9, "sort": lambda x: jnp.sort(-x),
    "cumsum": lambda x: jnp.cumsum(x) * 0.1,
}


def measured(function, x, seconds, clock=time.perf_counter):
    """For each way, seconds to compile and to run."""
    best = {way: [math.inf, math.inf] for way in WAYS}
    calls = {}
    for _ in range(3):
        for way, options in WAYS.items():
            jax.clear_caches()
            lowered = jax.jit(function).lower(x)
            if callable(options):
                options = options(lowered)
            start = time.process_time()
            calls[way] = lowered.compile(compiler_options=options)
            best[way][0] = min(best[way][0], time.process_time() - start)
            calls[way](x)
    stop = clock() + seconds * len(WAYS)
    while clock() < stop:
        for way, call in calls.items():
            start = clock()
            for _ in range(50):
                out = call(x)
            jax.block_until_ready(out)
            best[way][1] = min(best[way][1], (clock() - start) / 50)
    return best


def leaves_loops(function, x):
    """Whether users get it as a pass over its inputs, without unrolling."""
    work = jax.jit(function).lower(x)._module.facts.work
    return work.only_reads_inputs and not work.unrolls


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="16,64,256,1024,4096,16384")
    parser.add_argument("--only")
    parser.add_argument("--passes", action="store_true")
    parser.add_argument("--loops", action="store_true")
    parser.add_argument("--functions", action="store_true")
    parser.add_argument("--seconds", type=float, default=0.1)
    parser.add_argument("--few", action="store_true")
    options = parser.parse_args()
    programs = PASSES if options.passes or options.loops else PROGRAMS
    if options.few:
        WAYS.update(full=WAYS["quick"], quick=dict(joined(QUICK_OPTIONS + NOT_OPTIMISED, NO_UNROLLING)))
        programs.pop("loop")
    if options.passes:
        WAYS["quick"] = dict(QUICK_OPTIONS)
    if options.loops:
        WAYS.update(full=dict(QUICK_OPTIONS), quick=dict(joined(QUICK_OPTIONS, NO_UNROLLING)))
    if options.functions:
        programs = PROGRAMS | {name: function for name, function in PASSES.items() if name not in (*PROGRAMS, "rows of 1024", "outer")}
        WAYS.update(full=lambda lowered: dict(options_for(lowered._module, "cpu", ())), quick=None)
    print(f"{'elements':>8} {'compile':>8} {'run':>8}  slowest runs")
    for size in map(int, options.sizes.split(",")):
        x = jnp.linspace(0.1, 1, size)
        ratios = {}
        for name in options.only.split(",") if options.only else programs:
            if options.loops and not leaves_loops(programs[name], x):
                continue
            if options.functions and not is_one_function(jax.jit(programs[name]).lower(x)._module, "cpu", ()):
                continue
            best = measured(programs[name], x, options.seconds, time.process_time if options.functions else time.perf_counter)
            ratios[name] = [full / quick for full, quick in zip(best["full"], best["quick"])]
        means = [math.exp(sum(math.log(r[i]) for r in ratios.values()) / len(ratios)) for i in range(2)]
        worst = sorted((round(r[1], 2), name) for name, r in ratios.items())[:4]
        print(f"{size:8} {means[0]:8.2f} {means[1]:8.2f}  {worst}, of {len(ratios)}", flush=True)
    if options.few:
        WAYS.update(full=FULL, quick=dict(joined(QUICK_OPTIONS, NO_UNROLLING)), unoptimised=dict(joined(QUICK_OPTIONS + NOT_OPTIMISED, NO_UNROLLING)))
        for name, (function, x) in FEW.items():
            x = jnp.asarray(x, jnp.float32)
            chosen = "unoptimised" if jax.jit(function).lower(x)._module.facts.work.tiny else "optimised"
            best = measured(function, x, options.seconds)
            print(f"{name:42} users get: {chosen:12}", *(f"{way} {ms * 1e3:.0f} ms {us * 1e6:.1f} us " for way, (ms, us) in best.items()), flush=True)
        for name, step in EACH.items():
            best = measured(chain(10, step), jnp.linspace(0.1, 1, 32), options.seconds)
            print(f"10 times {name}, 32 numbers: {(best['unoptimised'][1] - best['quick'][1]) * 1e9 / 320:.1f} ns", flush=True)


if __name__ == "__main__":
    main()
