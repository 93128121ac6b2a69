"""jax.nn: values and derivatives of activations, softmax, attention, block-scaled products."""
import numpy as np
import pytest
import scipy.special

from jax_core.configuration import flags
from jax_core.transformations.autodiff import grad, jvp
from jax_core.transformations.vmap import vmap
from jax_numpy_api import nn, numpy as jnp

X = np.array([-30.0, -2.9, -1.2, -0.5, 0.3, 1.1, 4, 30])
SIGMOID, NORMAL = scipy.special.expit, scipy.special.ndtr
ACTIVATIONS = [
    ("relu", lambda x: np.maximum(x, 0)), ("relu6", lambda x: np.clip(x, 0, 6)), ("sigmoid", SIGMOID), ("silu", lambda x: x * SIGMOID(x)),
    ("softplus", lambda x: np.logaddexp(x, 0)), ("soft_sign", lambda x: x / (1 + np.abs(x))), ("log_sigmoid", lambda x: -np.logaddexp(0, -x)),
    ("elu", lambda x: np.where(x > 0, x, np.expm1(x))), ("celu", lambda x: np.where(x > 0, x, np.expm1(x))),
    ("leaky_relu", lambda x: np.where(x > 0, x, 0.01 * x)), ("mish", lambda x: x * np.tanh(np.logaddexp(x, 0))),
    ("hard_tanh", lambda x: np.clip(x, -1, 1)), ("hard_sigmoid", lambda x: np.clip(x + 3, 0, 6) / 6),
    ("selu", lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x))),
    ("squareplus", lambda x: (x + np.sqrt(x * x + 4)) / 2), ("sparse_plus", lambda x: np.where(x < -1, 0, np.where(x > 1, x, (x + 1) ** 2 / 4))),
]


@pytest.mark.parametrize("name, reference", ACTIVATIONS, ids=[a[0] for a in ACTIVATIONS])
def test_activation(name, reference):
    f, h = getattr(nn, name), 1e-5
    with flags.enable_x64(True):
        np.testing.assert_allclose(f(X), reference(X), rtol=1e-12, atol=1e-15)
        slope = (reference(X + h) - reference(X - h)) / (2 * h)
        np.testing.assert_allclose(vmap(grad(f))(jnp.asarray(X)), slope, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", [a[0] for a in ACTIVATIONS])
@pytest.mark.parametrize("x64", [False, True])
def test_the_value_beside_a_tangent_is_as_weak(name, x64):
    f = getattr(nn, name)
    with flags.enable_x64(x64):
        assert jvp(f, (0.5,), (1.0,))[0].aval == f(0.5).aval


def test_gelu():
    with flags.enable_x64(True):
        np.testing.assert_allclose(nn.gelu(X, approximate=False), X * NORMAL(X), rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(nn.gelu(X), X * NORMAL(X), atol=1e-3)


def test_slopes_at_corners():
    assert grad(nn.relu)(0.0) == 0 and grad(nn.elu)(0.0) == 1


@pytest.mark.parametrize("function", [nn.silu, nn.gelu, nn.mish, nn.swish])
def test_second_derivatives_of_nan(function):
    """The function's argument is clamped in its slope; the derivative of that is 0 where it is far, and not where it is NaN."""
    second = grad(grad(function))
    assert np.isnan(second(jnp.float32(np.nan)))
    assert [float(second(jnp.float32(x))) for x in (np.inf, -np.inf, 200, -200)] == [0.0] * 4


@pytest.mark.parametrize("axis", [0, -1, (0, 1)])
def test_softmax(axis):
    x = np.random.default_rng(0).normal(size=(3, 4)) * 10
    with flags.enable_x64(True):
        np.testing.assert_allclose(nn.softmax(x, axis), scipy.special.softmax(x, axis), rtol=1e-12)
        np.testing.assert_allclose(nn.log_softmax(x, axis), scipy.special.log_softmax(x, axis), rtol=1e-12)
        np.testing.assert_allclose(nn.logsumexp(x, axis), scipy.special.logsumexp(x, axis), rtol=1e-12)
        np.testing.assert_allclose(nn.softmax(x, axis, where=x < x.max()).sum(axis), np.ones(np.sum(x, axis).shape), rtol=1e-12)


def test_standardize_and_one_hot():
    x = nn.standardize(np.arange(12.0).reshape(3, 4))
    np.testing.assert_allclose(x.mean(-1), 0, atol=1e-6)
    np.testing.assert_allclose(x.var(-1), 1, rtol=1e-4)
    np.testing.assert_array_equal(nn.one_hot(np.array([1, 3, -1]), 3), [[0, 1, 0], [0, 0, 0], [0, 0, 0]])


def test_attention():
    q, k, v = np.random.default_rng(0).normal(size=(3, 2, 5, 3, 4)).astype(np.float32)
    logits = np.einsum("btnh,bsnh->bnts", q, k) / 2
    weights = scipy.special.softmax(np.where(np.tril(np.ones((5, 5), bool)), logits, -np.inf), -1)
    np.testing.assert_allclose(nn.dot_product_attention(q, k, v, is_causal=True), np.einsum("bnts,bsnh->btnh", weights, v), atol=1e-5)


# -- block-scaled products ---------------------------------------------------------------------------------------------

NUMBERS = (((2,), (2,)), ((0,), (0,)))
LEFT, RIGHT = (np.random.default_rng(0).normal(size=(2, n, 64)).astype(np.float32) for n in (4, 8))
PRODUCT = np.einsum("bmk,bnk->bmn", LEFT, RIGHT)


def test_scaled_matmul():
    scales = 2.0 ** np.arange(16).reshape(2, 4, 2).astype(np.float32)
    want = np.einsum("bmk,bnk->bmn", LEFT * scales.repeat(32, -1), RIGHT)
    np.testing.assert_allclose(nn.scaled_matmul(LEFT, RIGHT, scales, np.ones((2, 8, 2), np.float32)), want, rtol=1e-4, atol=0.1)
    with pytest.raises(ValueError, match="agree in the first and last axis"):
        nn.scaled_matmul(LEFT, RIGHT[:, :, :32], scales, scales)


@pytest.mark.parametrize("mode, error", [("mxfp8", 0.06), ("mxfp4", 0.35), ("nvfp4", 0.25)])
def test_scaled_dot_general_is_near_the_product(mode, error):
    configs = [nn.get_scaled_dot_general_config(mode)] * 3
    got = nn.scaled_dot_general(LEFT, RIGHT, NUMBERS, configs=configs)
    assert np.abs(got - PRODUCT).max() < error * np.abs(PRODUCT).max()
    slope = grad(lambda x: nn.scaled_dot_general(x, RIGHT, NUMBERS, configs=configs).sum())(LEFT)
    assert np.abs(slope - RIGHT.sum(1, keepdims=True)).max() < error * np.abs(RIGHT.sum(1)).max()


def test_scaled_dot_general_without_formats_is_the_product():
    np.testing.assert_allclose(nn.scaled_dot_general(LEFT, RIGHT, NUMBERS), PRODUCT, rtol=1e-4, atol=1e-4)


def test_unknown_format():
    with pytest.raises(ValueError, match="Unsupported mode: x"):
        nn.get_scaled_dot_general_config("x")


@pytest.mark.parametrize("dtype, x", [("bfloat16", [-1e4, -300.0, -20.0, -5.0]), ("float16", [-300.0, -20.0, -5.0]), ("float32", [-1e10, -1e4, -300.0, -5.0])])
def test_squareplus_of_negative_numbers(dtype, x):
    """Nothing is subtracted that is nearly alike."""
    x = jnp.asarray(x, dtype)
    wide = np.asarray(x, np.float64)
    root, tolerance = np.sqrt(wide ** 2 + 4), 4 * float(jnp.finfo(dtype).eps)
    np.testing.assert_allclose(np.asarray(nn.squareplus(x), np.float64), 2 / (root - wide), rtol=tolerance)
    slope = np.asarray(grad(lambda x: jnp.sum(nn.squareplus(x)))(x), np.float64)
    np.testing.assert_allclose(slope, 2 / (root - wide) / root, rtol=4 * tolerance)


@pytest.mark.parametrize("dtype, large", [("float16", 6e4), ("bfloat16", 3e38), ("float32", 3e38)])
def test_slope_of_gelu_where_a_cube_overflows(dtype, large):
    slope = lambda x: float(grad(nn.gelu)(jnp.asarray(x, dtype)))
    assert slope(large) == slope(300.0) == 1 and slope(-large) == slope(-300.0) == 0
    assert nn.gelu(jnp.asarray(large, dtype)) == jnp.asarray(large, dtype) and np.isnan(slope(np.nan))
