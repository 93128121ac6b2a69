"""What Python asks of an array (`int`, `bool`, an index) has one answer for arrays and for values of programs: the same class of error."""
from __future__ import annotations

import operator

import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax.errors import ConcretizationTypeError, TracerBoolConversionError, TracerIntegerConversionError

INDEX, BOOL, NUMBER = TracerIntegerConversionError, TracerBoolConversionError, ConcretizationTypeError
VECTOR, EMPTY, ONE = np.arange(3, dtype=np.int32), np.zeros(0, np.int32), np.ones((1, 1), np.int32)

# (question, array, error of an array or None, error of a traced one)
CASES = [
    (operator.index, np.int32(2), None, INDEX), (operator.index, np.float32(2), TypeError, TypeError), (hex, VECTOR, TypeError, TypeError),
    (operator.index, ONE, TypeError, TypeError), (operator.index, np.bool_(True), TypeError, TypeError),
    (bool, np.int32(2), None, BOOL), (bool, ONE, None, BOOL), (bool, VECTOR, ValueError, ValueError), (bool, EMPTY, ValueError, ValueError),
    (int, np.float32(2), None, NUMBER), (int, ONE, TypeError, TypeError), (float, VECTOR, TypeError, TypeError),
]


@pytest.mark.parametrize("ask, x, eager, traced", CASES, ids=str)
def test_question(ask, x, eager, traced):
    if eager is None:
        assert ask(jnp.asarray(x)) == ask(x)
    else:
        with pytest.raises(eager) as found:
            ask(jnp.asarray(x))
        assert found.type is eager
    for wrapped in (jax.jit(lambda v: (ask(v), v)[1]), lambda v: jax.vmap(lambda w: (ask(w), w)[1])(v[None])):
        with pytest.raises(traced) as found:
            wrapped(jnp.asarray(x))
        assert found.type is traced


def test_a_number_that_is_converted_is_a_literal():
    text = str(jax.make_jaxpr(lambda x: x * jax.lax.convert_element_type(3, jnp.bfloat16))(jnp.bfloat16(1)))
    assert "mul a 3.0:bf16[]" in text and "convert_element_type" not in text
    assert jax.jit(lambda: jax.lax.convert_element_type(0.1, jnp.float16))() == np.float16(0.1)
    assert jax.jit(lambda: jax.lax.convert_element_type(300.7, jnp.int8))() == 127  # the compiler's conversion


def test_a_number_that_is_differentiated_becomes_an_array():
    values = [*jax.jvp(jnp.asarray, (1.0,), (2.0,)), jax.vjp(jnp.asarray, 1.0)[0], jax.linearize(jnp.asarray, 1.0)[0]]
    assert all(isinstance(x, jax.Array) and x.weak_type for x in values)


def test_mean_in_the_dtype_that_was_asked_for():
    used = [e.primitive.name for e in jax.make_jaxpr(lambda x: jnp.mean(x, dtype=jnp.float16))(jnp.ones(3, jnp.float16)).eqns]
    assert used == ["reduce_sum", "div"]
    assert "convert_element_type" in str(jax.make_jaxpr(jnp.mean)(jnp.ones(3, jnp.float16)))


@pytest.mark.parametrize("promotion", ["standard", "strict"])
@pytest.mark.parametrize("outside, wide", [(False, True), (True, False)])
def test_gradient_of_a_function_that_switches_x64(outside, wide, promotion):
    """Again and again: the dispatcher has its own idea of what a number is."""
    def f(x):
        with jax.enable_x64(wide):
            return jnp.sin(x)
    with jax.enable_x64(outside), jax.numpy_dtype_promotion(promotion):
        for got in (jax.grad(f)(0.5), jax.grad(f)(0.5), jax.vjp(f, 0.5)[1](jax.vjp(f, 0.5)[0])[0] / jnp.sin(0.5)):
            assert got.dtype == (np.float64 if outside else np.float32)
            np.testing.assert_allclose(got, np.cos(0.5), rtol=1e-6)


@pytest.mark.parametrize("function", [
    jnp.add, jnp.subtract, jnp.multiply, jnp.divide, jax.lax.div, jnp.power, jnp.float_power, jnp.arctan2, jnp.hypot, jnp.maximum, jnp.logaddexp, jnp.copysign,
    jnp.remainder, jax.scipy.special.xlogy, jax.scipy.special.betaln, lambda x, y: jnp.where(x > 0, x, y), lambda x, y: {"a": x / y, "b": [y / x]}["a"]])
def test_derivatives_by_python_numbers_are_those_by_arrays(function):
    """Also by a number whose value a rule may know: 0, 1, 2."""
    def everything(x, y):
        return jax.vjp(function, x, y)[1](1.0), jax.grad(function, (0, 1))(x, y), jax.jvp(function, (x, y), (1.0, 2.0)), jax.jvp(function, (x, y), (1.0, 0.0))
    compiled = jax.jit(everything)
    for x in (0.0, 1.0, 2.0):
        for y in (0.0, 1.0, 2.0):
            got, want = (np.array(jax.tree.leaves(f(x, y))) for f in (everything, compiled))
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
