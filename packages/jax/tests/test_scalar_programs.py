"""Reductions, windows and scatters by functions that are more than arithmetic, which compilers take in no such place: XLA ends the process."""
import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax import lax

# Associative functions of two numbers: what they are, with NumPy
SUMS = {
    "sort": lambda a, b: jnp.sort(jnp.stack([a, b])).sum(),
    "fft": lambda a, b: jnp.fft.fft(jnp.stack([a, b])).real[0],
    "callback": lambda a, b: jax.pure_callback(lambda p, q: np.asarray(p + q), jax.ShapeDtypeStruct((), a.dtype), a, b),
    "incomplete gamma function": lambda a, b: a + b + 0 * jax.scipy.special.gammainc(jnp.abs(b) + 1, 1.),
    "incomplete beta function": lambda a, b: a + b + 0 * jax.scipy.special.betainc(2., 3., jnp.clip(b, 0, 1)),
    "Cholesky": lambda a, b: a + b + 0 * jnp.linalg.cholesky(jnp.eye(2) * (jnp.abs(b) + 1))[0, 0],
    "draw": lambda a, b: a + b + 0 * jax.random.uniform(jax.random.key(0)),
    "product": lambda a, b: jnp.dot(jnp.stack([a, b]), jnp.ones(2, a.dtype)),
    "loop": lambda a, b: lax.fori_loop(0, 2, lambda i, c: c + b / 2, a),
    "branch": lambda a, b: lax.cond(b > 0, lambda: a + b, lambda: b + a),
    "in a jit": jax.jit(lambda a, b: jnp.sort(jnp.stack([a, b])).sum()),
}
X = np.arange(24, dtype=np.float32).reshape(4, 6) / 4  # sums are exact


@pytest.mark.parametrize("name", SUMS)
def test_reduction(name):
    found = jax.jit(lambda x: lax.reduce(x, np.float32(0), SUMS[name], (1,)))(X)
    np.testing.assert_array_equal(found, X.sum(1))


@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize("window", [(2, 3), (4, 6)])
def test_window(name, window):
    found = jax.jit(lambda x: lax.reduce_window(x, np.float32(0), SUMS[name], window, (1, 2), "VALID"))(X)
    np.testing.assert_array_equal(found, np.lib.stride_tricks.sliding_window_view(X, window)[:, ::2].sum((2, 3)))


@pytest.mark.parametrize("name", SUMS)
def test_apply(name):
    found = jax.jit(lambda x, i: x.at[i].apply(lambda v: SUMS[name](v, v)))(X, np.array([1, 3, 1, 7, 1]))
    np.testing.assert_array_equal(found, X * np.array([1, 8, 1, 2], np.float32)[:, None])


@pytest.mark.parametrize("compiled", [False, True])
def test_apply_to_wide_integers(compiled):
    def applied(x: jax.Array):
        return x.at[x].apply(lambda v: jnp.sort(jnp.stack([v, v + 1]))[1])
    with jax.enable_x64(True):
        found = (jax.jit(applied) if compiled else applied)(jnp.array([1, 0, 1]))
    assert found.dtype == np.int64 and found.tolist() == [2, 2, 1]


def test_large_windows_are_a_loop():
    x = np.arange(3000, dtype=np.float32) % 7

    def windows(x: jax.Array):
        return lax.reduce_window(x, np.float32(0), SUMS["sort"], (1000,), (500,), [(250, 250)])
    padded = np.pad(x, 250)
    np.testing.assert_array_equal(jax.jit(windows)(x), np.lib.stride_tricks.sliding_window_view(padded, 1000)[::500].sum(1))
    assert len(str(jax.make_jaxpr(windows)(x))) < 3000
    windows_of_element = np.convolve(np.isin(np.arange(2501), np.arange(0, 2501, 500)), np.ones(1000))[250:-250]
    np.testing.assert_array_equal(jax.grad(lambda x: windows(x).sum())(x), windows_of_element)


def test_pairs_of_arrays():
    def argmax(p: tuple, q: tuple):
        order = jnp.argsort(-jnp.stack([p[0], q[0]]), stable=True)[0]
        return tuple(jnp.stack(v)[order] for v in zip(p, q))
    values, places = np.array([3., 9., 9., 1.], np.float32), np.arange(4, dtype=np.int32)
    start = np.float32(-np.inf), np.int32(-1)
    best = jax.jit(lambda *x: lax.reduce(x, start, argmax, (0,)))(values, places)
    assert [v.item() for v in best] == [9., 1]
    windows = jax.jit(lambda *x: lax.reduce_window(x, start, argmax, (2,), (1,), "VALID"))(values, places)
    np.testing.assert_array_equal(windows[1], [1, 1, 2])


@pytest.mark.parametrize("make", [
    lambda f: lambda x: lax.reduce(x, np.float32(1), f, (0,)),
    lambda f: lambda x: lax.reduce_window(x, np.float32(1), f, (2,), (1,), "VALID").sum(),
    lambda f: lambda x: jnp.asarray(x).at[np.array([0, 2])].apply(lambda v: f(v, v + 1), unique_indices=True).sum(),
    lambda f: lambda x: jnp.asarray(x).at[1:3].apply(lambda v: f(v, v + 1), unique_indices=True).sum(),
    lambda f: lambda x: jnp.asarray(x).at[1].apply(lambda v: f(v, v + 1), unique_indices=True).sum(),
], ids=["reduce", "window", "apply at unique places", "apply to a slice", "apply to an element"])
def test_derivatives_and_vmap(make):
    def product(a: jax.Array, b: jax.Array):
        return jnp.prod(jnp.sort(jnp.stack([a, b])))
    x = np.array([1.5, 2., .5, 3.], np.float32)
    f, plain = make(product), make(lax.mul)
    for g in (f, jax.jit(f)):
        np.testing.assert_allclose(jax.grad(g)(x), jax.grad(plain)(x), rtol=1e-6)
        np.testing.assert_allclose(jax.jvp(g, (x,), (x,)), jax.jvp(plain, (x,), (x,)), rtol=1e-6)
        np.testing.assert_allclose(jax.vmap(g)(np.stack([x, 2 * x])), [plain(x), plain(2 * x)], rtol=1e-6)


def test_arithmetic_stays_one_operation():
    def combine(a: jax.Array, b: jax.Array):
        return jnp.logaddexp(a, jax.nn.relu(b))
    assert "reduce[" in str(jax.make_jaxpr(lambda x: lax.reduce(x, np.float32(0), combine, (0,)))(X))
    assert "reduce_window[" in str(jax.make_jaxpr(lambda x: lax.reduce_window(x, np.float32(0), combine, (2, 2), (1, 1), "VALID"))(X))
    assert "scatter[" in str(jax.make_jaxpr(lambda x: x.at[np.array([1, 1])].apply(jnp.tanh))(X))


def test_effects_happen(capfd):
    def add(a: jax.Array, b: jax.Array):
        jax.debug.print("combined")
        return a + b
    jax.block_until_ready(jax.jit(lambda x: lax.reduce(x, np.float32(0), add, (0,)))(X[0]))
    jax.effects_barrier()
    assert "combined" in capfd.readouterr().out
    jax.block_until_ready(jax.jit(lambda x: x.at[0].apply(lambda v: add(v, v)))(X[0]))
    jax.effects_barrier()
    assert "combined" in capfd.readouterr().out


def test_apply_may_use_other_values():
    x, indices = jnp.asarray(X[0]), np.array([1, 1, 4])
    scaled = np.where(np.arange(6) == 4, x * 3, np.where(np.arange(6) == 1, x * 9, x))
    np.testing.assert_array_equal(jax.jit(lambda x, y: x.at[indices].apply(lambda v: v * y))(x, np.float32(3)), scaled)
    found = jax.vmap(lambda y: x.at[indices].apply(lambda v: v * y))(np.array([3, 1], np.float32))
    np.testing.assert_array_equal(found, [scaled, x])
    assert jax.grad(lambda y: x.at[2].apply(lambda v: v * y, unique_indices=True).sum())(np.float32(3)) == x[2]


@pytest.mark.parametrize("call", [
    lambda f: lax.reduce(X, np.float32(0), f, (0,)),
    lambda f: lax.reduce_window(X, np.float32(0), f, (2, 2), (1, 1), "VALID"),
], ids=["reduce", "reduce_window"])
def test_reductions_by_functions_of_other_traced_values(call):
    with pytest.raises(NotImplementedError, match="must not use values of an enclosing transformation"):
        jax.jit(lambda y: call(lambda a, b: a + b * y))(np.float32(3))


def test_places_beyond_the_end():
    x = jnp.asarray(X[0])
    found = x.at[np.array([9, 1, -8])].apply(lambda v: SUMS["sort"](v, v))
    np.testing.assert_array_equal(found, np.where(np.arange(6) == 1, 2 * x, x))
    found = x.at[np.array([9, 1])].apply(lambda v: SUMS["sort"](v, v), mode="clip")
    np.testing.assert_array_equal(found, np.where((np.arange(6) == 1) | (np.arange(6) == 5), 2 * x, x))
