"""The work per equation does not grow with the program. Work is counted in function calls, so that nothing depends on the clock."""
import cProfile
import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import jax
import jax.numpy as jnp

_spec = importlib.util.spec_from_file_location(
    "scaling", pathlib.Path(__file__).parent.parent / "benchmarks" / "scaling.py")
scaling = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(scaling)

X = np.float32(0.5)
STAGES = {
    "trace": lambda fun: jax.jit(fun).trace(X),
    "lower": lambda fun: jax.jit(fun).trace(X).lower(),
    "jvp": lambda fun: jax.make_jaxpr(lambda x: jax.jvp(fun, (x,), (x,)))(X),
    "grad": lambda fun: jax.make_jaxpr(jax.grad(fun))(X),
    "vmap": lambda fun: jax.make_jaxpr(jax.vmap(fun))(np.ones(3, np.float32)),
    "checkpoint": lambda fun: jax.make_jaxpr(jax.grad(jax.checkpoint(fun)))(X),
    "scan": lambda fun: jax.make_jaxpr(jax.grad(lambda x: jax.lax.scan(lambda c, _: (fun(c), None), x, None, 3)[0]))(X),
}


def calls_made(work, *args):
    """How many Python and C functions are called by ``work(*args)``."""
    profile = cProfile.Profile()  # counts in C, where a function given to `sys.setprofile` would be most of the work
    profile.runcall(work, *args)
    return sum(entry.callcount for entry in profile.getstats())


@pytest.fixture(scope="module")
def counts():
    """Calls for 400 and for 4000 equations, by program and stage; counted in a process of its own.

    CPython 3.11 was seen to spin for ever in a test worker while a profile function was set.
    """
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    done = subprocess.run([sys.executable, __file__], env=env, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("program", scaling.PROGRAMS)
def test_calls_per_equation_do_not_grow(counts, program, stage):
    small, large = counts[program][stage]
    assert large <= 10.2 * small


def test_a_hundred_thousand_equations():
    """No stage recurses for each equation."""
    n = 100_000
    fun = scaling.chain(n)
    traced = jax.jit(fun).trace(X)
    assert len(traced.jaxpr.eqns) == n
    assert traced.lower().as_text().count("stablehlo.sine") == n // 2
    assert len(jax.make_jaxpr(jax.grad(fun))(X).eqns) >= 2 * n
    assert len(jax.make_jaxpr(jax.vmap(fun))(jnp.ones(2)).eqns) == n


def test_deep_nests_of_jits():
    """Nested jits recurse once for each level, within Python's own limit."""
    fun = jnp.sin
    for _ in range(40):
        fun = jax.jit(lambda x, fun=fun: fun(x) * 1.0)
    assert np.allclose(jax.jit(jax.grad(fun))(X), np.cos(X))


def count_all():
    """What the fixture reads."""
    found = {}
    for program, make in scaling.PROGRAMS.items():
        found[program] = {}
        for stage, work in STAGES.items():
            work(make(100))  # what happens once in a process
            found[program][stage] = calls_made(work, make(400)), calls_made(work, make(4000))
    return found


if __name__ == "__main__":
    print(json.dumps(count_all()))
