"""Values that are compared with one chosen among them, and derivatives of extrema: the compiled program finds the element that was chosen.

The compiler would compute such values twice, and round a product and a sum otherwise the second time.
"""
import numpy as np
import pytest

from jax_core.programs.jit import jit
from jax_core.transformations.autodiff import grad
from jax_core.transformations.checkpoint import checkpoint
from jax_core.transformations.vmap import vmap
from jax_numpy_api import lax, numpy as jnp

SHAPES = [(2, 3), (4, 10), (64, 100), (5000, 4)]
VALUES = {  # functions that end in a product and a sum
    "normalised": lambda a, b: (a - jnp.mean(a, -1, keepdims=True)) * b + 0.3,
    "beside a product of matrices": lambda a, b: a * b + (a @ b.T)[:, :1],
    "mixed": lambda a, b: a * 0.3 + b * 0.7,
}
EXTREMA = {"max": jnp.max, "min": jnp.min}


def drawn(shape):
    rng = np.random.default_rng(0)
    return [rng.normal(size=shape).astype(np.float32) for _ in range(2)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("axis", [0, 1, None])
@pytest.mark.parametrize("extremum", EXTREMA.values(), ids=EXTREMA)
@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
def test_an_extremum_has_all_of_the_slope(values, extremum, axis, shape):
    a, b = drawn(shape)
    count = 1 if axis is None else shape[1 - axis]

    def slopes(a, b):
        return grad(lambda x: jnp.sum(extremum(values(a, b) + x, axis)))(jnp.zeros(shape))
    np.testing.assert_allclose(np.sum(jit(slopes)(a, b)), count, rtol=1e-6)
    again = jit(grad(lambda b: jnp.sum(extremum(checkpoint(lambda b: values(a, b))(b), axis))))(b)
    np.testing.assert_allclose(again, grad(lambda b: jnp.sum(extremum(values(a, b), axis)))(b), rtol=1e-4, atol=1e-5)


CHOSEN = {  # of values, which of them are as large as the one chosen, and how many are
    "the largest": (lambda y: y == jnp.max(y, -1, keepdims=True), 1),
    "a threshold": (lambda y: y >= lax.top_k(y, 2)[0][..., -1:], 2),
    "of a sorted array": (lambda y: y <= jnp.sort(y, -1)[..., 1:2], 2),
    "a running maximum": (lambda y: y == lax.cummax(y, axis=1)[:, -1:], 1),
    "of a call": (lambda y: y == jit(lambda y: jnp.max(y, -1, keepdims=True))(y), 1),
    "in a call": (jit(lambda y: y == jnp.max(y, -1, keepdims=True)), 1),
    "taken by its place": (lambda y: y == jnp.take_along_axis(y, jnp.argmax(y, -1, keepdims=True), -1), 1),
    "of those that are numbers": (lambda y: y == jnp.nanmax(y, -1, keepdims=True), 1),
    "of several": (lambda y: y == jnp.max(jnp.concatenate([y, jnp.full((y.shape[0], 1), -99.0)], 1), 1, keepdims=True), 1),
    "row by row": (vmap(lambda y: y == jnp.max(y)), 1),
    "flat": (lambda y: jnp.reshape(jnp.ravel(y) == jnp.repeat(jnp.max(y, -1), y.shape[1]), y.shape), 1),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", CHOSEN)
@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
def test_what_was_chosen_is_found(values, name, shape):
    which, count = CHOSEN[name]
    found = jit(lambda a, b: which(values(a, b)))(*drawn(shape))
    assert (np.sum(found, 1) == count).all()


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
def test_what_is_written_keeps_its_slope(values):
    a, b = drawn((200, 4))
    target = np.zeros(200, np.float32)

    def slopes(a, b):
        def largest(x):
            y = (values(a, b) + x)[:, 0]
            return jnp.sum(jnp.asarray(target - 9).at[np.arange(200) // 2].max(y)[:100])
        return grad(largest)(jnp.zeros((200, 4)))
    np.testing.assert_allclose(np.sum(jit(slopes)(a, b)), 100, rtol=1e-6)


def test_in_loops():
    a, b = drawn((64, 100))

    def step(carry, rows):
        y = VALUES["mixed"](*rows) * carry + 1.5
        return carry, jnp.sum(y == jnp.max(y))
    assert (jit(lambda a, b: lax.scan(step, jnp.float32(1.7), (a, b))[1])(a, b) == 1).all()
