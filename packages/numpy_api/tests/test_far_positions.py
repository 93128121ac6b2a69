"""Axes with more elements than int32 counts, while x64 is off: positions have 64 bits, or the call is refused. Programs are only written
down: the arrays would take two gigabytes."""
import numpy as np
import pytest

from jax_core.programs.jit import jit
from jax_core.programs.tracing import eval_shape, make_jaxpr
from jax_core.representation.aval import ShapeDtypeStruct
from jax_numpy_api import lax, numpy as jnp

N = 2**31 + 16
LONG, NUMBER, SEVERAL = ShapeDtypeStruct((N,), np.int8), ShapeDtypeStruct((), np.int32), ShapeDtypeStruct((3,), np.int32)
TRACED = {
    "number": lambda x, i, several: x[i],
    "array": lambda x, i, several: x[several],
    "take": lambda x, i, several: jnp.take(x, several),
    "take_along_axis": lambda x, i, several: jnp.take_along_axis(x, several, 0),
    "get": lambda x, i, several: x.at[several].get(mode="fill", fill_value=1),
    "set": lambda x, i, several: x.at[i].set(1),
    "add": lambda x, i, several: x.at[several].add(1),
    "clip": lambda x, i, several: x.at[several].set(1, mode="clip"),
    "dynamic_slice": lambda x, i, several: lax.dynamic_slice(x, (i,), (2,)),
    "dynamic_update_slice": lambda x, i, several: lax.dynamic_update_slice(x, np.ones(2, np.int8), (i,)),
    "dynamic_index_in_dim": lambda x, i, several: lax.dynamic_index_in_dim(x, i),
}
KNOWN = {
    "set": lambda x: x.at[-1].set(1), "array": lambda x: x.at[np.array([-1])].add(1), "get": lambda x: x.at[np.array([-1])].get(mode="fill"),
    "dynamic_slice": lambda x: lax.dynamic_slice(x, (np.int32(-1),), (1,)), "steps": lambda x: x.at[N - 1::2].set(1)}


@pytest.mark.parametrize("name", TRACED)
def test_traced_positions(name):
    """Those from the end are counted in 64 bits, and the program can be lowered; dtypes are those of x64 off."""
    f = TRACED[name]
    assert f"{N}:i64[]" in str(make_jaxpr(f)(LONG, NUMBER, SEVERAL))
    assert "xi64>" in (text := jit(f).lower(LONG, NUMBER, SEVERAL).as_text()) or "tensor<i64>" in text
    assert eval_shape(f, LONG, NUMBER, SEVERAL).dtype == np.int8


@pytest.mark.parametrize("name", KNOWN)
def test_known_positions(name):
    assert str(N - 1) in jit(KNOWN[name]).lower(LONG).as_text()


def test_beyond_the_end():
    """It stays there: 2**31 - 1, to which positions were bounded, is inside."""
    assert f"{N}:i64[]" in str(make_jaxpr(lambda x: x[N + 5])(LONG))


def test_shorter_axes_stay_as_they_are():
    short = ShapeDtypeStruct((2**31 - 1,), np.int8)
    for f in TRACED.values():
        assert "i64" not in str(make_jaxpr(f)(short, NUMBER, SEVERAL))


def test_roll():
    assert "i64" in str(make_jaxpr(lambda x, i: jnp.roll(x, i))(LONG, NUMBER))


@pytest.mark.parametrize("f", [lambda x: jnp.argmax(x), lambda x: lax.argmin(x, 0, np.int32)])
def test_results_that_do_not_fit(f):
    with pytest.raises(OverflowError, match="do not fit in int32; enable x64"):
        eval_shape(f, LONG)


def test_gradient_of_a_far_element():
    from jax_core.transformations.autodiff import grad
    long = ShapeDtypeStruct((N,), np.float32)
    assert eval_shape(grad(lambda x, i: x[i]), long, NUMBER).dtype == np.float32
