#!/usr/bin/env python3
"""Measures the constants of the planner's cost model on this machine; prints JSON, one section for each function here.

usage: constants.py [--only elementwise,memory,...] [--cores 1] [--seconds 0.15]

All figures are of compiled code on a fixed number of cores (one by default, so that a figure is the work and not how well
it was spread), and all but the times to compile are slopes: the same program in two lengths, the difference divided by
the difference in length, so that the cost of a call and what both share drop out. Kernels are kept apart by
`jax.lax.optimization_barrier`; before jaxlib 0.12 a pass drops these before fusion, and is switched off here (`KEEP`);
`kernels_of_20_steps` shows that it works.
"""
import argparse
import json
import os
import time

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--only", default="", help="names of sections, by comma")
parser.add_argument("--cores", type=int, default=1)
parser.add_argument("--seconds", type=float, default=0.15, help="for each run that is timed")
options = parser.parse_args()
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-options.cores:])  # before XLA makes its threads
os.environ["JAX_ENABLE_COMPILATION_CACHE"] = "0"
os.environ["JAX_FUSION_PLANNER"] = "off"  # only the barriers written here
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

barrier = lax.optimization_barrier
rng = np.random.default_rng(0)
KEEP = {"xla_disable_hlo_passes": "cse_barrier_expander"}
FIT = 1 << 14  # float32: three arrays stay in the first or second level of the cache


def positive(*shape):
    return jnp.asarray(rng.uniform(0.5, 1.5, shape).astype(np.float32))


def compiled(function, *args):
    call = jax.jit(function).lower(*args).compile(compiler_options=KEEP)
    jax.block_until_ready(call(*args))
    return lambda: jax.block_until_ready(call(*args))


def seconds(*calls) -> list[float]:
    """Least time of each of ``calls``, which take turns, as the machine may be shared."""
    best, n, stop = [float("inf")] * len(calls), 0, time.perf_counter() + options.seconds * len(calls)
    while n < 5 or time.perf_counter() < stop:
        for i, call in enumerate(calls):
            t0 = time.perf_counter()
            call()
            best[i] = min(best[i], time.perf_counter() - t0)
        n += 1
    return best


def compile_ms(function, *args, tries=3) -> float:
    """Least time to compile, without tracing and lowering."""
    best = float("inf")
    for _ in range(tries):
        jax.clear_caches()
        fresh = lambda *a: function(*a)
        lowered = jax.jit(fresh).lower(*args)
        t0 = time.perf_counter()
        lowered.compile(compiler_options=KEEP)
        best = min(best, time.perf_counter() - t0)
    return best * 1e3


def repeated(step, times):
    def function(x, *others):
        for _ in range(times):
            x = step(x, *others)
        return x
    return function


def slope(step, *args, short, long) -> float:
    """Seconds that one more ``step`` in a program takes."""
    times = seconds(*[compiled(repeated(step, n), *args) for n in (short, long)])
    return (times[1] - times[0]) / (long - short)


def elementwise() -> dict[str, float]:
    """ns for one float32 element of an operation within a long fused loop.

    A step with a second operation has the cost of that one (measured first) taken off. The operands are neither constant
    nor equal in two steps, so that nothing folds.
    """
    y = positive(FIT)
    ns = lambda step: slope(step, positive(FIT), y, short=8, long=40) / FIT * 1e9
    out = {"add": ns(lambda x, y: x + y), "mul": ns(lambda x, y: x * y)}
    out["mul, add in turn, each"] = ns(lambda x, y: x * y + y) / 2
    out["div"] = ns(lambda x, y: y / x + y) - out["add"]
    out["max"] = ns(lambda x, y: jnp.maximum(x, y) * y) - out["mul"]
    out["compare+select"] = ns(lambda x, y: jnp.where(x > y, x * y, y)) - out["mul"]
    out["integer_add+xor"] = slope(lambda x, y: (x + y) ^ y, jnp.arange(FIT), jnp.arange(FIT), short=8, long=40) / FIT * 1e9
    out["convert_to_int_and_back"] = ns(lambda x, y: (x * y).astype(jnp.int32).astype(jnp.float32)) - out["mul"]
    plus = {"exp": jnp.exp, "expm1": jnp.expm1, "sinh": jnp.sinh, "cosh": jnp.cosh}  # kept from growing
    for name, f in plus.items():
        out[name] = ns(lambda x, y, f=f: 0.5 * y * f(x)) - 2 * out["mul"]
    plus = {"log": jnp.log, "log1p": jnp.log1p, "sqrt": jnp.sqrt, "rsqrt": lax.rsqrt, "cbrt": jnp.cbrt}
    for name, f in plus.items():
        out[name] = ns(lambda x, y, f=f: f(x) + y) - out["add"]
    plus = {"tanh": jnp.tanh, "logistic": lax.logistic, "sin": jnp.sin, "cos": jnp.cos, "tan": jnp.tan, "erf": lax.erf,
            "erfc": lax.erfc, "erf_inv": lax.erf_inv, "atan": jnp.arctan, "floor": jnp.floor, "abs": jnp.abs,
            "sign": jnp.sign}
    for name, f in plus.items():
        out[name] = ns(lambda x, y, f=f: f(x) * y) - out["mul"]
    out["pow"] = ns(lambda x, y: x ** y)
    out["atan2"] = ns(lambda x, y: jnp.arctan2(y, x))
    out["rem"] = ns(lambda x, y: lax.rem(x + y, y)) - out["add"]
    return {name: round(max(t, 0.0), 4) for name, t in out.items()}


def moves() -> dict[str, float]:
    """ns for one float32 element of an operation on shapes within a fused loop, each together with an addition."""
    n = 128
    y = positive(n, n)
    ns = lambda step, **sizes: round(slope(step, positive(n, n), y, **sizes) / n ** 2 * 1e9, 4)
    few = dict(short=8, long=40)
    return {"add": ns(lambda x, y: x + y, **few),
            "row_broadcast+add": ns(lambda x, y: x + y[0], **few),
            "column_broadcast+add": ns(lambda x, y: x + y[:, :1], **few),
            "reverse+add": ns(lambda x, y: x[:, ::-1] + y, **few),
            "transpose+add": ns(lambda x, y: x.T + y, **few),
            "roll+add": ns(lambda x, y: jnp.roll(x, 1, 1) + y, short=2, long=6)}


def kernels() -> dict[str, float]:
    """us for one more kernel of few elements in a run, and how many kernels twenty steps apart by barriers make."""
    x = positive(64)
    step = lambda x, y: barrier(x * y + y)
    text = jax.jit(repeated(step, 20)).lower(x, x).compile(compiler_options=KEEP).as_text()
    entry = text[text.index("ENTRY"):]
    found = sum(entry.count(f" {op}(") for op in ("fusion", "add", "multiply", "call"))
    return {"us_launch_64": round(slope(step, x, x, short=20, long=120) * 1e6, 3),
            "us_launch_reduction_64": round(slope(lambda x, y: barrier(y * jnp.sum(x)), x, x, short=20, long=120) * 1e6, 3),
            "kernels_of_20_steps": found}


def memory() -> dict[str, dict[str, float]]:
    """ns for a byte read and for a byte written by kernels whose arrays fit together into a level of the memory.

    Kernels that sum one or four arrays into a new one, several in a program: both the additions and the launch are part of
    the figures, as they are small beside the traffic. Each kernel needs one element of the result before, so that they run
    in turn and results are not written over the arrays read.
    """
    out = {}
    for level, total in (("32kB", 1 << 15), ("1MB", 1 << 20), ("16MB", 1 << 24), ("64MB", 1 << 26), ("1GB", 1 << 30)):
        n = total // 4 // 5
        arrays = [positive(n) for _ in range(5)]
        steps = dict(short=1, long=3) if total > 1 << 25 else dict(short=4, long=24)
        one = slope(lambda x, *rest: barrier(x[:1] + rest[0]), *arrays, **steps)
        four = slope(lambda x, a, b, c, d: barrier(x[:1] + a + b + c + d), *arrays, **steps)
        read = (four - one) / 3 / (4 * n)
        out[level] = {"read": round(read * 1e9, 4), "write": round((one / (4 * n) - read) * 1e9, 4),
                      "kernel_us": round(one * 1e6, 2)}
    return out


def reductions() -> dict[str, float]:
    """ns for one float32 element reduced, by kind and axis: the same number of reductions of two sizes."""
    def cost(reduce, small, large):
        many = lambda *xs: [reduce(x) for x in xs]
        times = seconds(*[compiled(many, *[positive(*shape) for _ in range(8)]) for shape in (small, large)])
        return round((times[1] - times[0]) / 8 / (np.prod(large) - np.prod(small)) * 1e9, 4)
    shapes = ((32, 128), (160, 128))
    return {"sum_all": cost(jnp.sum, *shapes), "sum_last": cost(lambda x: jnp.sum(x, -1), *shapes),
            "sum_first": cost(lambda x: jnp.sum(x, 0), *shapes), "max_all": cost(jnp.max, *shapes),
            "max_last": cost(lambda x: jnp.max(x, -1), *shapes), "max_first": cost(lambda x: jnp.max(x, 0), *shapes),
            "argmax_last": cost(lambda x: jnp.argmax(x, -1), *shapes)}


def compile_by_length() -> dict[str, dict[str, float]]:
    """ms to compile one fused kernel, by its number of operations: how it grows."""
    x = positive(4096)
    steps = {"add,mul": (2, lambda x, y: x * y + y), "tanh": (1, lambda x, y: jnp.tanh(x)),
             "where,clip": (4, lambda x, y: jnp.clip(jnp.where(x > y, x, y), -1.0, y)),
             # every value has two consumers in the kernel
             "diamond": (2, lambda x, y: x * (x + y)),
             # a shifted read of a value in the kernel: the emitter computes it anew for each place
             "shift": (2, lambda x, y: x + x[::-1])}
    out: dict[str, dict[str, float]] = {}
    for name, (each, step) in steps.items():
        limit = 30 if name == "shift" else 1000
        lengths = [n for n in (10, 30, 100, 300, 1000) if n <= limit]
        out[name] = {str(n): round(compile_ms(repeated(step, n // each), x, x), 2) for n in lengths}
    return out


def compile_by_kernels() -> dict[str, float]:
    """ms to compile programs of 1, 10 and 50 kernels of ten operations each, and of one more kernel.

    XLA compiles equal kernels once; `one_more_distinct` is of kernels that differ in a constant.
    """
    x = positive(4096)

    def distinct(n):
        def function(x, y):
            for i in range(n):
                for _ in range(5):
                    x = x * y + float(i)
                x = barrier(x)
            return x
        return compile_ms(function, x, x)

    def step(x, y):
        for _ in range(5):
            x = x * y + y
        return barrier(x)

    def sums(x, y):
        return barrier(x + jnp.sum(x * y))
    out = {str(n): round(compile_ms(repeated(step, n), x, x), 2) for n in (1, 10, 50)}
    reduced = {n: compile_ms(repeated(sums, n), x, x) for n in (10, 50)}
    out["one_more"] = round((out["50"] - out["10"]) / 40, 3)
    out["one_more_distinct"] = round((distinct(50) - distinct(10)) / 40, 3)
    out["one_more_reduction_and_loop"] = round((reduced[50] - reduced[10]) / 40, 3)
    return out


SECTIONS = [elementwise, moves, kernels, memory, reductions, compile_by_length, compile_by_kernels]


def main() -> None:
    wanted = [name for name in options.only.split(",") if name]
    out = {f.__name__: f() for f in SECTIONS if not wanted or f.__name__ in wanted}
    print(json.dumps(out, indent=1))


if __name__ == "__main__":
    main()
