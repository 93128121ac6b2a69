"""stax: shapes of layers, what they compute, and a network that learns."""
import numpy as np
import pytest

import jax_random as random
from jax_core.programs.jit import jit
from jax_core.representation import tree
from jax_core.transformations.autodiff import grad
from jax_numpy_api import numpy as jnp
from jax_numpy_api.example_libraries import optimizers
from jax_random import stax

KEY = random.key(0)
IMAGES = (2, 6, 5, 3)
LAYERS = {
    "Dense": (stax.Dense(4), IMAGES),
    "Conv": (stax.Conv(4, (3, 2)), IMAGES),
    "Conv strided": (stax.Conv(4, (3, 2), (2, 1), "SAME"), IMAGES),
    "GeneralConv": (stax.GeneralConv(("NCHW", "OIHW", "NHWC"), 4, (1, 2)), IMAGES),
    "ConvTranspose": (stax.ConvTranspose(4, (3, 3), (2, 2), "SAME"), IMAGES),
    "Conv1DTranspose": (stax.Conv1DTranspose(4, (3,)), (2, 5, 3)),
    "BatchNorm": (stax.BatchNorm(), IMAGES),
    "BatchNorm plain": (stax.BatchNorm(axis=0, center=False, scale=False), (4, 3)),
    "MaxPool": (stax.MaxPool((2, 2), (2, 2), "SAME"), IMAGES),
    "SumPool": (stax.SumPool((2, 2)), IMAGES),
    "AvgPool": (stax.AvgPool((2,), spec="NCW"), (2, 3, 5)),
    "Flatten": (stax.Flatten, IMAGES),
    "Dropout": (stax.Dropout(0.5), IMAGES),
    "shape_dependent": (stax.shape_dependent(lambda shape: stax.Dense(shape[-1] + 1)), IMAGES),
    "serial of nothing": (stax.serial(), IMAGES),
    "residual": (stax.serial(stax.FanOut(2), stax.parallel(stax.Conv(3, (3, 3), padding="SAME"), stax.Identity),
                             stax.FanInSum), IMAGES),
    "concatenated": (stax.serial(stax.FanOut(2), stax.parallel(stax.Dense(2), stax.Identity), stax.FanInConcat()), IMAGES),
    **{name: (getattr(stax, name), (3, 4)) for name in (
        "Tanh", "Relu", "Exp", "LogSoftmax", "Softmax", "Softplus", "Sigmoid", "Elu", "LeakyRelu", "Selu", "Gelu")},
}


@pytest.mark.parametrize("name", LAYERS)
def test_shape_of_layer(name):
    """`init_fun` foretells the shape that `apply_fun` gives."""
    (init, apply), shape = LAYERS[name]
    out_shape, params = init(KEY, shape)
    x = random.normal(KEY, shape)
    assert apply(params, x, rng=KEY).shape == tuple(out_shape)
    assert jit(apply)(params, x, rng=KEY).shape == tuple(out_shape)


def test_pools():
    x = jnp.arange(9.0).reshape(1, 3, 3, 1)
    run = lambda pool: np.asarray(pool[1]((), x)).reshape(-1)
    assert np.array_equal(run(stax.MaxPool((2, 2))), [4, 5, 7, 8])
    assert np.array_equal(run(stax.SumPool((2, 2))), [8, 12, 20, 24])
    assert np.array_equal(run(stax.AvgPool((2, 2), padding="SAME")), [2, 3, 3.5, 5, 6, 6.5, 6.5, 7.5, 8])


def test_batch_norm():
    init, apply = stax.BatchNorm(axis=(0, 1))
    x = 3 + 2 * random.normal(KEY, (5, 6, 4))
    out = np.asarray(apply(init(KEY, x.shape)[1], x))
    np.testing.assert_allclose(out.mean((0, 1)), 0, atol=1e-5)
    np.testing.assert_allclose(out.std((0, 1)), 1, atol=1e-3)


def test_shapes_of_parallel_layers_are_a_tuple():
    """As that of one layer is."""
    init, _ = stax.parallel(stax.Dense(3), stax.Flatten)
    assert init(KEY, ((2, 4), (2, 2, 2)))[0] == ((2, 3), (2, 4))


def test_dropout():
    """Kept elements are scaled by the rate at which they are kept; testing keeps all; a key is needed."""
    x = jnp.ones(1000)
    out = np.asarray(stax.Dropout(0.8)[1]((), x, rng=KEY))
    assert set(np.unique(out)) == {0.0, np.float32(1.25)} and 700 < (out > 0).sum() < 900
    assert np.array_equal(stax.Dropout(0.8, mode="test")[1]((), x, rng=KEY), x)
    with pytest.raises(ValueError, match="got no key"):
        stax.Dropout(0.8)[1]((), x)


def test_a_network_learns():
    """Two moons of points, three layers, adam: nearly all points end up on their side."""
    angle = np.linspace(0, np.pi, 40)
    moon = np.stack([np.cos(angle), np.sin(angle)], 1)
    points = np.concatenate([moon, [1, 0.4] - moon]).astype(np.float32)
    labels = np.repeat(np.eye(2, dtype=np.float32), 40, axis=0)
    init, apply = stax.serial(stax.Dense(16), stax.Tanh, stax.BatchNorm(axis=0), stax.Dense(2), stax.LogSoftmax)
    _, params = init(KEY, points.shape)
    optimizer = optimizers.adam(0.05)
    loss = lambda params: -jnp.mean(jnp.sum(apply(params, points) * labels, axis=1))
    step = jit(lambda i, state: optimizer.update_fn(i, grad(loss)(optimizer.params_fn(state)), state))
    state = optimizer.init_fn(params)
    for i in range(100):
        state = step(i, state)
    trained = optimizer.params_fn(state)
    assert tree.structure(trained) == tree.structure(params)
    assert (np.argmax(apply(trained, points), 1) == np.argmax(labels, 1)).mean() > 0.97
