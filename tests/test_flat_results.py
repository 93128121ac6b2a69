"""Results with a short last axis are written as vectors where one index does for all that is read (`jax_xla_backend.planning.flat_results`)."""
import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax_xla_backend.jaxlib_compat import BARRIERS_LAST

pytestmark = [pytest.mark.only_cpu, pytest.mark.skipif(not BARRIERS_LAST, reason="the compiler drops barriers")]

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 64)).astype(np.float32)


def gradient(w):
    """Of the shape of ``w``, in memory."""
    return X.T @ jnp.tanh(X @ w)


def adam(w):
    g = gradient(w)
    m, v = 0.9 * w + 0.1 * g, jnp.square(g) * 0.001
    return w - 0.1 * (m / (jnp.sqrt(v) + 1e-8) + 0.01 * w), m, v


def called(w):
    return jax.jit(lambda w: gradient(w) * 2)(w) + 1


def pairs(w):
    """A short sum, whose loop is part of the kernel."""
    return jnp.square(gradient(w))[:, :, None].repeat(8, 2).sum(2) * w


CASES = {  # name: function, length of the last axis, how many of its results
    "adam": (adam, 10, 3), "shortest": (adam, 9, 3), "shorter": (adam, 8, 0), "longest": (adam, 32, 3), "longer": (adam, 33, 0),
    "step": (lambda w: w - 0.1 * gradient(w), 16, 1), "not computed": (lambda w: (w, gradient(w)), 16, 0), "twice": (lambda w: (lambda y: (y, y))(gradient(w) * 2), 16, 1),
    "read inside": (lambda w: (lambda y: (y, (y * w).sum()))(gradient(w) * 2), 16, 1), "broadcast": (lambda w: gradient(w) + w[0], 16, 0),
    "transposed": (lambda w: (gradient(w).T * w.T).T, 16, 0), "scalar": (lambda w: gradient(w) * w.sum(), 16, 1), "sliced": (lambda w: gradient(w)[1:] * 2, 16, 0),
    "boolean": (lambda w: gradient(w) > w, 16, 1), "three axes": (lambda w: gradient(w).reshape(4, 16, 16) * w.reshape(4, 16, 16), 16, 1),
    "in a call": (called, 16, 0), "a short sum": (pairs, 16, 1), "drawn": (lambda w: gradient(w) * jax.random.normal(jax.random.key(0), w.shape), 16, 0),
    "small": (lambda w: w[:9] * w[:9] + jnp.sort(w[0]), 16, 0), "a pass": (lambda w: w * 2 + 1, 32, 0),
}


def unrolled(function):
    """A program that has padding, too, whose loops are therefore unrolled."""
    return lambda w: (function(w), jnp.pad(X, 1))


@pytest.mark.parametrize("name", CASES)
def test_results(name):
    function, length, count = CASES[name]
    function = function if name == "a pass" else unrolled(function)
    w = RNG.normal(size=(64, length)).astype(np.float32)
    lowered = jax.jit(function).lower(w)
    assert lowered.as_text().count("one loop over all elements") == count
    plain = jax.jit(lambda w: function(w), compiler_options={"jax_fusion_planner": "off"})
    for got, want in zip(jax.tree.leaves(lowered.compile()(w)), jax.tree.leaves(plain(w)), strict=True):
        assert got.shape == want.shape and got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5)


def test_kernels_are_of_vectors():
    w = np.ones((64, 10), np.float32)
    text = jax.jit(unrolled(adam)).lower(w).compile().as_text().partition("ENTRY")[2]
    assert text.count("= f32[640]{0} fusion(") == 3


def test_loops_that_are_not_unrolled_are_left():
    assert "one loop" not in jax.jit(adam).lower(np.ones((64, 16), np.float32)).as_text()


def test_donated_results_take_the_memory_of_inputs():
    w = jnp.ones((64, 10))
    lowered = jax.jit(unrolled(adam), donate_argnums=0).lower(w)
    assert "one loop" not in lowered.as_text()
    assert lowered.compile().memory_analysis().alias_size_in_bytes == w.nbytes
