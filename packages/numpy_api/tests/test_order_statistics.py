"""Quantiles of many elements, which are selected and not sorted, against NumPy; their derivatives; batching."""
import warnings

import numpy as np
import pytest

import jax_numpy_api.numpy as jnp
from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.transformations.autodiff import grad
from jax_core.transformations.vmap import vmap
from jax_numpy_api.numpy import order_statistics


def _numbers(shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def _special(shape):
    x = np.round(_numbers(shape, 1), 1)  # many are equal
    x.flat[::7] = np.inf
    x.flat[::5] = -np.inf
    x.flat[3::11] = -0.0
    return x


@pytest.mark.parametrize("method", ["linear", "lower", "higher", "midpoint", "nearest", "inverted_cdf", "hazen"])
def test_quantile(method):
    q = np.array([0.0, 0.31, 1.0], np.float32)
    assert order_statistics.pays((150, 256), np.float32, 3)
    for x in (_numbers((256, 150)), _special((256, 150))):  # one program for both
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            want = np.quantile(x.astype(np.float64), q.astype(np.float64), axis=0, method=method)
        got = jnp.quantile(x, q, axis=0, method=method)
        sure = ~np.isnan(want)  # between infinities NumPy has NaN where it need not
        np.testing.assert_allclose(np.asarray(got)[sure], want[sure], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("shape, axis", [((1 << 15,), None), ((129, 256), 1), ((300, 130), 0), ((4, 130, 70), (0, 1))])
def test_median(shape, axis):
    x = _numbers(shape)
    np.testing.assert_array_equal(jnp.median(x, axis=axis), np.median(x, axis=axis))


def test_nan():
    x = _numbers((128, 256))
    x[3, 5] = np.nan
    x[4] = np.nan
    x[5, ::2] = -np.float32(np.nan)
    np.testing.assert_array_equal(jnp.median(x, axis=1), np.median(x, axis=1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_array_equal(jnp.nanmedian(x, axis=1), np.nanmedian(x, axis=1))


def test_float64():
    with flags.enable_x64(True):
        x = _numbers((1 << 15,)).astype(np.float64) ** 3
        np.testing.assert_array_equal(jnp.median(x), np.median(x))


def test_gradient_goes_to_the_two_in_the_middle():
    x = _numbers((2, 1 << 14))
    got = np.asarray(grad(lambda x: jnp.median(x, axis=1).sum())(x))
    for row, slope in zip(x, got):
        middle = np.argsort(row)[row.size // 2 - 1:row.size // 2 + 1]
        want = np.zeros_like(row)
        want[middle] = 0.5
        np.testing.assert_array_equal(slope, want)


def test_vmap():
    x = _numbers((3, 200, 256))
    got = vmap(lambda y: jnp.quantile(y, 0.25, axis=1))(x)
    np.testing.assert_allclose(got, np.quantile(x, 0.25, axis=2), rtol=1e-6)


def test_keys_are_the_same_by_sorting_and_by_bits():
    """GPUs sort, other platforms select; also for the first and the last rank, and among equal elements."""
    for x in (_numbers((5, 130)), _special((5, 130))):
        keys = order_statistics._keys(jnp.asarray(x))
        ranks = [jnp.full((5,), k, np.int32) for k in (0, 64, 129)]
        for one, other in zip(order_statistics._sorted_pairs(keys, ranks), order_statistics._selected_pairs(keys, ranks)):
            np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(np.signbit(order_statistics._numbers(keys, np.float32)), np.signbit(x))
        np.testing.assert_array_equal(order_statistics._numbers(keys, np.float32), x)


@pytest.mark.parametrize("function", [jnp.quantile, jnp.percentile, jnp.nanquantile])
def test_weights_are_for_one_method(function):
    with pytest.raises(NotImplementedError, match="weights are only supported with method='inverted_cdf', got 'linear'"):
        function(_numbers((2, 3)), 0.5, axis=1, weights=np.ones(3, np.float32))


@pytest.mark.parametrize("n", [41, 47, 55])
def test_weighted_quantiles_reach_the_last_element(n):
    """Though n * (1 / n) is less than 1, whether or not they are compiled."""
    x, w, q = _numbers((n,)), np.ones(n, np.float32), np.array([0.0, 0.5, 1.0], np.float32)
    want = np.quantile(x, q, weights=w, method="inverted_cdf")
    for f in (jnp.quantile, jit(jnp.quantile, static_argnames="method")):
        np.testing.assert_array_equal(f(x, q, weights=w, method="inverted_cdf"), want)
