"""The singular value decomposition for platforms without one, here on the CPU."""
import numpy as np
import pytest

from jax_core.programs.tracing import make_jaxpr
from jax_numpy_api.lax.linalg.polar import safe_scale
from jax_numpy_api.lax.linalg.svd_polar import svd_by_polar

CASES = [((8, 5), 5, np.float32), ((5, 8), 5, np.float32), ((6, 6), 6, np.float32), ((6, 6), 3, np.float32), ((4, 4), 0, np.float32),
         ((9, 4), 2, np.complex64), ((3, 7, 4), 4, np.float32), ((1, 1), 1, np.float32)]


@pytest.mark.parametrize("full_matrices", [True, False])
@pytest.mark.parametrize("shape, rank, dtype", CASES)
def test_svd_by_polar(shape, rank, dtype, full_matrices):
    rng = np.random.default_rng(len(shape) + rank)
    *batch, m, n = shape
    draw = lambda *s: rng.normal(size=s) + (1j * rng.normal(size=s) if dtype is np.complex64 else 0)
    x = (draw(*batch, m, rank) @ draw(*batch, rank, n)).astype(dtype)
    s, u, vh = map(np.asarray, svd_by_polar(x, full_matrices=full_matrices, compute_uv=True))
    k, close = min(m, n), dict(atol=2e-5 * max(1.0, float(np.abs(x).max())))
    assert u.shape == (*batch, m, m if full_matrices else k) and vh.shape == (*batch, n if full_matrices else k, n)
    np.testing.assert_allclose(s, np.linalg.svd(x.astype(np.complex128), compute_uv=False), **close)
    np.testing.assert_allclose((u[..., :k] * s[..., None, :]) @ vh[..., :k, :], x, **close)
    for basis in (u, np.swapaxes(vh, -1, -2)):
        gram = np.swapaxes(basis.conj(), -1, -2) @ basis
        np.testing.assert_allclose(gram, np.broadcast_to(np.eye(gram.shape[-1]), gram.shape), atol=2e-5)
    only, = svd_by_polar(x, full_matrices=False, compute_uv=False)
    np.testing.assert_allclose(only, s, **close)


SIZES = {"a column of zeros": [1, 0, 1, 1], "small and large": [1, 1e-30, 1, 1e-38], "huge": [1e37] * 4, "tiny": [1e-36] * 4}


@pytest.mark.parametrize("name", SIZES)
def test_of_any_size(name):
    x = (np.random.default_rng(0).normal(size=(6, 4)) * SIZES[name]).astype(np.float32)
    s, u, vh = map(np.asarray, svd_by_polar(x, full_matrices=False, compute_uv=True))
    expected = np.linalg.svd(x.astype(np.float64), compute_uv=False)
    np.testing.assert_allclose(s / expected[0], expected / expected[0], atol=2e-6)
    np.testing.assert_allclose(u.T @ u, np.eye(4), atol=2e-5)


@pytest.mark.parametrize("size", [0, 1e-45, 1e-38, 1e-20, 1, 1e20, 3e38, np.finfo(np.float32).max])
def test_the_scale_keeps_squares_finite(size):
    """Two quotients in a row would become one by a product of the divisors, on GPUs: 0/0 for a matrix of zeros."""
    scale = float(safe_scale(np.float32(size), np.dtype(np.float32)))
    assert size == 0 or 1e-32 < (np.float64(np.float32(size)) * scale) ** 2 < 1e32
    assert np.frexp(scale)[0] == 0.5 and "div" not in str(make_jaxpr(lambda x: safe_scale(x, np.dtype(np.float32)))(np.float32(1)))


def test_nan_stays_nan():
    s, = svd_by_polar(np.full((3, 3), np.nan, np.float32), full_matrices=False, compute_uv=False)
    assert np.isnan(s).all()
