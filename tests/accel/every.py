#!/usr/bin/env python3
"""Compile every primitive and every public function for devices that are only described, and print which platform has what.

usage: every.py [tpu] [cuda] [--only WORD] [--part cases|functions] [--all] [--limit SECONDS]
The primitives are those of the tables of laws (`packages/numpy_api/tests`): value, jvp with its transpose, and batch of each case. The public
functions are called as in their docstrings' examples, with the arrays of each class of dtypes that the function takes on the CPU.
The compilers run in a process of their own, which is ended where a row takes longer than --limit seconds. What is a NotImplementedError is listed as not on this platform; the exit status is the number of other programs that do not compile. With --all
those that do are listed too.
"""
from __future__ import annotations

import argparse
import collections
import contextlib
import doctest
import importlib
import inspect
import io
import json
import os
import pathlib
import queue
import signal
import subprocess
import sys
import threading
import time
import types
import warnings

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "packages/numpy_api/tests"), str(ROOT / "packages/jax/tests")]

import accelerators  # noqa: E402
import numpy as np  # noqa: E402

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from harness import Case  # noqa: E402
from test_examples import functions  # noqa: E402
from test_public_names import MODULES  # noqa: E402

CLASSES = {"float": "float32", "narrow": "bfloat16", "complex": "complex64", "integer": "int32", "boolean": "bool"}
TABLES = [f"test_{name}" for name in ("lax_elementwise", "lax_dot", "lax_shape", "lax_reduce", "lax_indexing", "lax_windows", "lax_sorting", "lax_linalg",
                                      "numpy_elementwise", "numpy_arrays", "numpy_linalg")]
WITHOUT_ARRAYS = ("jax.core", "jax.extend", "jax.interpreters", "jax.lib", "jax.api_util", "jax.monitoring", "jax.test_util", "jax.profiler",
                  "jax.distributed", "jax.export", "jax.ffi", "jax.stages", "jax.sharding", "jax.dlpack", "jax.tree", "jax.dtypes", "jax.errors",
                  "jax.debug", "jax.experimental.pallas", "jax.experimental.multihost_utils", "jax.experimental.serialize_executable")
HERE_ALONE = {"jax.shard_map"}  # their examples hold a mesh of this machine's devices; `benchmarks/accelerators.py` compiles them on described ones
LONGEST = 60  # seconds for one program
ABSENT = "not on this platform"


class Compiler:
    """Compiles for the first of the devices that a platform's description has; the same text only once."""

    def __init__(self, platform):
        self.here = jax.sharding.SingleDeviceSharding(accelerators.TOPOLOGIES[platform]().devices[0])
        self.seen = {}

    def lower(self, fun, args):
        structs = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=self.here), args)
        return jax.jit(fun, out_shardings=self.here).lower(*structs)

    def wrong(self, forms):
        """What is wrong with the forms of a row: all are compiled as one program, and each alone only if that fails."""
        if len(forms) > 1 and self(lambda *all_args: [fun(*args) for (_, fun, _), args in zip(forms, all_args)], [list(args) for *_, args in forms]) is None:
            return []
        return [f"{name}: {said}" for name, fun, args in forms if (said := self(fun, args))]

    def __call__(self, fun, args):
        """None, or what was wrong."""
        try:
            with at_most(LONGEST):
                lowered = self.lower(fun, args)
                text = lowered.as_text().partition("\n")[2]
                if text not in self.seen:
                    self.seen[text] = None
                    lowered.compile()
        except NotImplementedError as error:
            return f"{ABSENT}: {error}"
        except Exception as error:
            return accelerators.said(error)
        return None


@contextlib.contextmanager
def at_most(seconds):
    def ring(*_):
        raise TimeoutError(f"not compiled within {seconds} s")
    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


# -- primitives ----------------------------------------------------------------------------------------------------------

def cases():
    """All cases of the tables of laws."""
    for table in TABLES:
        seen = set()
        for value in vars(importlib.import_module(table)).values():
            for case in value if isinstance(value, list) else ():
                if isinstance(case, Case) and id(case) not in seen:
                    seen.add(id(case))
                    yield case


def forms(case):
    """Each form of a case: its name, the function and its arguments."""
    for i, variant in enumerate(case.variants):
        yield f"value of {','.join(map(str, variant))}", lambda *xs: case.call(*xs), case.samples(i)
    point, inexact = case.samples(0), case.differentiable
    if case.derivative and inexact:
        def pulled(*xs):
            def fun(*moving):
                full = list(xs)
                for i, x in zip(inexact, moving):
                    full[i] = x
                return [y for y in case.call(*full) if jnp.issubdtype(y.dtype, jnp.inexact)]
            here = [xs[i] for i in inexact]
            outs, tangents = jax.jvp(fun, here, here)
            return tangents, jax.vjp(fun, *here)[1](outs)
        yield "jvp and transpose", pulled, point
    if case.vmapped and point:
        yield "batch", jax.vmap(lambda *xs: case.call(*xs)), [np.stack([x, x]) for x in map(np.asarray, point)]


# -- public functions ----------------------------------------------------------------------------------------------------

class Recorder:
    """A module as an example sees it: calls of one function are noted, with their arguments, and made."""

    def __init__(self, module, target, calls):
        self.__dict__.update(_module=module, _target=target, _calls=calls)

    def __getattr__(self, name):
        value = getattr(self._module, name)
        if isinstance(value, types.ModuleType):
            return Recorder(value, self._target, self._calls)
        return self._noted(value) if value is self._target else value

    def _noted(self, fun):
        def call(*args, **kwargs):
            result = fun(*args, **kwargs)
            if callable(result) and not hasattr(result, "shape"):
                return self._noted(result)  # a transformation: what it makes is what takes arrays
            if not any(isinstance(x, jax.core.Tracer) for x in jax.tree.leaves((args, kwargs, result))):
                self._calls.append((fun, args, kwargs))
            return result
        return call


def calls_in_example(doc, target):
    """The calls of ``target`` in the examples of its docstring."""
    calls = []
    names = {"jax": jax, "jnp": jnp, "jsp": jax.scipy, "lax": jax.lax}
    space = {name: Recorder(module, target, calls) for name, module in names.items()} | {"np": np}
    test = doctest.DocTestParser().get_doctest(inspect.cleandoc(doc), space, "example", None, None)
    with contextlib.redirect_stdout(io.StringIO()):
        doctest.DocTestRunner(verbose=False).run(test, out=lambda text: None, clear_globs=False)
    return calls


def as_program(fun, args, kwargs):
    """The call as a function of its arrays, and these."""
    leaves, structure = jax.tree.flatten((args, kwargs))
    where = [i for i, x in enumerate(leaves) if isinstance(x, (jax.Array, np.ndarray)) and x.dtype != object]

    def program(*arrays):
        full = list(leaves)
        for i, x in zip(where, arrays):
            full[i] = x
        args, kwargs = jax.tree.unflatten(structure, full)
        return fun(*args, **kwargs)
    return program, [leaves[i] for i in where]


def classes(program, arrays):
    """The arrays in each class of dtypes with which the CPU's program can be traced; the keys of `CLASSES`, or '' for them as they are."""
    plain = [x for x in arrays if jnp.issubdtype(x.dtype, jnp.number) or x.dtype == bool]
    for name, dtype in CLASSES.items() if plain else [("", None)]:
        own = [x.astype(dtype) if any(x is p for p in plain) and jnp.issubdtype(x.dtype, jnp.inexact) else x for x in arrays]
        if name in ("integer", "boolean") or not any(jnp.issubdtype(x.dtype, jnp.inexact) for x in plain):
            own = [x.astype(dtype) if any(x is p for p in plain) else x for x in arrays]
        try:
            jax.jit(program).lower(*own)
        except Exception:  # not a class that the function takes, or one that must be known while tracing
            continue
        yield name, own


def public_functions():
    seen = set()
    for module in MODULES:
        if not module.startswith(WITHOUT_ARRAYS):
            for name, value in functions(module):
                if ">>>" in value.__doc__ and value.__doc__ not in seen and f"{module}.{name}" not in HERE_ALONE:
                    seen.add(value.__doc__)
                    yield f"{module}.{name}", value


# -- the table -----------------------------------------------------------------------------------------------------------

def programs(part, only):
    """Each row's name, and its forms: (name, function, arguments)."""
    if part != "functions":
        found = collections.defaultdict(list)
        for case in cases():
            found[case.name].append(case)
        for name, group in found.items():
            if only in name:
                yield name, ((f"{case}: {form}", fun, args) for case in group for form, fun, args in forms(case))
    if part != "cases":
        for name, value in public_functions():
            if only in name:
                yield name, calls_as_forms(value)


def calls_as_forms(value):
    for fun, args, kwargs in calls_in_example(value.__doc__, value):
        program, arrays = as_program(fun, args, kwargs)
        for name, own in classes(program, arrays):
            yield name, program, own


def serve(platforms, part, only, first):
    """Compile the rows from the number ``first`` on, and write two lines for each: its name, then what came of it."""
    compilers = {platform: Compiler(platform) for platform in platforms}
    for number, (name, found) in enumerate(programs(part, only)):
        if number < first:
            continue
        print(json.dumps({"begins": number, "name": name}), flush=True)
        with warnings.catch_warnings(), contextlib.redirect_stdout(sys.stderr):
            warnings.simplefilter("ignore")
            forms = list(found)
            said = [f"    {platform}: {wrong}" for platform, compiler in compilers.items() for wrong in compiler.wrong(forms)]
        print(json.dumps({"programs": len(forms), "said": said}), flush=True)
    print(json.dumps({"end": True}), flush=True)


class Worker:
    """A process that runs `serve`. A compiler cannot be interrupted, but its process can be ended."""

    def __init__(self, args, first):
        command = [sys.executable, __file__, *args.platforms, "--part", args.part, "--only", args.only, "--first", str(first)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(json.loads(line))
        self.lines.put({"died": f"the process ended with status {self.process.wait()}"})

    def next(self, seconds):
        """The next line; or why none came, and the process is at its end."""
        try:
            return self.lines.get(timeout=seconds)
        except queue.Empty:
            return {"died": f"not finished within {seconds} s"}

    def end(self):
        self.process.kill()
        self.process.wait()


def rows(args):
    """Name, number of programs and what was wrong, for each row; a row that does not end, or ends its process, is a wrong one."""
    first, deaths = 0, 0
    while True:
        worker, name = Worker(args, first), None
        try:
            while "end" not in (line := worker.next(args.limit)):
                if "begins" in line:
                    first, name = line["begins"] + 1, line["name"]
                elif "died" in line:
                    break
                else:
                    yield name, line["programs"], line["said"]
                    name = None
            else:
                return
        finally:
            worker.end()
        deaths = deaths + 1 if name is None else 0
        if deaths > 1:
            raise RuntimeError(f"no row was begun: {line['died']}")
        if name is not None:
            yield name, 0, [f"    {line['died']}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("platforms", nargs="*", default=[])
    parser.add_argument("--only", default="")
    parser.add_argument("--part", choices=["cases", "functions", "both"], default="both")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--limit", type=int, default=600, help="seconds for one row")
    parser.add_argument("--first", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    args.platforms = args.platforms or list(accelerators.TOPOLOGIES)
    if args.first is not None:
        serve(args.platforms, args.part, args.only, args.first)
        return
    count, lost, start = 0, 0, time.perf_counter()
    for number, (name, done, said) in enumerate(rows(args), 1):
        count, lost = count + done, lost + sum(ABSENT not in line for line in said)
        if said or args.all:
            print(f"{name}: {done} programs, {'all compile' if not said else f'{len(said)} do not'}", *said, sep="\n", flush=True)
        if number % 50 == 0:
            print(f"{number} rows, {count} programs, {lost} lost, {time.perf_counter() - start:.0f} s; last {name}", file=sys.stderr, flush=True)
    print(f"{' and '.join(args.platforms)}: {count} programs each, {lost} do not compile; {time.perf_counter() - start:.0f} s")
    sys.exit(min(lost, 125))


if __name__ == "__main__":
    main()
