"""Control flow together with the other packages: operators, random keys, callbacks, 64 bits."""
import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import io_callback


def recorder():
    seen = []
    return seen, lambda *xs: seen.append(tuple(np.asarray(x).tolist() for x in xs))


def test_snippets_of_the_introduction():
    array = jnp.arange(10)
    assert int(lax.fori_loop(0, 10, lambda i, x: x + array[i], 0)) == 45
    iterator = iter(range(10))
    assert int(lax.fori_loop(0, 10, lambda i, x: x + next(iterator), 0)) == 0
    assert float(lax.cond(True, lambda x: x + 1, lambda x: x - 1, jnp.array([0.0]))[0]) == 1.0
    with pytest.raises(TypeError):
        lax.cond(True, lambda x: next(x) + 1, lambda x: next(x) - 1, iter(range(10)))
    final = lax.while_loop(lambda x: x < 10, lambda x: x + 1, jnp.array(0.0))
    assert float(final) == 10.0


def test_keys_are_carried_scanned_and_chosen():
    keys = jax.random.split(jax.random.key(0), 4)
    total, back = lax.scan(lambda c, k: (c + jax.random.uniform(k), k), 0.0, keys)
    np.testing.assert_allclose(total, sum(float(jax.random.uniform(k)) for k in keys), rtol=1e-6)
    np.testing.assert_array_equal(jax.random.key_data(back), jax.random.key_data(keys))
    last, draws = lax.scan(lambda k, _: (jax.random.split(k)[0], jax.random.normal(k)), keys[0], None, length=3)
    k, expected = keys[0], []
    for _ in range(3):
        expected.append(float(jax.random.normal(k)))
        k = jax.random.split(k)[0]
    np.testing.assert_allclose(draws, expected, rtol=1e-6)
    np.testing.assert_array_equal(jax.random.key_data(last), jax.random.key_data(k))
    chosen = jax.vmap(lambda p, k: lax.cond(p, lambda k: jax.random.split(k)[0], lambda k: k, k))(jnp.arange(4) > 1, keys)
    np.testing.assert_array_equal(jax.random.key_data(chosen)[:2], jax.random.key_data(keys)[:2])
    looped, steps = jax.vmap(lambda k, n: lax.while_loop(
        lambda c: c[1] < n, lambda c: (jax.random.split(c[0])[1], c[1] + 1), (k, 0)))(keys, jnp.arange(4))
    np.testing.assert_array_equal(jax.random.key_data(looped)[0], jax.random.key_data(keys)[0])
    slope = jax.grad(lambda x: lax.scan(lambda c, k: (c * jax.random.uniform(k) * x, None), 1.0, keys)[0])(2.0)
    np.testing.assert_allclose(slope, 4 * 8 * np.prod([float(jax.random.uniform(k)) for k in keys]), rtol=1e-5)


@pytest.mark.parametrize("ordered", [False, True])
def test_callbacks_run_once_a_step(ordered):
    seen, record = recorder()

    def body(c, x):
        jax.debug.callback(record, c, x, ordered=ordered)
        return c + x, c
    lax.scan(body, 0, jnp.arange(3))
    jax.jit(lambda: lax.scan(body, 0, jnp.arange(3)))()
    jax.effects_barrier()
    assert sorted(seen) == sorted(2 * [(0, 0), (0, 1), (1, 2)])
    if ordered:
        assert seen == 2 * [(0, 0), (0, 1), (1, 2)]


def test_callbacks_of_a_vmapped_while_run_for_live_lanes_only():
    limits = jnp.array([0, 2, 1])
    for call in (lambda f, c: jax.debug.callback(f, c), lambda f, c: io_callback(f, None, c)):
        seen, record = recorder()

        def loop(n):
            def body(c):
                call(record, c)
                return c + 1
            return lax.while_loop(lambda c: c < n, body, 0)
        np.testing.assert_array_equal(jax.vmap(loop)(limits), limits)
        jax.effects_barrier()
        assert sorted(seen) == [(0,), (0,), (1,)]
    calls = []

    def host(c):
        calls.append(int(c))
        return np.int32(c + 1)
    pure = lambda n: lax.while_loop(lambda c: c < n, lambda c: jax.pure_callback(
        host, jax.ShapeDtypeStruct((), jnp.int32), c, vmap_method="sequential"), 0)
    np.testing.assert_array_equal(jax.vmap(pure)(limits), limits)
    assert sorted(calls) == [0, 0, 1]


def test_callbacks_of_a_vmapped_cond_run_in_chosen_branches_only():
    seen, record = recorder()

    def taken(n):
        jax.debug.callback(record, n)
        return n + 1
    out = jax.vmap(lambda n: lax.cond(n > 0, taken, lambda n: n, n))(jnp.array([0, 2, 1]))
    jax.effects_barrier()
    np.testing.assert_array_equal(out, [0, 3, 2])
    assert sorted(seen) == [(1,), (2,)]


def test_ordered_effects_pass_through_nested_control_flow():
    seen, record = recorder()

    def step(i, c):
        def odd():
            io_callback(record, None, i, ordered=True)
            return lax.fori_loop(0, 2, lambda j, v: (io_callback(record, None, 10 * i + j, ordered=True), v + 1)[1], c)
        return lax.cond(i % 2 == 1, odd, lambda: c)
    assert int(jax.jit(lambda: lax.fori_loop(0, 4, step, 0))()) == 4
    jax.effects_barrier()
    assert seen == [(1,), (10,), (11,), (3,), (30,), (31,)]


def test_64_bits():
    with jax.enable_x64(True):
        assert lax.fori_loop(0, 3, lambda i, c: c + i, 0.0).dtype == jnp.float64
        carry, ys = lax.scan(lambda c, x: (c + x, c * x), 0.0, jnp.arange(3))
        assert carry.dtype == ys.dtype == jnp.float64
        assert int(jax.jit(lambda i: lax.switch(i, [lambda: 1, lambda: 2]))(2**40)) == 2
        assert int(jax.jit(lambda i: lax.switch(i, [lambda: 1, lambda: 2]))(-(2**40))) == 1


def test_a_linear_recurrence_by_associative_scan_and_its_gradient():
    a, b = jax.random.uniform(jax.random.key(0), (2, 17))
    both = lambda a, b: lax.associative_scan(lambda f, g: (f[0] * g[0], f[1] * g[0] + g[1]), (a, b))[1]
    loop = lambda a, b: lax.scan(lambda s, ab: (ab[0] * s + ab[1],) * 2, 0.0, (a, b))[1]
    np.testing.assert_allclose(both(a, b), loop(a, b), rtol=1e-5)
    for i in (0, 1):
        got, expected = (jax.grad(lambda *args: f(*args).sum(), i)(a, b) for f in (both, loop))
        np.testing.assert_allclose(got, expected, rtol=1e-4)


def test_a_bounded_loop_differentiates_through_an_iterative_solver():
    def root(a):
        step = lambda x: 0.5 * (x + a / x)
        return lax.while_loop(lambda x: jnp.abs(x * x - a) > 1e-6, step, a + 1.0, max_steps=50)
    np.testing.assert_allclose(jax.grad(root)(2.0), 0.5 / np.sqrt(2.0), rtol=1e-4)
    xs = jnp.array([1.0, 4.0, 9.0])
    np.testing.assert_allclose(jax.jit(jax.vmap(jax.grad(root)))(xs), 0.5 / np.sqrt(xs), rtol=1e-3)


def test_a_mean_over_lanes_inside_a_scan_synchronises_them():
    """Gradient descent whose gradients are averaged over a named axis, as data-parallel training does."""
    data = jax.random.normal(jax.random.key(1), (4, 8))

    def train(rows):
        def step(w, _):
            g = jax.grad(lambda w: jnp.mean((rows - w) ** 2))(w)
            return w - 0.25 * lax.pmean(g, "batch"), w
        return lax.scan(step, 0.0, None, length=30)[0]
    out = jax.vmap(train, axis_name="batch")(data)
    np.testing.assert_allclose(out, np.full(4, data.mean()), atol=1e-4)
    out = jax.jit(jax.vmap(jax.jit(train), axis_name="batch"))(data)
    np.testing.assert_allclose(out, np.full(4, data.mean()), atol=1e-4)
