"""jax.image: weights by their laws, values against plain formulas."""
import numpy as np
import pytest

from jax_core.programs.jit import jit
from jax_core.transformations.autodiff import grad
from jax_numpy_api import image, numpy as jnp

PICTURE = np.random.default_rng(0).normal(size=(5, 7)).astype(np.float32)
METHODS = ["nearest", "linear", "cubic", "cubic-pytorch", "lanczos3", "lanczos5", "area"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shape", [(3, 4), (8, 13)], ids=str)
def test_a_constant_image_stays_constant(method, shape):
    for antialias in (True, False):
        out = image.resize(np.ones((5, 7), np.float32), shape, method, antialias)
        np.testing.assert_allclose(out, np.ones(shape), rtol=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_an_unchanged_shape_changes_nothing(method):
    np.testing.assert_array_equal(image.resize(PICTURE, (5, 7), method), PICTURE)


def test_values_of_simple_cases():
    np.testing.assert_allclose(image.resize(np.arange(4.0), (8,), "linear"), [0, 0.25, 0.75, 1.25, 1.75, 2.25, 2.75, 3])
    np.testing.assert_allclose(image.resize(np.arange(4.0), (2,), "area"), [0.5, 2.5])
    np.testing.assert_allclose(image.resize(np.arange(4.0), (2,), "nearest"), [1, 3])
    np.testing.assert_allclose(image.resize(np.arange(6), (3,), "linear"), [5 / 7, 2.5, 30 / 7], rtol=1e-6)
    sharp = image.resize(jnp.eye(8), (16, 8), "cubic-pytorch", antialias=False)
    np.testing.assert_allclose(sharp[8], [0, 0, -0.03515625, 0.26171875, 0.87890625, -0.10546875, 0, 0], atol=1e-6)


def test_moving_by_whole_pixels():
    out = image.scale_and_translate(PICTURE, (5, 7), (0, 1), np.ones(2), np.array([1.0, -2.0]), "linear")
    np.testing.assert_allclose(out[1:, :5], PICTURE[:-1, 2:], rtol=1e-6)
    np.testing.assert_array_equal(out[0], 0)


def test_derivative_and_jit():
    g = jit(grad(lambda s: image.scale_and_translate(PICTURE, (6, 6), (0, 1), s, jnp.zeros(2), "linear").sum()))(jnp.full(2, 0.7))
    assert np.isfinite(g).all()
    np.testing.assert_allclose(grad(lambda x: image.resize(x, (3, 4), "cubic").sum())(PICTURE).sum(), 12, rtol=1e-5)


def test_bad_arguments():
    with pytest.raises(ValueError, match='Unknown resize method "x"'):
        image.resize(PICTURE, (3, 3), "x")
    with pytest.raises(ValueError, match="one length for each axis"):
        image.resize(PICTURE, (3,), "linear")
    with pytest.raises(ValueError, match="method NEAREST has no kernel"):
        image.scale_and_translate(PICTURE, (3, 3), (0, 1), np.ones(2), np.ones(2), "nearest")
