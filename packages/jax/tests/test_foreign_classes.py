"""What libraries of arrays and of test helpers reach for: classes that they register, placements of types, internals."""
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import jax
import jax.core
import jax.interpreters.xla
import jax.numpy as jnp
from jax.test_util import check_grads


class Variable:
    """An array class that knows nothing of JAX."""

    def __init__(self, value):
        self.value = np.asarray(value)

    shape = property(lambda self: self.value.shape)
    dtype = property(lambda self: self.value.dtype)


@pytest.fixture
def registered():
    handlers, avals = jax.interpreters.xla.canonicalize_dtype_handlers, jax.core.pytype_aval_mappings
    assert np.ndarray in handlers  # libraries take the rule of NumPy's arrays for theirs
    handlers[Variable] = lambda x: x.value
    avals[Variable] = avals[np.ndarray]
    yield Variable(np.arange(3, dtype=np.float32))
    del handlers[Variable], avals[Variable]


@pytest.mark.parametrize("use", [
    lambda x: jnp.sin(x), lambda x: jnp.add(x, 1), lambda x: jax.jit(lambda y: y * 2)(x), lambda x: jax.jit(lambda: jnp.sin(x))(),
    lambda x: jax.vmap(lambda y: y + 1)(x), lambda x: jax.grad(lambda y: y @ y)(x), lambda x: jnp.ones(3) * x,
    lambda x: jax.lax.mul(x, x), lambda x: jax.device_put(x), lambda x: jax.lax.scan(lambda c, y: (c + y, c), 0.0, x)[1],
    lambda x: jax.jit(lambda y: jax.lax.mul(x, y))(x)])
def test_registered_classes_are_arrays(registered, use):
    np.testing.assert_array_equal(use(registered), use(registered.value))


def test_a_type_says_where_its_arrays_are():
    """On no mesh, where it leaves that open; such a placement may be given back."""
    sharding = jax.typeof(jnp.ones((3, 4))).sharding
    assert isinstance(sharding, jax.sharding.NamedSharding) and sharding.is_fully_replicated
    assert sharding.mesh.empty and sharding.spec == jax.sharding.PartitionSpec(None, None)
    aval = jax.core.ShapedArray((3, 4), jnp.float32, sharding=sharding)
    assert aval == jax.typeof(jnp.ones((3, 4))) and jax.eval_shape(jnp.sin, aval).sharding is None
    np.testing.assert_array_equal(jnp.zeros((3, 4), device=sharding), 0)
    key = jax.random.key(0)
    drawn = jax.random.normal(key, (3, 4), out_sharding=sharding)
    np.testing.assert_array_equal(drawn, jax.random.normal(key, (3, 4)))
    np.testing.assert_array_equal(jax.jit(lambda x: jax.lax.with_sharding_constraint(x, sharding))(drawn), drawn)
    np.testing.assert_array_equal(jax.jit(lambda k: jax.random.normal(k, (3, 4), out_sharding=sharding))(key), drawn)


def test_a_tracer_is_nowhere_yet():
    def f(x):
        assert getattr(x, "sharding", "unknown") == "unknown"
        with pytest.raises(AttributeError, match=r"on a traced value of type float32\[3\].*jax.typeof"):
            x.sharding
        return jax.typeof(x).sharding.is_fully_replicated
    assert jax.jit(f)(jnp.ones(3))


@pytest.mark.only_cpu
def test_a_named_sharding_before_any_array():
    done = subprocess.run([sys.executable, "-c", textwrap.dedent("""
        from jax.sharding import AbstractMesh, NamedSharding, PartitionSpec
        print(NamedSharding(AbstractMesh((2,), ("x",)), PartitionSpec("x")).spec)
        from jax._src import xla_bridge
        print(xla_bridge._backends)
        import jax
        jax.devices()
        xla_bridge.get_backend.cache_clear()
        print(list(xla_bridge._backends))
        """)], capture_output=True, text=True)
    assert done.stdout == "P('x',)\n{}\n['cpu']\n", done.stderr


def test_check_grads_of_steep_functions():
    """The sixteenth power of numbers up to 3."""
    def steep(x):
        for _ in range(4):
            x = x * x
        return jnp.sum(x)
    check_grads(steep, (jnp.linspace(0.5, 3, 5),), order=1)
    wrong = jax.custom_jvp(steep)
    wrong.defjvp(lambda primals, tangents: (steep(*primals), 1.02 * jax.jvp(steep, primals, tangents)[1]))
    with pytest.raises(AssertionError):
        check_grads(wrong, (jnp.linspace(0.5, 3, 5),), order=1, modes=("fwd",))


@pytest.mark.parametrize("make", [lambda: range(2), lambda: [0, 1], lambda: np.array([0, 1]), lambda: {0: "a", 1: "b"},
                                  lambda: (i for i in (0, 1)), lambda: (np.int64(0), 1)])
def test_axes_are_anything_that_yields_integers(make):
    x = jnp.arange(24.0).reshape(2, 3, 4)
    assert jnp.expand_dims(x, make()).shape == (1, 1, 2, 3, 4) and jnp.squeeze(jnp.ones((1, 1, 3)), make()).shape == (3,)
    assert jnp.sum(x, make()).shape == jnp.quantile(x, 0.5, make()).shape == x.max(make()).shape == (4,)
    assert jnp.moveaxis(x, make(), (1, 2)).shape == (4, 2, 3) and jnp.flip(x, make())[0, 0, 0] == 20
    np.testing.assert_allclose(jnp.sum(jax.nn.softmax(x, make()), (0, 1)), 1, rtol=1e-5)
    np.testing.assert_allclose(jax.nn.logsumexp(x, make()), jax.nn.logsumexp(x, (0, 1)))


def test_axes_that_are_none():
    for axes in (1.5, object()):
        with pytest.raises(TypeError, match="axis must be None, an integer or several integers"):
            jnp.sum(jnp.ones((2, 2)), axes)
    with pytest.raises(TypeError, match="got '01'"):
        jnp.cumsum(jnp.ones((2, 2)), "01")
    with pytest.raises(NameError, match="unbound axis name: 01"):  # of a mapped axis, which a sum may be over
        jnp.sum(jnp.ones((2, 2)), "01")
    assert jax.vmap(lambda x: jnp.sum(x, axis="batch"), axis_name="batch")(jnp.ones((2, 3))).shape == (2, 3)


@pytest.mark.parametrize("function", [jnp.shape, jnp.ndim, jnp.size])
def test_shapes_of_what_is_no_array(function):
    with pytest.warns(DeprecationWarning, match="requires an array or a number, got <class 'NoneType'>"):
        assert function(None) == getattr(np, function.__name__)(None)
