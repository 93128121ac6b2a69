#!/usr/bin/env python3
"""Peak resident memory in MiB: after the import, the first results, a compiled transformer, steps with donation, and bytes of a traced equation.

usage: memory.py OURS_PYTHON THEIRS_PYTHON [--rounds 2] [--only NAME,...]

Each figure is a process of its own: the highest resident size the kernel has seen. All of the process counts, Python's
interpreter too. The least of the rounds counts.
"""
import argparse
import gc
import os
import pathlib
import resource
import subprocess
import sys

from scaling import chain

HERE = pathlib.Path(__file__).resolve().parent


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()


def imports():
    import jax.numpy  # noqa: F401
    return peak()


def first_array():
    import jax.numpy as jnp
    jnp.ones(3).block_until_ready()
    return peak()


def first_result():
    import jax.numpy as jnp
    (jnp.ones(3) + 1).sum().block_until_ready()
    return peak()


def _transformer():
    import jax
    sys.path.insert(0, str(HERE / "planner"))
    from programs.transformers import transformer_sgd_12
    step, args = transformer_sgd_12()
    return jax, step, args


def transformer_traced():
    jax, step, args = _transformer()
    jax.jit(step).trace(*args)
    return peak()


def transformer_lowered():
    jax, step, args = _transformer()
    jax.jit(step).lower(*args)
    return peak()


def transformer_compiled():
    jax, step, args = _transformer()
    jax.jit(step).lower(*args).compile()
    return peak()


def hundred_compiled():
    """A hundred small programs of different shapes."""
    import jax
    import jax.numpy as jnp
    for n in range(1, 101):
        jax.block_until_ready(jax.jit(lambda x: jnp.tanh(x) @ x)(jnp.ones(n)))
    return peak()


def _bytes_of_an_equation(derived):
    """What each of 100,000 equations of a function holds while what is ``derived`` from it stays traced."""
    import jax
    import jax.numpy as jnp
    x = jnp.float32(0.5)
    jax.jit(derived(chain(100))).trace(x)
    gc.collect()
    before = resident()
    kept = jax.jit(derived(chain(100_000))).trace(x)
    gc.collect()
    return (resident() - before) / 100_000 if kept else 0


def equation():
    return _bytes_of_an_equation(lambda fun: fun)


def equation_differentiated():
    import jax
    return _bytes_of_an_equation(jax.grad)


def _donated(donate):
    """Adam's step on 64 MiB of parameters."""
    import jax
    import jax.numpy as jnp
    shape = (16, 1024, 1024)

    def step(state, x):
        params, m, v = state
        g = jnp.tanh(params) * x
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        return params - 0.01 * m / (jnp.sqrt(v) + 1e-8), m, v
    run = jax.jit(step, donate_argnums=(0,) if donate else ())
    state = tuple(jax.device_put(jnp.zeros(shape)) for _ in range(3))
    for _ in range(5):
        state = run(state, 2.0)
        jax.block_until_ready(state)
    return peak()


def donated():
    return _donated(True)


def not_donated():
    return _donated(False)


FIGURES = {f.__name__: f for f in (imports, first_array, first_result, hundred_compiled, transformer_traced, transformer_lowered,
                                   transformer_compiled, donated, not_donated, equation, equation_differentiated)}


def measure(python, name):
    env = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="2", JAX_ENABLE_COMPILATION_CACHE="0", JAX_PLATFORMS="cpu")
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run([python, __file__, "--worker", name], env=env, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{name}:\n{done.stderr[-2000:]}")
    return float(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ours"), parser.add_argument("theirs")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--only", default=",".join(FIGURES))
    args = parser.parse_args()
    print("| figure | ours | reference | reference/ours |\n|---|---|---|---|")
    for name in args.only.split(","):
        ours, theirs = (min(measure(python, name) for _ in range(args.rounds)) for python in (args.ours, args.theirs))
        print(f"| {name.replace('_', ' ')} | {ours:.0f} | {theirs:.0f} | {theirs / ours:.2f} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        print(FIGURES[sys.argv[2]]())
    else:
        main()
