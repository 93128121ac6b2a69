"""Sums of less than 4096 numbers along more than 32 are one kernel on the CPU, as exact as XLA's windows of 32 (`jax_core.traces.windowed_sums`)."""
import numpy as np
import pytest

import jax_numpy_api.numpy as jnp
from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.traces.windowed_sums import LIBRARY, WINDOW
from jax_core.transformations.autodiff import grad
from jax_core.transformations.vmap import vmap
from jax_numpy_api import lax

pytestmark = pytest.mark.only_cpu

RNG = np.random.default_rng(0)
SHAPES = [((2000,), None), ((1025,), None), ((1999,), None), ((3968,), None), ((4095,), None), ((256, 3), None), ((100, 20), 0), ((20, 100), 1), ((40, 3, 33), (0, 2)),
          ((45, 2, 45), None), ((1, 2047), None), ((64, 0), None), ((3, 1031), 1)]


@pytest.mark.parametrize("shape, axes", SHAPES, ids=str)
@pytest.mark.parametrize("dtype, tolerance", [("float32", 3e-6), ("float64", 1e-14)])
def test_values(shape, axes, dtype, tolerance):
    with flags.enable_x64(dtype == "float64"):
        x = (10 * RNG.normal(size=shape)).astype(dtype)
        for function in (lambda x: x, lambda x: x * 2 + 1, lambda x: abs(x) ** 3 + 1 / (1 + x * x)):
            found = jit(lambda x: jnp.sum(function(x), axes))(x)
            terms = np.asarray(jit(function)(x), np.float64)
            np.testing.assert_allclose(found, terms.sum(axes), rtol=0, atol=tolerance * np.abs(terms).sum(axes).max(initial=1e-300))


def test_special_values():
    for value in (np.inf, -np.inf, np.nan):
        x = np.ones(2000, np.float32)
        x[1234] = value
        np.testing.assert_equal(np.asarray(jit(jnp.sum)(x)), np.float32(value))
    x = np.full(2000, -0.0, np.float32)
    assert not np.signbit(jit(jnp.sum)(x))


def test_order_is_that_of_windows():
    """Windows of 32 in a row are added first: numbers that would be lost beside a large one are not."""
    x = np.ones(1 << 11, np.float32)
    x[0] = 2.0 ** 24
    assert jit(jnp.sum)(x) >= 2 ** 24 + (1 << 11) - 2 * WINDOW


def kernels(function, *args):
    text = jit(function).lower(*args).compile().as_text().partition("ENTRY")[2]
    return text.count("fusion("), text.count("reduce-window")


X = RNG.normal(size=(50, 40)).astype(np.float32)
KERNELS = {  # name: function, how many kernels
    "mean": (lambda x: x.mean(), 1), "of squares": (lambda x: (x * x).sum(), 1), "columns": (lambda x: x.sum(0), 1), "rows": (lambda x: x.mean(1), 1),
    "of what is costly": (lambda x: lax.log(x * x).sum(), 2), "of what is long": (lambda x: ((((((x + 1) * x + 2) * x + 3) * x + 4) * x + 5) * x).sum(), 2),
    "in a called function": (lambda x: jit(lambda y: y.sum() * 2)(x * 2), 1),
}


@pytest.mark.parametrize("name", KERNELS)
def test_kernels(name):
    function, count = KERNELS[name]
    assert kernels(function, X) == (count, 0)


def test_library_keeps_longer_sums():
    assert kernels(jnp.sum, np.ones(LIBRARY, np.float32))[1] == 0
    assert "subtract" not in jit(jnp.sum).lower(np.ones(LIBRARY, np.float32)).as_text()


EQUAL = {  # name: function of an array, whose slope is a sum of ones; plain form, and number of terms
    "repeated": (lambda x: jnp.repeat(x, 2), 2), "broadcast": (lambda x: x.reshape(-1, 1) + jnp.arange(3.0), 3), "in windows": (lambda x: x[:10] + jnp.ones((500, 10)), 500)}


@pytest.mark.parametrize("name", EQUAL)
def test_sums_of_one_number_are_left_to_the_compiler(name):
    """It makes a product of a plain sum. Others it worked out while it compiled (`repeat` of benchmarks/programs/slopes.py)."""
    function, terms = EQUAL[name]
    slope = jit(grad(lambda x: jnp.sum(function(x))))
    x = np.ones(5000, np.float32)
    assert "subtract" not in slope.lower(x).as_text() and "reduce_window" not in slope.lower(x).as_text()
    found = np.asarray(slope(x))
    assert found[:10].tolist() == [terms] * 10
    assert "subtract" in jit(grad(lambda x: jnp.sum(jnp.repeat(x, 2) ** 2))).lower(x).as_text()  # those are not equal


def test_transformed():
    np.testing.assert_allclose(jit(grad(lambda x: (x * x).sum()))(X), 2 * X, rtol=1e-6)
    np.testing.assert_allclose(jit(vmap(jnp.sum))(X), X.sum(1), rtol=1e-4, atol=1e-4)
    total, _ = jit(lambda x: lax.scan(lambda c, row: (c + lax.exp(row).sum() + row.sum(), None), jnp.float32(0), x))(np.tile(X.reshape(1, -1), (3, 1)))
    np.testing.assert_allclose(total, 3 * (np.exp(X).sum() + X.sum()), rtol=1e-5)
