"""The singular value decomposition for platforms without one, here on the CPU."""
import numpy as np
import pytest

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


def test_nan_stays_nan():
    s, = svd_by_polar(np.full((3, 3), np.nan, np.float32), full_matrices=False, compute_uv=False)
    assert np.isnan(s).all()
