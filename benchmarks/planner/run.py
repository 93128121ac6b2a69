#!/usr/bin/env python3
"""Times the programs of this folder: trace, lower and compile separately, then the run; prints JSON in milliseconds.

usage: run.py [--only NAME,...] [--repeat 1] [--seconds 0.6] [--list | --serve]

Nothing is read from a cache of compiled programs. Tracing and lowering take the least of two tries (the first loads
code); compiling is done `--repeat` times, and the least stands. The run is the least of blocks of calls within
`--seconds`, each block long enough for the clock. `check` is a number made from the results, for telling whether two
sides computed the same. `--serve` is for compare.py: it answers one line of JSON to each line of JSON.
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
    """Seconds of each stage for a function object not seen before, the lowered program, and the executable or None."""
    fresh = lambda *a: function(*a)
    clock = [time.perf_counter()]
    traced = jax.jit(fresh).trace(*args)
    clock.append(time.perf_counter())
    lowered = traced.lower()
    clock.append(time.perf_counter())
    executable = lowered.compile() if compiles else None
    clock.append(time.perf_counter())
    return dict(zip(("trace", "lower", "compile"), np.diff(clock)[:2 + compiles])), lowered, executable


def run_seconds(call, args, budget: float) -> float:
    """Seconds of one call: the least over blocks, at least two."""
    jax.block_until_ready(call(*args))
    t0 = time.perf_counter()
    jax.block_until_ready(call(*args))
    n = max(1, int(BLOCK / (time.perf_counter() - t0)))
    best, blocks, stop = float("inf"), 0, time.perf_counter() + budget
    while blocks < 2 or time.perf_counter() < stop:
        t0 = time.perf_counter()
        for _ in range(n):
            jax.block_until_ready(call(*args))
        best, blocks = min(best, (time.perf_counter() - t0) / n), blocks + 1
    return best


def checksum(results) -> float:
    """Mean over the leaves of their mean absolute value."""
    leaves = [np.asarray(x) for x in jax.tree_util.tree_leaves(results)]
    return float(np.mean([np.mean(np.abs(x.astype(np.complex128))) for x in leaves]))


class Program:
    """One program of the register on its way: compiled as often as asked, then run."""

    def __init__(self, name: str):
        self.function, self.args = PROGRAMS[name]()
        self.first = stage_times(self.function, self.args, compiles=False)[0]
        self.executable = None

    def compile(self) -> dict[str, float]:
        """Milliseconds of trace, lower, compile, and of all three."""
        jax.clear_caches() if self.executable else None  # else ours would find the executable by its text
        times, self.lowered, self.executable = stage_times(self.function, self.args, compiles=True)
        best = {stage: min(t, self.first.get(stage, t)) for stage, t in times.items()}
        return {stage: round(t * 1e3, 3) for stage, t in dict(best, total_compile=sum(best.values())).items()}

    def run(self, seconds: float) -> dict[str, float]:
        return dict(run=round(run_seconds(self.executable, self.args, seconds) * 1e3, 4))

    def facts(self) -> dict[str, float]:
        """A number made from the results, the memory for temporaries, and how many barriers were placed."""
        memory = getattr(self.executable.memory_analysis(), "temp_size_in_bytes", 0)
        return dict(check=checksum(self.executable(*self.args)), temporaries_mb=round(memory / 1e6, 3),
                    barriers=self.lowered.as_text().count("optimization_barrier"))


def measure(name: str, repeat: int = 1, seconds: float = 0.6) -> dict[str, float]:
    """All figures of one program, times in milliseconds."""
    program = Program(name)
    tries = [program.compile() for _ in range(repeat)]
    return {**{key: min(t[key] for t in tries) for key in tries[0]}, **program.run(seconds), **program.facts()}


def serve(answers) -> None:
    """Answer ["open", name], ["compile"], ["run", seconds], ["facts"] from standard input until it ends."""
    program = None
    for line in sys.stdin:
        command, *rest = json.loads(line)
        try:
            if command == "open":
                program, answer = None, {}
                jax.clear_caches()
                program = Program(*rest)
            else:
                answer = getattr(program, command)(*rest)
        except Exception as error:
            answer = dict(error=f"{type(error).__name__}: {error}"[:300])
        print(json.dumps(answer), file=answers, flush=True)


def names_like(parts: str) -> list[str]:
    """Names that contain one of ``parts`` (by comma); all for an empty string."""
    wanted = [part for part in parts.split(",") if part]
    return [name for name in PROGRAMS if not wanted or any(part in name for part in wanted)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="names or parts of names, by comma")
    parser.add_argument("--repeat", type=int, default=1, help="how often each program is compiled")
    parser.add_argument("--seconds", type=float, default=0.6, help="of running, for each program")
    parser.add_argument("--list", action="store_true", help="print the names and stop")
    parser.add_argument("--serve", action="store_true", help="take commands from standard input")
    args = parser.parse_args()
    names = names_like(args.only)
    if args.list:
        return print("\n".join(names))
    if args.serve:
        answers = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)  # what libraries print does not mix with the answers
        return serve(answers)
    out = {}
    for name in names:
        print(f"{name} ...", file=sys.stderr, flush=True)
        out[name] = measure(name, args.repeat, args.seconds)
    print(json.dumps(out, indent=1))


if __name__ == "__main__":
    main()
