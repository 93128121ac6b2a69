#!/usr/bin/env python3
"""Elementwise functions of a million elements: ours jitted, NumPy or SciPy beside it in one process, and another installation.

    python benchmarks/elementwise.py [--reference /path/to/python] [--only name ...] [--rounds 3] [--out table.md]

Milliseconds, the least of all rounds, which alternate between the installations. A ratio above 1 says that ours is faster. The worst
ratio comes first. XLA uses all cores, NumPy one.
"""
import argparse
import json
import os
import subprocess
import sys
import time

import numpy as np

SIZE = 1_000_000
ROWS = {  # name: (ours, NumPy's or SciPy's, interval of each operand)
    **{n: (f"jnp.{n}", f"np.{n}", [(-10, 10)]) for n in ("sin", "cos", "tan")},
    **{n: (f"jnp.{n}", f"np.{n}", [(-5, 5)]) for n in ("tanh", "exp", "exp2", "expm1", "arctan", "sinh", "cosh", "arcsinh", "cbrt")},
    **{n: (f"jnp.{n}", f"np.{n}", [(0.01, 100)]) for n in ("log", "log2", "log10", "log1p", "sqrt")},
    **{n: (f"jnp.{n}", f"np.{n}", [(-1, 1)]) for n in ("arcsin", "arccos", "arctanh")},
    **{n: (f"jnp.{n}", f"np.{n}", [(-5, 5), (-5, 5)]) for n in ("arctan2", "hypot", "logaddexp")},
    "arccosh": ("jnp.arccosh", "np.arccosh", [(1, 50)]), "power": ("jnp.power", "np.power", [(0.1, 10), (-5, 5)]),
    "sinc": ("jnp.sinc", "np.sinc", [(-8, 8)]),
    **{n: (f"jsp.{n}", f"sp.{n}", [(-4, 4)]) for n in ("erf", "erfc", "expit", "ndtr", "log_ndtr", "i0e", "i1e")},
    **{n: (f"jsp.{n}", f"sp.{n}", [(0.01, 50)]) for n in ("gammaln", "digamma")},
    **{n: (f"jsp.{n}", f"sp.{n}", [(0.001, 0.999)]) for n in ("erfinv", "ndtri", "logit")},
}


def least(run, seconds=0.15):
    """Milliseconds of the fastest run."""
    best, stop, n = np.inf, time.perf_counter() + seconds, 0
    while n < 3 or time.perf_counter() < stop:
        start = time.perf_counter()
        run()
        best, n = min(best, time.perf_counter() - start), n + 1
    return best * 1e3


def work(names):
    """``{"name dtype": [jitted, NumPy's]}`` of this installation."""
    import jax
    import jax.numpy as jnp
    import jax.scipy.special as jsp
    import scipy.special as sp
    jax.config.update("jax_enable_x64", True)
    space, rng, out = {"np": np, "jnp": jnp, "jsp": jsp, "sp": sp}, np.random.default_rng(0), {}
    for name in names:
        ours, theirs, regions = ROWS[name]
        for dtype in (np.float32, np.float64):
            xs = [rng.uniform(low, high, SIZE).astype(dtype) for low, high in regions]
            arrays, function, other = [jnp.asarray(x) for x in xs], jax.jit(eval(ours, space)), eval(theirs, space)
            function(*arrays).block_until_ready()
            out[f"{name} {np.dtype(dtype).name}"] = [least(lambda: function(*arrays).block_until_ready()), least(lambda: other(*xs))]
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reference", help="the Python of another installation")
    parser.add_argument("--only", nargs="*", default=list(ROWS), help="names of functions")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", help="file for the table")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return print(json.dumps(work(options.only)))
    sides = [(sys.executable, os.environ)]
    if options.reference:
        sides.append((options.reference, {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}))
    best = [{}, {}]
    for _ in range(options.rounds):
        for found, (python, env) in zip(best, sides):
            text = subprocess.run([python, os.path.abspath(__file__), "--worker", "--only", *options.only], check=True, env=env, text=True,
                                  stdout=subprocess.PIPE, cwd="/").stdout
            for key, times in json.loads(text.splitlines()[-1]).items():
                found[key] = list(map(min, zip(times, found.get(key, times))))
    rows = []
    for key, (ours, numpy_) in best[0].items():
        numpy_ = min(numpy_, best[1].get(key, [0, numpy_])[1])
        theirs = best[1].get(key, [np.nan])[0]
        ratios = [numpy_ / ours, theirs / ours]
        rows.append((np.nanmin(ratios), f"| {key} | {ours:.2f} | {numpy_:.2f} | {theirs:.2f} | {ratios[0]:.2f} | {ratios[1]:.2f} |"))
    table = ["| function | ours, ms | NumPy, SciPy | reference | NumPy/ours | reference/ours |", "|---|---|---|---|---|---|",
             *(row for _, row in sorted(rows))]
    print("\n".join(table))
    if options.out:
        with open(options.out, "w") as file:
            file.write("\n".join(table) + "\n")


if __name__ == "__main__":
    main()
