"""Programs whose code LLVM (that of jaxlib 0.12) would walk along too many paths (`jax_xla_backend.planning.paths`): they are cut, and compute the same."""
import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax import lax
from jax_xla_backend.planning import paths

N = 1000


def steps(x, n=18):
    """Six times as many paths after each two."""
    for i in range(n):
        x = x + x * 0.25 if i % 2 else x * x * 0.5 + x
    return x


def points(n=N):
    return lax.iota(jnp.float32, n) / (8 * n)


def scanned(x):
    return lax.scan(lambda c, _: (jnp.tanh(steps(points())) - c, 0.0), x, None, length=2)[0]


one_step = jax.jit(lambda x: steps(x, 6))
CUT = {  # with a vector of N numbers
    "no call": lambda x: steps(points()),
    "a call elsewhere": lambda x: steps(points()) + jnp.exp(x),
    "tanh": lambda x: jnp.tanh(steps(points())),
    "abs": lambda x: jnp.abs(steps(-points())),
    "max": lambda x: jnp.maximum(steps(points()), x),
    "integers": lambda x: jnp.tanh(steps(lax.iota(jnp.int32, N) // 400)),
    "with an input": lambda x: jnp.tanh(steps(points() + x)),
    "linspace": lambda x: jnp.tanh(steps(jnp.linspace(0, 1, N), 24)),
    "few": lambda x: jnp.tanh(steps(points(20))) + x[0],
    "two axes": lambda x: jnp.tanh(steps(lax.broadcasted_iota(jnp.float32, (20, 30), 0) / 20)),
    "calls": lambda x: jnp.tanh(one_step(one_step(one_step(points())))),
    "tanh in a call": lambda x: jax.jit(jnp.tanh)(steps(points())),
    "all in a call": lambda x: jax.jit(lambda y: jnp.tanh(steps(y)))(points()),
    "loop": scanned,
    "loop over few": lambda x: lax.fori_loop(0, 2, lambda _, c: jnp.tanh(steps(points(12))) - c, x[:12]),
    "counter": lambda x: lax.fori_loop(0, 2, lambda i, c: jnp.tanh(steps((points() + i) / 3)) + c, x),
    "branch": lambda x: lax.cond(x[0] > 0, lambda x: jnp.tanh(steps(points())) + x, lambda x: x, x),
    "gradient": jax.grad(lambda x: jnp.tanh(steps(points() * x)).sum()),
}
UNCUT = {
    "values in memory": lambda x: jnp.tanh(steps(x)),
    "few paths": lambda x: jnp.tanh(steps(points(), 10)),
    "calls on the way": lambda x: jnp.tanh(steps(jnp.exp(-points()), 18)),
    "a sum on the way": lambda x: jnp.tanh(steps(jnp.sum(points()) + x)),
    "few paths in calls": lambda x: jnp.tanh(one_step(one_step(points()))),
}
X = np.linspace(0.1, 1, N, dtype=np.float32)


@pytest.mark.only_cpu
@pytest.mark.parametrize("name", CUT)
def test_too_many_paths_are_cut(name):
    """Most would not end to compile with some steps more; they have the values that they have without cuts."""
    lowered = jax.jit(CUT[name]).lower(X)
    assert "paths from an iota" in lowered.as_text(debug_info=True)
    with jax.disable_jit():
        np.testing.assert_allclose(lowered.compile()(X), CUT[name](X), rtol=2e-4, atol=1e-6)


@pytest.mark.parametrize("name", UNCUT)
def test_others_are_not(name):
    assert "paths from an iota" not in jax.jit(UNCUT[name]).lower(X).as_text(debug_info=True)


def test_a_long_chain_ends():
    """Sixty steps: without cuts 6**30 paths."""
    result = jax.jit(lambda: jnp.tanh(steps(points(), 60)))()
    assert result.shape == (N,) and result[0] == 0 and result[-1] == 1


def test_numbers_of_paths():
    def found(function, *args):
        jaxpr = jax.make_jaxpr(function)(*args).jaxpr
        cuts = {}
        return paths.cut_paths(jaxpr, cuts, lambda eqn, from_inputs: None, lambda aval: True), cuts

    x = jnp.ones(4)
    assert found(lambda x: (x * x + x, lax.exp(x * x), lax.iota(jnp.float32, 4) * x), x) == (paths.Paths([0, 0, 1], [3, 0, 1], 3), {})
    assert found(lambda: lax.square(lax.integer_pow(lax.iota(jnp.float32, 4), 3))) == (paths.Paths([6], [0], 0), {})
    assert found(lambda: steps(lax.iota(jnp.float32, 4), 12))[0].inside == [6 ** 6]
    assert len(found(lambda: lax.exp(steps(lax.iota(jnp.float32, 4), 14)))[1]) == 1
