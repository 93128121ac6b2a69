"""Errors of elementary functions of float32 over all its numbers, ours and another installation's, in units in the last place.

    python benchmarks/accuracy/whole_range.py [--reference /path/to/python] [--step 1021] [--only name ...] [--out table.md]

Bit patterns are tried in chunks of 2**20, every one with ``--step 1``, and compared with NumPy's function of float64. Subnormal numbers and
results are left out, as XLA takes them for zero. ``wrong`` counts results that are NaN, infinite or finite where the true one is not.
"""
import argparse
import json
import os
import subprocess
import sys

import numpy as np

FUNCTIONS = {"sin": "sin", "cos": "cos", "tan": "tan", "arcsin": "arcsin", "arccos": "arccos", "arctan": "arctan", "exp": "exp",
             "exp2": "exp2", "expm1": "expm1", "log": "log", "log2": "log2", "log1p": "log1p", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh",
             "arcsinh": "arcsinh", "arccosh": "arccosh", "arctanh": "arctanh", "cbrt": "cbrt"}
CHUNK = 1 << 20


def errors(got, want):
    """Of each result in units of the spacing at the true value, 0 where that is not normal; and how many differ in kind."""
    tiny, largest = np.finfo(np.float32).tiny, np.finfo(np.float32).max
    normal = (np.abs(want) >= tiny) & (np.abs(want) <= largest)
    unit = np.exp2(np.floor(np.log2(np.where(normal, np.abs(want), 1))) - 23)
    finite = np.isfinite(got)
    wrong = (normal & ~finite) | (np.isnan(want) & ~np.isnan(got)) | (np.isinf(want) & (got != want))
    return np.where(normal & finite, np.abs(got.astype(np.float64) - want) / unit, 0), wrong


def work(names, step):
    import jax
    import jax.numpy as jnp
    out = {}
    for name in names:
        function, worst, at, wrong = jax.jit(getattr(jnp, name)), 0.0, 0.0, 0
        for start in range(0, 1 << 32, CHUNK * step):
            x = np.arange(start, min(start + CHUNK * step, 1 << 32), step, dtype=np.uint64).astype(np.uint32).view(np.float32)
            x = np.where(np.abs(x) < np.finfo(np.float32).tiny, np.float32(0), x)
            with np.errstate(all="ignore"):
                error, bad = errors(np.asarray(function(x)), getattr(np, FUNCTIONS[name])(x.astype(np.float64)))
            k = error.argmax()
            if error[k] > worst:
                worst, at = float(error[k]), float(x[k])
            wrong += int(bad.sum())
        out[name] = worst, at, wrong
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reference", help="the Python of another installation")
    parser.add_argument("--step", type=int, default=1021)
    parser.add_argument("--only", nargs="*", default=list(FUNCTIONS))
    parser.add_argument("--out", help="file for the table")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return print(json.dumps(work(options.only, options.step)))
    sides = [(sys.executable, os.environ)]
    if options.reference:
        sides.append((options.reference, {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}))
    found = [json.loads(subprocess.run([python, os.path.abspath(__file__), "--worker", "--step", str(options.step), "--only", *options.only],
                                       check=True, env=env, text=True, stdout=subprocess.PIPE, cwd="/").stdout.splitlines()[-1])
             for python, env in sides]
    table = ["| function | ours: largest error | at | wrong |" + " reference: largest error | at | wrong |" * (len(found) - 1),
             "|---" * (1 + 3 * len(found)) + "|"]
    for name in options.only:
        table.append(f"| {name} | " + " | ".join("{:.3f} | {:.9g} | {}".format(*side[name]) for side in found) + " |")
    print("\n".join(table))
    if options.out:
        with open(options.out, "w") as file:
            file.write("\n".join(table) + "\n")


if __name__ == "__main__":
    main()
