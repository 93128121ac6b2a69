#!/usr/bin/env python3
"""The benchmarks that the public jax has of itself, on ours and on the reference, worst first.

usage: public_suite.py OURS_PYTHON THEIRS_PYTHON --from GITDIR [--files api linalg ...] [--rounds 2] [--devices 8] [--least 5] [--most 40]

Nothing of them is stored here: the files ``benchmarks/*_benchmark.py`` are read from a git directory of the public repository, and run
with a ``google_benchmark`` of our own (this file). A figure is the processor's time of all threads for one iteration, the least of some rounds
in which the interpreters alternate; below ``--least`` microseconds it is not compared. Private modules of the public jax that an interpreter lacks
are empty, so that what needs them fails alone and is listed.
"""
import argparse
import ast
import importlib.abc
import importlib.machinery
import itertools
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import types

FILES = ["api", "cache", "linalg", "math", "random", "shape_poly", "sparse", "tracing"]
PLANNED = 0.03  # seconds of processor's time for one measurement
LONG = 2.0  # what takes this many seconds is measured once


class State:
    """What a benchmark loops over: true as many times as there are iterations."""

    def __init__(self, arguments, iterations):
        self.arguments, self.iterations, self.left, self.error, self.counters = arguments, iterations, iterations, None, {}
        self.spent, self.since = 0.0, None

    def __bool__(self):
        if self.since is None:
            self.since = time.process_time()
        self.left -= 1
        if self.left < 0:
            self.pause_timing()
        return self.left >= 0

    def pause_timing(self):
        self.spent += time.process_time() - self.since

    def resume_timing(self):
        self.since = time.process_time()

    def range(self, i=0):
        return self.arguments[i]

    def skip_with_error(self, text):
        self.error, self.left = text, 0


class Options:
    """``option.args(...)`` and their kind, as decorators; those that say nothing of the arguments change nothing."""

    def __getattr__(self, name):
        lists = {"arg": lambda x: [(x,)], "args": lambda xs: [tuple(xs)], "args_product": lambda ranges: itertools.product(*ranges),
                 "dense_range": lambda start, limit, step=1: [(i,) for i in range(start, limit + 1, step)]}.get(name, lambda *_, **__: [])

        def option(*args, **kwargs):
            def decorate(f):
                f.calls = [*lists(*args, **kwargs), *getattr(f, "calls", [])]
                return f
            return decorate
        return option


def harness():
    """The module `google_benchmark`, and the list that it fills with names and functions."""
    found = []

    def register(f=None, *, name=None):
        if f is None:
            return lambda f: register(f, name=name)
        found.append((name or f.__name__, f))
        return f
    module = types.ModuleType("google_benchmark")
    module.register, module.option, module.main = register, Options(), lambda *_: None
    module.__getattr__ = lambda name: name  # units
    return module, found


class Absent(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """For the ``modules`` that there are not: empty ones, whose functions fail when they are called."""

    def __init__(self, modules):
        self.modules = modules

    def find_spec(self, name, path=None, target=None):
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if name in self.modules else None

    def exec_module(self, module):
        def fails(name):
            if name.startswith("__"):
                raise AttributeError(name)

            def absent(*_, **__):
                raise NotImplementedError(f"{module.__name__}.{name} is not there")
            return absent
        module.__getattr__ = fails


def imported(source):
    """The modules of jax that a program imports, with the packages around them."""
    lines = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("jax.")]
    names = {name for node in lines for name in (node.module, *(f"{node.module}.{a.name}" for a in node.names))}
    return {".".join(parts[:n]) for parts in (name.split(".") for name in names) for n in range(2, len(parts) + 1)}


def seconds(f, arguments):
    """The processor's time of one iteration."""
    first = run(f, arguments, 1)
    return first if first > LONG else run(f, arguments, max(1, min(10_000, math.ceil(PLANNED / max(first, 1e-7)))))


def run(f, arguments, iterations):
    state = State(arguments, iterations)
    f(state)
    if state.error:
        raise RuntimeError(state.error)
    return state.spent / iterations


def work(path):
    """Runs the benchmarks of a file and prints, for each, a JSON line."""
    module, found = harness()
    sys.modules["google_benchmark"] = module
    source = pathlib.Path(path).read_text()
    sys.meta_path.append(Absent(imported(source)))
    exec(compile(source, path, "exec"), {"__name__": "__main__"})
    for name, f in found:
        for arguments in getattr(f, "calls", []) or [()]:
            label = "/".join([name, *map(str, arguments)])
            try:
                result = seconds(f, arguments)
            except Exception as error:
                result = f"{type(error).__name__}: {error}"[:200]
            print(json.dumps([label, result]), flush=True)


def measured(python, path, devices):
    env = {**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}", "JAX_ENABLE_COMPILATION_CACHE": "0"}
    out = subprocess.run([python, __file__, "--work", str(path)], env=env, capture_output=True, text=True)
    if out.returncode:
        print(f"{path.stem} under {python}: {out.stderr.strip().splitlines()[-1]}", file=sys.stderr)
    return dict(map(json.loads, out.stdout.splitlines()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pythons", nargs=2)
    parser.add_argument("--from", dest="repository", required=True)
    parser.add_argument("--files", nargs="*", default=FILES)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--devices", type=int, default=8)
    parser.add_argument("--least", type=float, default=5.0)
    parser.add_argument("--most", type=int, default=40)
    options = parser.parse_args()
    rows, lost = [], []
    for file in options.files:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, f"{file}_benchmark.py")
            path.write_text(subprocess.run(["git", "--git-dir", options.repository, "show", f"HEAD:benchmarks/{path.name}"],
                                           check=True, capture_output=True, text=True).stdout)
            sides = [[measured(python, path, options.devices) for python in options.pythons] for _ in range(options.rounds)]
        for name in sides[0][1]:
            ours, theirs = ([side[i].get(name) for side in sides] for i in (0, 1))
            if any(isinstance(x, str) or x is None for x in theirs):
                continue
            if wrong := [x for x in ours if isinstance(x, str) or x is None]:
                lost.append(f"{file}: {name}: {wrong[0]}")
            elif max(min(ours), min(theirs)) * 1e6 >= options.least:
                rows.append((min(theirs) / max(min(ours), 1e-9), f"{file}: {name}", min(ours) * 1e6, min(theirs) * 1e6))
    rows.sort()
    print("| benchmark | ours, us | reference, us | reference / ours |\n|---|---|---|---|")
    for ratio, name, ours, theirs in rows[:options.most]:
        print(f"| {name} | {ours:.1f} | {theirs:.1f} | {ratio:.2f} |")
    mean = math.exp(sum(math.log(row[0]) for row in rows) / max(len(rows), 1))
    print(f"\n{len(rows)} benchmarks, {sum(row[0] < 0.9 for row in rows)} of them slower by more than 10 %; geometric mean {mean:.2f}")
    print("\n".join(["run by the reference only:", *lost] if lost else []))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(sys.argv[2])
    else:
        main()
