"""NaN that the compiler knows, by constants of a program, stays NaN (`jax_xla_backend.planning.known_nans`)."""
import numpy as np
import pytest

import jax_numpy_api.nn as nn
import jax_numpy_api.numpy as jnp
from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.representation.aval import ShapedArray
from jax_core.representation.primitive import Primitive, none
from jax_core.representation.traits import Kind, Traits
from jax_core.transformations.autodiff import grad
from jax_numpy_api import lax

NAN, INF = np.nan, np.inf
ALL_NAN = np.full(100, NAN, np.float32)

OPERANDS = {  # name: what makes NaN of an array, as the compiler can tell
    "a number": lambda x: x + NAN,
    "an array": lambda x: x * ALL_NAN[:x.size],
    "repeated": lambda x: x * jnp.full(x.shape, NAN),
    "an operand of a call": lambda x: jit(lambda x, k: x * k)(x, NAN),
    "computed in a call": lambda x: jit(lambda x, k: x * jnp.log(k))(x, -1.0),
    "computed of numbers": lambda x: x + jit(lambda a, b: a * b)(0.0, INF),
    "repeated, then computed": lambda x: x + jit(lambda a, b: jnp.full(x.shape, a) * b)(0.0, INF),
    "extremum": lambda x: jnp.maximum(x, NAN),
    "sum": lambda x: x + jnp.sum(x + NAN),
    "carried": lambda x: lax.fori_loop(0, 3, lambda i, c: jnp.exp(c), x * NAN),
    "in a loop": lambda x: lax.fori_loop(0, 3, lambda i, c: jnp.exp(c * NAN), x),
    "constant of a loop": lambda x: (lambda k: lax.fori_loop(0, 3, lambda i, c: jnp.exp(c * k), x))(jit(jnp.log)(-1.0)),
    "in a branch": lambda x: lax.cond(x[0] > 0, lambda x: jnp.exp(x + NAN), lambda x: x, x),
    "operand of a branch": lambda x: jit(lambda x, k: lax.cond(x[0] > 0, lambda x, k: x + jnp.log(k), lambda x, k: x, x, k))(x, -1.0),
}
FUNCTIONS = [jnp.exp, jnp.exp2, jnp.expm1, jnp.sinh, jnp.cosh, jnp.tanh, nn.sigmoid, nn.softmax, nn.softplus, nn.gelu, lambda x: 2.0 ** x, grad(lambda x: jnp.exp(x).sum())]


@pytest.mark.parametrize("size", [1, 3, 100, 5000])
@pytest.mark.parametrize("name", OPERANDS)
def test_stays(name, size):
    if name == "an array" and size > 100:
        size = 64
    x, operand = np.ones(size, np.float32), OPERANDS[name]
    found = jit(lambda x: [f(operand(x)) for f in FUNCTIONS])(x)
    assert all([np.isnan(y).all() for y in found])


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "complex64"])
def test_dtypes(dtype):
    for size in (1, 3, 100, 5000):
        found = jit(lambda x: [jnp.exp(x + NAN), jnp.exp2(x + NAN), jnp.cosh(x + NAN)])(jnp.ones(size, dtype))
        assert all([np.isnan(np.asarray(y).astype(complex)).all() for y in found])


def test_float64():
    with flags.enable_x64(True):
        for size in (1, 3, 100, 5000):
            assert all([np.isnan(y).all() for y in jit(lambda x: [jnp.exp(x + NAN), jnp.exp2(x + NAN), jnp.cosh(x + NAN)])(np.ones(size))])


@pytest.mark.parametrize("function, numbers", [
    (lax.lgamma, [-1.0]), (lax.digamma, [0.0]), (lax.rem, [0, 0]), (lax.div, [0, 0]), (lax.sqrt, [-1.0]), (lax.acos, [2.0]), (lax.erf_inv, [2.0])])
def test_numbers_that_functions_refuse(function, numbers):
    """In a program with an exponential all that is computed of numbers is looked at."""
    x = np.ones(100, np.float32)
    known = jit(lambda x: jnp.exp(x) * jit(lambda *a: function(*a))(*numbers))(x)
    given = jit(lambda x, *a: jnp.exp(x) * function(*a))(x, *numbers)
    np.testing.assert_array_equal(np.isnan(known), np.isnan(given))


def test_random_numbers_of_a_known_key():
    """Drawn by the generator, of which a test of this package knows nothing but its primitive's kind."""
    drawn = Primitive("test_draw", out_type=lambda x: ShapedArray((4,), np.float32), traits=Traits(Kind.DRAW), jvp=none("integers"), transpose=none("integers"),
                      batch=none("not needed"), lower=lambda b, x: b.constant(np.array([1, -1, 2, -2], np.float32)), reference=lambda x: np.array([1, -1, 2, -2], np.float32))
    f = lambda x, key: jnp.exp(jnp.log(drawn.bind(key))) * x
    x = np.ones(4, np.float32)
    np.testing.assert_allclose(jit(lambda x: f(x, jnp.int32(3) * 2))(x), [1, NAN, 2, NAN], rtol=1e-6)
    assert "compare NE" in jit(lambda x: f(x, np.int32(3))).lower(x).as_text()
    assert "compare NE" not in jit(f).lower(x, np.int32(3)).as_text()


UNTOUCHED = {  # name: function for which no choice is written
    "no constant": jnp.exp,
    "chosen": lambda x: jnp.exp(jnp.where(x > 2, x, NAN)),
    "numbers": lambda x: jnp.exp(x * jit(jnp.log)(2.0) + INF),
    "no exponential": lambda x: jnp.sin(x + NAN),
}


@pytest.mark.parametrize("name", UNTOUCHED)
def test_others_choose_nothing(name):
    text = jit(UNTOUCHED[name]).lower(np.ones(3, np.float32)).as_text()
    assert "compare NE" not in text
