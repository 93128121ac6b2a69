"""Which loops XLA's CPU compiler makes one function of, and that it can."""
import functools

import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax import lax
from jax_xla_backend.compiling.compiler_options import options_for
from jax_xla_backend.planning.loops import LOW, NEVER, UNLIMITED, USUAL

pytestmark = pytest.mark.only_cpu

F32 = functools.partial(jax.ShapeDtypeStruct, dtype=np.float32)


def lowered(function, *args):
    return jax.jit(function).lower(*args)


def limit(function, *args):
    return lowered(function, *args)._module.facts.loop_limit


def sums(n):
    return lambda x: lax.scan(lambda c, row: (c * 0.5 + row, c.sum()), jnp.zeros(n), x)


def carried(step):
    return lambda x: lax.fori_loop(0, 9, lambda i, c: step(c), x)


def rk4(state):
    def slope(s):
        x, y, z = s
        return 10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z

    def moved(s, k, h):
        return tuple(a + h * b for a, b in zip(s, k))

    def step(s, _):
        k1 = slope(s)
        k2 = slope(moved(s, k1, 0.005))
        k3 = slope(moved(s, k2, 0.005))
        k4 = slope(moved(s, k3, 0.01))
        return tuple(a + 0.01 / 6 * (p + 2 * q + 2 * r + t) for a, p, q, r, t in zip(s, k1, k2, k3, k4)), s[0]
    return lax.scan(step, (state, state, state), None, length=5)


@pytest.mark.parametrize("function, args, expected", [
    (jnp.sin, (F32((9,)),), USUAL),                                                     # no loop
    (sums(1024), (F32((5000, 1024)),), UNLIMITED),                                      # a table of short rows
    (sums(1025), (F32((50, 1025)),), USUAL),
    (carried(lambda c: c * 2 + 1), (F32((8192,)),), UNLIMITED),                         # cheap
    (carried(lambda c: c * 2 + 1), (F32((8193,)),), USUAL),
    (carried(lambda c: c * 2 + 1), (jax.ShapeDtypeStruct((8192,), jnp.bfloat16),), USUAL),
    (carried(jnp.tanh), (F32((64,)),), UNLIMITED),
    (carried(jnp.tanh), (F32((65,)),), LOW),                                            # one kernel of scalar code
    (carried(lambda c: jnp.tanh(c) - c.sum()), (F32((65,)),), UNLIMITED),               # several kernels
    (carried(lambda c: functools.reduce(lambda c, i: c * 0.5 + i, range(50), c)), (F32((8192,)),), UNLIMITED),
    (carried(lambda c: functools.reduce(lambda c, i: c * 0.5 + i, range(51), c)), (F32((8192,)),), USUAL),
    (carried(lambda c: functools.reduce(lambda c, i: c * 0.5 + i, range(51), c)), (F32((1024,)),), UNLIMITED),
    (carried(lambda c: lax.cummin(c) + 1), (F32((64, 101)),), UNLIMITED),
    (carried(lambda c: lax.dynamic_update_slice(c, c[:1] + 1, (3,))), (F32((100_000,)),), USUAL),  # `c[:1]` reads all
    (carried(lambda c: lax.dynamic_update_slice(c, lax.dynamic_slice(c, (5,), (1,)), (2,))), (F32((100_000,)),), UNLIMITED),
    (carried(lambda c: lax.dynamic_update_slice(c, lax.dynamic_slice(c, (5,), (3,)), (2,))), (F32((100_000,)),), NEVER),  # to be computed before it is written
    (carried(lambda c: c @ c), (F32((512, 512)),), USUAL),                              # dispatched anyway
    (carried(lambda c: carried(lambda c: c + 1)(c[:, 0]) @ c * c), (F32((512, 512)),), USUAL),
    (lambda x, y: (carried(lambda c: c + 1)(x), carried(lambda c: c @ c)(y)), (F32((9,)), F32((64, 64))), UNLIMITED),
    (lambda x, y: (carried(lambda c: c + 1)(x), carried(lambda c: c * c)(y)), (F32((9,)), F32((64, 640))), USUAL),
    (lambda x: lax.while_loop(lambda c: c.sum() < 9, lambda c: c + 1, x), (F32((900,)),), UNLIMITED),
    (carried(lambda c: carried(lambda c: c + 1)(c)), (F32((900,)),), UNLIMITED),
    (carried(lambda c: lax.cond(c[0] > 0, lambda c: c + 1, jnp.sort, c)), (F32((900,)),), USUAL),
])
def test_which_loops_are_short(function, args, expected):
    assert limit(function, *args) == expected


def test_the_limit_reaches_the_compiler():
    x = jnp.ones((64, 101), jnp.int32)
    program = lowered(carried(lambda c: lax.cummin(c) + 1), x)
    assert ("xla_backend_extra_options", f"xla_cpu_small_while_loop_byte_threshold={UNLIMITED}") in options_for(
        program._module, "cpu", ())
    assert "xla_cpu_small_call" in program.compile().as_text()


def test_options_of_the_caller_are_kept():
    module = lowered(carried(lambda c: c + 1), jnp.ones(900))._module
    mine = (("xla_backend_extra_options", "xla_cpu_disable_slp_vectorizer"), ("xla_cpu_enable_fast_math", False))
    assert dict(options_for(module, "cpu", mine)) == {
        "xla_backend_extra_options": f"xla_cpu_small_while_loop_byte_threshold={UNLIMITED},xla_cpu_disable_slp_vectorizer",
        "xla_cpu_enable_fast_math": False}


def test_functions_have_no_barriers():
    """XLA cannot compile a barrier inside a function, so the planner leaves those loops alone."""
    def function(start):
        def step(_, s):
            u, v = s
            for _ in range(12):
                u, v = jnp.where(u > v, u, v * 0.5), jnp.where(v < 0.3, v, u * 0.9)
            return u, v
        return lax.fori_loop(0, 5, step, (start, start + 1))
    assert lowered(function, np.ones(65536, np.float32))._module.facts.barriers
    start = np.linspace(-1, 1, 8192, dtype=np.float32)
    program = lowered(function, start)
    assert program._module.facts.loop_limit == UNLIMITED and not program._module.facts.barriers
    plain = jax.jit(function, compiler_options={"jax_fusion_planner": "off"})
    for x, y in zip(jax.tree.leaves(program.compile()(start)), jax.tree.leaves(plain(start))):
        np.testing.assert_allclose(x, y, rtol=1e-6)


def test_a_program_with_barriers_in_dispatched_loops():
    """Here one loop is a function, and the other has the planner's barriers."""
    def chain(x):
        for _ in range(12):
            x = jnp.where(x > 0, x * 0.9, x * 0.2) + jnp.mean(jnp.square(x))
        return x

    def function(x, row):
        out = lax.fori_loop(0, 2, lambda i, c: chain(c @ c * 1e-3), x)
        return out.sum(), lax.fori_loop(0, 9, lambda i, r: r * 0.5 + r.sum(), row)
    args = np.linspace(-1, 1, 512 * 512, dtype=np.float32).reshape(512, 512), np.ones(100, np.float32)
    program = lowered(function, *args)
    assert program._module.facts.loop_limit == UNLIMITED and program._module.facts.barriers
    plain = jax.jit(function, compiler_options={"jax_fusion_planner": "off"})
    for x, y in zip(program.compile()(*args), plain(*args)):
        np.testing.assert_allclose(x, y, rtol=1e-4)


@pytest.mark.parametrize("step", [
    lambda c: lax.sort(c), lambda c: lax.top_k(c, c.size)[0], lambda c: c.at[jnp.array([1, 3])].add(1.0),
    lambda c: jnp.fft.irfft(jnp.fft.rfft(c)), lambda c: c + jnp.linalg.cholesky(jnp.eye(3) * 4)[0, 0],
    lambda c: c.at[0].set(2.0), lambda c: jnp.convolve(c, jnp.ones(3), "same"), lambda c: c + jnp.outer(c, c).max(1),
    lambda c: c + jax.random.normal(jax.random.key(0), c.shape), lambda c: c + lax.erf_inv(c * 0.1) + lax.digamma(c + 2),
    lambda c: c + jnp.argmax(c), lambda c: lax.reduce_window(c, 0.0, lax.add, (3,), (1,), "SAME"), jnp.cumsum,
    lambda c: c + jnp.linalg.solve(jnp.eye(3) * 2, jnp.ones(3))[0], lambda c: jnp.exp(1j * c).real,
    lambda c: lax.optimization_barrier(c * 2) + 1, jax.checkpoint(lambda c: jnp.sin(c) * 2),
    lambda c: (c.astype(jnp.bfloat16) * 2).astype(jnp.float32), lambda c: (c * 9).astype(jnp.int4).astype(jnp.float32),
    lambda c: c @ jnp.ones((c.size, c.size)), lambda c: lax.switch(jnp.int32(1), [jnp.sin, jnp.cos, jnp.tan], c),
    lambda c: jax.pure_callback(lambda x: np.asarray(x) * 2, c, c), lambda c: lax.reduce_max(c, axes=(0,)) + c,
])
@pytest.mark.parametrize("n", [6, 900])
def test_whatever_a_step_does_compiles_and_agrees(step, n):
    x = np.linspace(0.1, 0.9, n, dtype=np.float32)

    def function(x):
        return lax.scan(lambda c, _: (step(c), c.mean()), x, None, length=3)
    plain = jax.jit(function, compiler_options={"jax_fusion_planner": "off"})
    for got, expected in zip(jax.jit(function)(x), plain(x)):
        np.testing.assert_allclose(got, expected, rtol=2e-5, atol=1e-5)
