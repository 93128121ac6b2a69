"""Types of a library's own that `vmap` maps as wholes."""
import pytest

import jax
import jax.numpy as jnp
from jax.interpreters import batching


class Columns:
    """An array that is mapped along the axis that a `Spec` names."""

    def __init__(self, data):
        self.data = data


class Spec:
    def __init__(self, axis):
        self.axis = axis


@pytest.fixture
def registered():
    batching.register_vmappable(
        Columns, Spec, int, lambda cont, _, x, spec: Columns(cont(x.data * 1, spec.axis)),
        lambda cont, size, x, spec: Columns(cont(size, x.data + 1, spec.axis)), None)
    yield
    batching.unregister_vmappable(Columns)


@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_values_are_mapped_as_wholes(registered, wrap):
    x = jnp.arange(6.0).reshape(2, 3)

    def run(x, y):
        seen = []

        def f(c, y):
            seen.append(c.data.shape)
            return Columns(c.data * y), y
        out, ys = jax.vmap(f, in_axes=(Spec(1), 0), out_axes=(Spec(0), 0))(Columns(x), y)
        assert seen == [(2,)]
        return out.data, ys
    out, ys = wrap(run)(x, jnp.arange(3.0))
    assert jnp.array_equal(out, (x * jnp.arange(3.0)).T + 1) and jnp.array_equal(ys, jnp.arange(3.0))


def test_the_length_must_be_known(registered):
    with pytest.raises(ValueError, match="axis_size"):
        jax.vmap(lambda c: c.data, in_axes=Spec(0))(Columns(jnp.ones(3)))
    assert jax.vmap(lambda c: c.data, in_axes=Spec(0), axis_size=3)(Columns(jnp.ones(3))).shape == (3,)


def test_a_type_is_registered_once(registered):
    with pytest.raises(TypeError, match="already"):
        batching.register_vmappable(Columns, Spec, int, None, None)
    with pytest.raises(KeyError):
        batching.unregister_vmappable(Spec)
    with pytest.raises(TypeError):
        jax.vmap(lambda x: x, in_axes=("a",))
