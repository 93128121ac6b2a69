"""The external callbacks guide of the specification: each example, and what it must print, return or raise."""
from functools import partial

import numpy as np
import pytest
import scipy.special

import jax
import jax.numpy as jnp
from jax import debug
from jax.experimental import io_callback

NO_JVP = "^pure_callback: a Python function has no derivative"


def host_sin(x):
    return np.sin(x).astype(x.dtype)


def sin(x):
    return jax.pure_callback(host_sin, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def test_print_shows_a_tracer_and_debug_print_the_value(capsys):
    @jax.jit
    def f(x):
        y = x + 1
        print(f"traced {y}")
        debug.print("intermediate value: {}", y)
        return y * 2
    assert f(2) == 6
    traced, printed = capsys.readouterr().out.splitlines()
    assert traced.startswith("traced Traced<") and printed == "intermediate value: 3"


@pytest.mark.parametrize("transform", [lambda f: f, jax.jit, jax.vmap, lambda f: jax.jit(jax.vmap(f))])
def test_pure_callback_under_jit_and_vmap(transform):
    np.testing.assert_allclose(transform(sin)(jnp.arange(5.0)), np.sin(np.arange(5.0)), rtol=1e-6)


def test_pure_callback_in_scan():
    _, ys = jax.lax.scan(lambda carry, x: (carry, sin(x)), None, jnp.arange(5.0))
    np.testing.assert_allclose(ys, np.sin(np.arange(5.0)), rtol=1e-6)


@pytest.mark.parametrize("f", [sin, jax.jit(sin)])
def test_pure_callback_has_no_derivative(f):
    with pytest.raises(ValueError, match=NO_JVP):
        jax.grad(lambda x: f(x).sum())(jnp.arange(5.0))


def test_pure_callback_is_elided_when_unused(capsys):
    def say():
        print("printing something")
        return np.int32(0)
    jax.jit(lambda: jax.pure_callback(say, np.int32(0)))()
    assert capsys.readouterr().out == "printing something\n"
    jax.jit(lambda: (jax.pure_callback(say, np.int32(0)), 1.0)[1])()
    assert capsys.readouterr().out == ""


class Generator:
    """A host function with a state."""

    def __init__(self):
        self.rng = np.random.default_rng(0)

    def __call__(self, x):
        print(f"generating {x.dtype}{list(x.shape)}")
        return self.rng.uniform(size=x.shape).astype(x.dtype)


def expected(n=5):
    return np.random.default_rng(0).uniform(size=n).astype(np.float32)


def test_io_callback(capsys):
    f = jax.jit(lambda x: io_callback(Generator(), x, x))
    np.testing.assert_array_equal(f(jnp.zeros(5)), expected())
    assert capsys.readouterr().out == "generating float32[5]\n"


def test_vmap_of_io_callback_calls_for_each_element(capsys):
    f = jax.jit(lambda x: io_callback(Generator(), x, x))
    np.testing.assert_array_equal(jax.vmap(f)(jnp.zeros(5)), expected())
    assert capsys.readouterr().out == "generating float32[]\n" * 5


def test_vmap_of_ordered_io_callback_is_refused():
    f = jax.jit(lambda x: io_callback(Generator(), x, x, ordered=True))
    with pytest.raises(ValueError) as error:
        jax.vmap(f)(jnp.zeros(5))
    assert str(error.value) == "Cannot `vmap` ordered IO callback."


@pytest.mark.parametrize("ordered", [False, True])
def test_scan_of_io_callback(capsys, ordered):
    f = jax.jit(lambda x: io_callback(Generator(), x, x, ordered=ordered))
    _, ys = jax.lax.scan(lambda carry, x: (carry, f(x)), None, jnp.arange(5.0))
    assert capsys.readouterr().out == "generating float32[]\n" * 5
    assert sorted(np.asarray(ys)) == sorted(expected())


@pytest.mark.parametrize("ordered", [False, True])
def test_io_callback_has_no_derivative(ordered):
    f = jax.jit(lambda x: io_callback(Generator(), x, x, ordered=ordered))
    with pytest.raises(ValueError) as error:
        jax.grad(lambda x: f(x).sum())(jnp.zeros(5))
    assert str(error.value) == "IO callbacks do not support JVP."


def test_io_callback_on_other_values_runs_under_grad(capsys):
    @jax.jit
    def f(x):
        io_callback(lambda: print("hello"), None)
        return x
    assert jax.grad(f)(1.0) == 1.0
    assert capsys.readouterr().out == "hello\n"


def test_debug_callback_under_vmap_and_grad(capsys):
    @jax.jit
    def f(x):
        debug.callback(lambda x: print("log:", x), x)
        return x
    f(1.0)
    assert capsys.readouterr().out == "log: 1.0\n"
    jax.vmap(f)(jnp.arange(5.0))
    assert capsys.readouterr().out == "".join(f"log: {i}.0\n" for i in range(5))
    jax.grad(f)(1.0)
    assert capsys.readouterr().out == "log: 1.0\n"


def bessel(v, z):
    v, z = jnp.asarray(v), jnp.asarray(z)
    assert jnp.issubdtype(v.dtype, jnp.integer)
    z = z.astype(jnp.result_type(float, z.dtype))
    result = jax.ShapeDtypeStruct(jnp.broadcast_shapes(v.shape, z.shape), z.dtype)
    return jax.pure_callback(lambda v, z: scipy.special.jv(v, z).astype(z.dtype), result, v, z, vectorized=True)


def test_bessel_function():
    first = partial(bessel, 1)
    z = jnp.arange(5.0)
    for f in (first, jax.jit(first), jax.vmap(first), jax.jit(jax.vmap(first))):
        np.testing.assert_allclose(f(z), scipy.special.jv(1, np.arange(5.0)), rtol=1e-6)
    with pytest.raises(ValueError, match=NO_JVP):
        jax.grad(lambda z: first(z).sum())(z)


def test_bessel_function_with_derivatives():
    jv = jax.custom_jvp(bessel)

    @jv.defjvp
    def jv_jvp(primals, tangents):
        v, z = primals
        below, above = jv(v - 1, z), jv(v + 1, z)
        slope = jnp.where(v == 0, -above, 0.5 * (below - above))
        return jv(v, z), tangents[1] * slope
    first = partial(jv, 1)
    assert str(jax.grad(first)(2.0)) == "-0.06447162"
    assert str(jax.hessian(first)(2.0)) == "-0.4003078"
    assert str(jax.jit(jax.hessian(first))(2.0)) == "-0.4003078"


@pytest.mark.parametrize("mode", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_keys(mode):
    """A callback gets the words of a typed key, and may return words for one."""
    def through(k):
        return jax.pure_callback(lambda raw: raw, jax.ShapeDtypeStruct(k.shape, k.dtype), k)
    key = jax.random.key(7)
    np.testing.assert_array_equal(jax.random.key_data(mode(through)(key)), jax.random.key_data(key))
    keys = jax.random.split(key, 3)
    np.testing.assert_array_equal(jax.random.key_data(mode(jax.vmap(through))(keys)), jax.random.key_data(keys))
