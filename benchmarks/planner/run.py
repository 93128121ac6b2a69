#!/usr/bin/env python3
"""Times the programs of this folder: trace, lower and compile separately, then the run; prints JSON in milliseconds.

usage: run.py [--only NAME,...] [--repeat 1] [--seconds 0.6] [--list]

Nothing is read from a cache of compiled programs. Tracing and lowering take the least of two tries (the first loads
code); compiling is done `--repeat` times, and the least stands. The run is the least of blocks of calls within
`--seconds`, each block long enough for the clock. `check` is a number made from the results, for telling whether two
sides computed the same.
"""
import argparse
import json
import os
import sys
import time

os.environ.setdefault("JAX_ENABLE_COMPILATION_CACHE", "0")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import jax
import numpy as np
from programs import PROGRAMS

BLOCK = 0.004  # seconds


def stage_times(function, args, compiles: bool):
    """Seconds of each stage for a function object not seen before, and the executable or None."""
    fresh = lambda *a: function(*a)
    clock = [time.perf_counter()]
    traced = jax.jit(fresh).trace(*args)
    clock.append(time.perf_counter())
    lowered = traced.lower()
    clock.append(time.perf_counter())
    executable = lowered.compile() if compiles else None
    clock.append(time.perf_counter())
    return dict(zip(("trace", "lower", "compile"), np.diff(clock)[:2 + compiles])), executable


def run_seconds(call, args, budget: float) -> float:
    """Seconds of one call: the least over blocks, at least three."""
    jax.block_until_ready(call(*args))
    t0 = time.perf_counter()
    jax.block_until_ready(call(*args))
    n = max(1, int(BLOCK / (time.perf_counter() - t0)))
    best, blocks, stop = float("inf"), 0, time.perf_counter() + budget
    while blocks < 3 or time.perf_counter() < stop:
        t0 = time.perf_counter()
        for _ in range(n):
            jax.block_until_ready(call(*args))
        best, blocks = min(best, (time.perf_counter() - t0) / n), blocks + 1
    return best


def checksum(results) -> float:
    """Mean over the leaves of their mean absolute value."""
    leaves = [np.asarray(x) for x in jax.tree_util.tree_leaves(results)]
    return float(np.mean([np.mean(np.abs(x.astype(np.complex128))) for x in leaves]))


def measure(name: str, repeat: int = 1, seconds: float = 0.6) -> dict[str, float]:
    """All figures of one program, times in milliseconds."""
    function, args = PROGRAMS[name]()
    best, executable = stage_times(function, args, compiles=False)
    for _ in range(repeat):
        jax.clear_caches() if executable else None
        times, executable = stage_times(function, args, compiles=True)
        best = {stage: min(t, best.get(stage, t)) for stage, t in times.items()}
    best["total_compile"] = sum(best.values())
    best["run"] = run_seconds(executable, args, seconds) if seconds else float("nan")
    out = {stage: round(t * 1e3, 3) for stage, t in best.items()}
    memory = getattr(executable.memory_analysis(), "temp_size_in_bytes", None)
    return dict(out, check=checksum(executable(*args)), temporaries_mb=memory and round(memory / 1e6, 3))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="names or parts of names, by comma")
    parser.add_argument("--repeat", type=int, default=1, help="how often each program is compiled")
    parser.add_argument("--seconds", type=float, default=0.6, help="of running, for each program")
    parser.add_argument("--list", action="store_true", help="print the names and stop")
    args = parser.parse_args()
    wanted = [part for part in args.only.split(",") if part]
    names = [n for n in PROGRAMS if not wanted or n in wanted or any(w in n for w in wanted)]
    if args.list:
        return print("\n".join(names))
    out = {}
    for name in names:
        print(f"{name} ...", file=sys.stderr, flush=True)
        out[name] = measure(name, args.repeat, args.seconds)
    print(json.dumps(out, indent=1))


if __name__ == "__main__":
    main()
