#!/usr/bin/env python3
"""Where the first minute of a training script goes: seconds of each stage up to the first and the hundredth step, as a table.

usage: first_minute.py OURS_PYTHON THEIRS_PYTHON [--rounds 3] [--only NAME,...] [--modes cold,warm,off] [--wall]

Each measurement is a process of its own. "cold" has an empty cache of compiled programs, "warm" the one that the cold
process left, "off" none; both sides keep every program. What is not theirs (scikit-learn, matplotlib) is loaded before the
clock starts. The least of the rounds counts, of the processor's time in all threads; --wall takes that on the wall.
"""
import argparse
import importlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
STAGES = ("import", "arrays", "trace", "lower", "compile", "step 1", "first step", "to 100")
MODES = ("cold", "warm", "off")


def digits():
    """`examples/digits.py`: Adam on a perceptron; a step is an epoch, as there."""
    sys.path.insert(0, str(HERE.parent / "examples"))
    for name in ("numpy", "sklearn.datasets", "sklearn.model_selection", "matplotlib.pyplot", "tqdm"):
        importlib.import_module(name)

    def setup():
        import digits as example
        import jax
        import jax.numpy as jnp
        images, labels = example.load_digits(return_X_y=True)
        key, init_key = jax.random.split(jax.random.PRNGKey(0))
        params = example.init(init_key)
        zeros = jax.tree.map(jnp.zeros_like, params)
        return example.epoch, ((params, zeros, zeros, 0), key, jnp.asarray(images, jnp.float32), jnp.asarray(labels, jnp.int32))
    return setup


def planned(module, name):
    """A program of the planner suite."""
    def prepare():
        sys.path.insert(0, str(HERE / "planner"))
        importlib.import_module("numpy")

        def setup():
            import jax
            step, args = getattr(importlib.import_module(f"programs.{module}"), name)()
            return jax.jit(step), args
        return setup
    return prepare


def client(name):
    """A training step of a client library, on zeros."""
    def prepare():
        importlib.import_module("numpy")

        def setup():
            import jax
            import jax.numpy as jnp
            step, types = importlib.import_module("client_steps").STEPS[name]()
            return jax.jit(step), jax.tree.map(lambda t: jnp.zeros(t.shape, t.dtype), types)
        return setup
    return prepare


PROGRAMS = {"digits": digits, "transformer": planned("transformers", "transformer_sgd_12"), "transformer, Adam": planned("transformers", "transformer_adam_4"),
            "nnx transformer": client("nnx transformer"), "linen convolutions": client("linen convolutions")}


def worker(program, clock):
    now, times = getattr(time, clock), {}

    def lap(stage, since):
        times[stage] = now() - since
        return now()
    setup = PROGRAMS[program]()
    start = at = now()
    import jax
    import jax.numpy  # noqa: F401
    at = lap("import", at)
    step, args = setup()
    at = lap("arrays", at)
    traced = step.trace(*args)
    at = lap("trace", at)
    lowered = traced.lower()
    at = lap("lower", at)
    compiled = lowered.compile()
    at = lap("compile", at)
    jax.block_until_ready(compiled(*args))
    at = lap("step 1", at)
    times["first step"] = at - start
    for _ in range(99):
        jax.block_until_ready(compiled(*args))
    times["to 100"] = now() - at
    print(json.dumps(times))


def measure(python, program, clock, cache):
    env = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="2", JAX_ENABLE_COMPILATION_CACHE="1" if cache else "0",
               JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS="0", JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES="0")
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # else a side that runs from a checkout compiles all its modules in every process
    if cache:
        env["JAX_COMPILATION_CACHE_DIR"] = cache
    done = subprocess.run([python, __file__, "--worker", program, clock], env=env, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{program}:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ours"), parser.add_argument("theirs")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--wall", dest="clock", action="store_const", const="perf_counter", default="process_time")
    args = parser.parse_args()
    modes = args.modes.split(",")
    for program in args.only.split(";") if args.only else PROGRAMS:
        best = {}
        for _ in range(args.rounds):
            for side, python in enumerate((args.ours, args.theirs)):
                with tempfile.TemporaryDirectory() as folder:
                    for mode in modes:
                        for stage, seconds in measure(python, program, args.clock, folder if mode != "off" else "").items():
                            key = mode, side, stage
                            best[key] = min(seconds, best.get(key, seconds))
        print(f"\n{program}: ours / reference, seconds (reference/ours)")
        print("| stage | " + " | ".join(modes) + " |\n|" + "---|" * (len(modes) + 1))
        for stage in STAGES:
            pairs = [(best[mode, 0, stage], best[mode, 1, stage]) for mode in modes]
            print(f"| {stage} | " + " | ".join(f"{a:.3f} / {b:.3f} ({b / a:.2f})" for a, b in pairs) + " |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        worker(*sys.argv[2:])
    else:
        main()
