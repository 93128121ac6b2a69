#!/usr/bin/env python3
"""Calls of all of jax.numpy at 10, 1,000 and 1,000,000 elements, eager or compiled, beside the reference and NumPy, worst first.

usage: eager_sweep.py OURS_PYTHON THEIRS_PYTHON [--rounds 3] [--only NAME ...] [--sizes 10 1000 1000000] [--most 40] [--cpu] [--seconds 0.02]
       [--modules jax.numpy jax.numpy.linalg jax.lax jax.nn jax.scipy.special ...] [--lists 1] [--dtype float32] [--mode eager|jit|slope|vmap]

Each function of ``--modules`` is called with the first ``--lists`` of a few lists of arguments that it takes under ours. A figure is the least time of a
call, ready result included, over rounds in which the two interpreters alternate. A call is a loss against the reference where it takes
10 % more and against NumPy where it takes more than 5 us + 1.3 times as long. ``--cpu`` counts the processor's time of all threads, not the
wall's: for machines that do other work too. ``--seconds`` is the length of one measurement, of which there are five. ``--mode jit`` compiles each call,
with its arrays as arguments, ``slope`` the gradient of the sum of its results, ``vmap`` the call for eight of each array; NumPy is left out then. ``--dtype`` is that of all floats. ``programs/calls.py`` has single calls
for `interleaved.py`, whose ratios are closer, and which times compiling.
"""
import argparse
import importlib
import inspect
import json
import math
import os
import subprocess
import sys
import time
import typing
import warnings

SIZES = 10, 1_000, 1_000_000
# What is no computation on arrays, or needs a function or a file; polynomial makes a program of each coefficient.
LEFT_OUT = set("""save savez load fromfile fromfunction frompyfunc apply_along_axis apply_over_axes vectorize printoptions get_printoptions
set_printoptions array_repr array_str array2string from_dlpack fromstring frombuffer fromiter info finfo iinfo issubdtype isdtype can_cast promote_types
result_type dtype einsum_path save_npz broadcast_shapes index_exp s_ ufunc ndim shape size iterable isscalar mask_indices unravel_index polynomial""".split())


def arguments(n, dtype):
    """Lists of arguments, the most frequent first, for functions of about ``n`` elements."""
    import numpy as np
    rng = np.random.default_rng(0)
    k = math.isqrt(n)
    x, y = (rng.uniform(0.1, 0.9, n).astype(dtype) for _ in range(2))
    matrix = (rng.normal(size=(k, k)) + 3 * np.eye(k)).astype(dtype)
    i, j = (rng.integers(0, 10, n).astype(np.int32) for _ in range(2))
    at = rng.integers(0, n, min(n, 100)).astype(np.int32)
    b = x > 0.5
    named = dict.fromkeys(["zeros", "ones", "empty", "arange", "eye", "identity", "tri", "hamming", "hanning", "bartlett", "blackman"], (n,))
    named.update(dict.fromkeys(["eye", "identity", "tri", "tril_indices", "triu_indices", "diag_indices"], (k,)), full=((n,), 1.0),
                 linspace=(0.0, 1.0, n), logspace=(0.0, 1.0, n), geomspace=(1.0, 2.0, n), take=(x, at), bincount=(i,), repeat=(x, 2), tile=(x, 2),
                 indices=((k, k),), broadcast_to=(x, (2, n)), reshape=(x, (1, n)), resize=(x, (2, n)), roll=(x, 3), expand_dims=(x, 0), squeeze=(x[None], 0),
                 moveaxis=(matrix, 0, 1), rollaxis=(matrix, 1), swapaxes=(matrix, 0, 1), permute_dims=(matrix, (1, 0)), transpose=(matrix,), choose=(b.astype(np.int32), (x, y)), array_split=(x, 4), split=(x, 2), hsplit=(x, 2), vsplit=(matrix, 2),
                 insert=(x, 1, 0.5), delete=(x, 1), select=([b], [x]), array=(x,), put=(x, at, 1.0), trim_zeros=(x,), unstack=(matrix,), polyval=(x[:10], y), percentile=(x, 30.0), quantile=(x, 0.3),
                 nanpercentile=(x, 30.0), nanquantile=(x, 0.3), dsplit=(matrix[:, :, None], 1), meshgrid=(x[:k], y[:k]))
    named.update(dict.fromkeys(["vander", "poly", "roots", "diag", "diagflat"], (x[:k],)))  # as many results as the square of n
    named.update(dict.fromkeys(["outer", "kron", "convolve", "correlate", "polymul", "polydiv"], (x[:k], y[:k])))
    named.update(dict.fromkeys(["hstack", "vstack", "dstack", "column_stack", "concatenate", "concat", "stack", "lexsort", "block", "ix_"], ((x, y),)), ix_=(at, at))
    named.update(polyfit=(x, y, 2), piecewise=(x, [b], [1.0, 2.0]), block=([[matrix, matrix], [matrix, matrix]],))
    return named, [(x,), (x, y), (i,), (i, j), (matrix,), (matrix, matrix), (b, x, y), (x, 1), (x, at), (x, 0.25), (b,), (b, x), (x, (n,)), ((x, y),), (n,),
            ((k, k),), ((k, k), 1.0), (x, x, y), (x, 2, 0), (matrix, 0, 1), (0.0, 1.0, n), ("ij,jk->ik", matrix, matrix), (x, -1, 0), (matrix, 0),
            (x, at, 1.0), (matrix, k), (k,), (k, 2), (x, [(0, 1)]), (matrix, (1, 0)), (b, (x,), 0.0), ([b], [x]), (matrix, [0, 1])]


def public(module):
    return [name for name in sorted(dir(module)) if not name.startswith("_") and name not in LEFT_OUT
            and callable(getattr(module, name)) and not inspect.isclass(getattr(module, name)) and not typing.get_origin(getattr(module, name))]


def seconds(call, clock, length):
    """The least time of a call, in several short measurements."""
    start = clock()
    call()
    number = max(1, min(1000, int(length / max(clock() - start, 1e-7))))
    best = math.inf
    for _ in range(5):
        start = clock()
        for _ in range(number):
            call()
        best = min(best, (clock() - start) / number)
    return best


def program(function, given, mode):
    """``function`` as one of the arrays among ``given`` alone, the gradient of the sum of its results by them, or the function of eight of each; and these."""
    import jax
    import jax.numpy as jnp
    leaves, tree = jax.tree.flatten(given)
    arrays = [x for x in leaves if isinstance(x, jax.Array)]

    def f(*arrays):
        rest = iter(arrays)
        return function(*jax.tree.unflatten(tree, [next(rest) if isinstance(x, jax.Array) else x for x in leaves]))

    def total(*arrays):
        return sum(jnp.sum(jnp.real(y)).astype(float) for y in jax.tree.leaves(f(*arrays)) if jnp.issubdtype(y.dtype, jnp.inexact))
    if mode == "vmap":
        return jax.vmap(f), [jnp.stack([x] * 8) for x in arrays]
    if mode == "slope":
        return jax.grad(total, tuple(i for i, x in enumerate(arrays) if jnp.issubdtype(x.dtype, jnp.floating))), arrays
    return f, arrays


def compiled(function, given, mode):
    """A call of what `program` makes of these."""
    import jax
    f, arrays = program(function, given, mode)
    run = jax.jit(f)
    return lambda: jax.block_until_ready(run(*arrays))


def measure(plan):
    """Times by name and size under the jax of this process; chooses arguments where ``plan`` has none."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    warnings.simplefilter("ignore")
    length = plan["seconds"]
    clock = time.process_time if plan["cpu"] else time.perf_counter
    chosen, times, numpys = {}, {}, {}
    modules = {where: importlib.import_module(where) for where in plan["modules"]}
    for n in plan["sizes"]:
        named, common = arguments(n, jnp.dtype(plan["dtype"]))
        to_device = lambda tree: jax.tree.map(lambda a: jnp.asarray(a) if isinstance(a, np.ndarray) else a, tree)
        for where, module in modules.items():
            for name in plan["only"] or public(module):
                lists = [named[name]] if name in named and module is jnp else common
                label = name if module is jnp else f"{where.removeprefix('jax.')}.{name}"
                found = 0
                for index, given in enumerate(map(to_device, lists)):
                    key = f"{label} {n}" if plan["lists"] == 1 else f"{label} [{index}] {n}"
                    if found == plan["lists"] or plan["chosen"] is not None and plan["chosen"].get(key) != index:
                        continue
                    if plan["progress"]:
                        print(key, index, round(time.process_time(), 1), file=sys.stderr, flush=True)
                    call = lambda: jax.block_until_ready(getattr(module, name)(*given))
                    try:
                        if plan["mode"] != "eager":
                            call = compiled(getattr(module, name), given, plan["mode"])
                        call(), call()
                    except Exception:
                        continue
                    found += 1
                    chosen[key], times[key] = index, seconds(call, clock, length) * 1e6
                    if module is jnp and hasattr(np, name) and plan["mode"] == "eager":
                        try:
                            numpys[key] = seconds(lambda: getattr(np, name)(*lists[index]), clock, length) * 1e6
                        except Exception:
                            pass
    return {"chosen": chosen, "times": times, "numpy": numpys}


def run(python, plan):
    environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", JAX_PLATFORMS="cpu", JAX_ENABLE_X64=str(int(plan["dtype"] == "float64")))
    done = subprocess.run([python, __file__, "--measure"], input=json.dumps(plan), stdout=subprocess.PIPE, text=True, env=environment)
    if done.returncode:
        sys.exit(f"{python} failed")
    return json.loads(done.stdout.splitlines()[-1])


def table(title, rows, most):
    print(f"\n{title}: {len(rows)}")
    print(f"{'call, elements':40} {'ours us':>12} {'other us':>12} {'other/ours':>10}")
    for name, ours, other in sorted(rows, key=lambda row: row[2] / row[1])[:most]:
        print(f"{name:40} {ours:12.1f} {other:12.1f} {other / ours:10.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ours")
    parser.add_argument("theirs")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--sizes", nargs="*", type=int, default=SIZES)
    parser.add_argument("--most", type=int, default=40)
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--seconds", type=float, default=0.02)
    parser.add_argument("--progress", action="store_true", help="name each call on stderr before it is made")
    parser.add_argument("--modules", nargs="*", default=["jax.numpy"])
    parser.add_argument("--lists", type=int, default=1, help="how many lists of arguments of each function")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--mode", choices=["eager", "jit", "slope", "vmap"], default="eager")
    args = parser.parse_args()
    plan = {**vars(args), "chosen": None}
    best = {"ours": {}, "theirs": {}, "numpy": {}}

    def note(side, times):
        for key, value in times.items():
            best[side][key] = min(value, best[side].get(key, math.inf))
    for _ in range(args.rounds):
        mine = run(args.ours, plan)
        plan["chosen"] = plan["chosen"] or mine["chosen"]
        note("ours", mine["times"])
        note("numpy", mine["numpy"])
        note("theirs", run(args.theirs, plan)["times"])
    ours, theirs, numpys = best["ours"], best["theirs"], best["numpy"]
    both = [(key, ours[key], theirs[key]) for key in theirs if key in ours]
    table("slower than the reference by more than 10 %", [row for row in both if row[1] > 1.1 * row[2]], args.most)
    table("slower than NumPy by more than 5 us + 1.3 times", [
        (key, ours[key], value) for key, value in numpys.items() if ours[key] > 5 + 1.3 * value], args.most)
    for n in args.sizes:
        logs = [math.log(b / a) for key, a, b in both if key.endswith(f" {n}")]
        print(f"{n} elements: {len(logs)} calls, geometric mean of reference/ours {math.exp(sum(logs) / max(1, len(logs))):.2f}")


if __name__ == "__main__":
    if sys.argv[1:] == ["--measure"]:
        print(json.dumps(measure(json.loads(sys.stdin.read()))))
    else:
        main()
