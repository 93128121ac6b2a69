"""Arguments that the reference refuses and NumPy or SciPy accepts: the values are theirs."""
import numpy as np
import pytest
import scipy.fft
import scipy.linalg
import scipy.special

from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.representation import errors
from jax_core.transformations.autodiff import grad, jvp
from jax_numpy_api import numpy as jnp
from jax_numpy_api.scipy import fft, linalg, special

_RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def _wide():
    with flags.enable_x64(True):
        yield


@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("kind", [1, 4])
@pytest.mark.parametrize("n", [2, 5, 8])
def test_cosine_transforms_of_types_1_and_4(kind, norm, n):
    x = _RNG.normal(size=(3, n))
    got = fft.dct(x, kind, norm=norm)
    np.testing.assert_allclose(got, scipy.fft.dct(x, kind, norm=norm), atol=1e-12)
    np.testing.assert_allclose(fft.idct(got, kind, norm=norm), x, atol=1e-12)


def test_transform_of_type_1_needs_two_elements():
    with pytest.raises(ValueError, match="at least 2 elements"):
        fft.dct(np.ones(1), 1)


def test_partition_of_complex_numbers():
    """Ordered by real part, then imaginary part."""
    z = _RNG.integers(0, 3, (20, 2)) @ np.array([1, 1j])
    for kth in (0, 7, 19):
        got = np.asarray(jnp.partition(z, kth))
        assert got[kth] == np.partition(z, kth)[kth]
        assert z[np.asarray(jnp.argpartition(z, kth))][kth] == got[kth]


@pytest.mark.parametrize("n", [1, 2, 5])
def test_slogdet_by_qr_of_complex_matrices(n):
    a = _RNG.normal(size=(3, n, n)) + 1j * _RNG.normal(size=(3, n, n))
    for got, want in zip(jnp.linalg.slogdet(a, method="qr"), np.linalg.slogdet(a)):
        np.testing.assert_allclose(got, want, atol=1e-12)


def test_slogdet_by_qr_of_a_triangular_complex_matrix():
    """No reflection is needed there."""
    a = np.triu(_RNG.normal(size=(4, 4)) + 1j * _RNG.normal(size=(4, 4)))
    np.testing.assert_allclose(jnp.linalg.slogdet(a, method="qr")[0], np.linalg.slogdet(a)[0], atol=1e-12)


def test_tridiagonal_eigenvalues_in_an_interval():
    d, e = _RNG.normal(size=8), _RNG.normal(size=7)
    want = scipy.linalg.eigh_tridiagonal(d, e, select="v", select_range=(-1.0, 1.0), eigvals_only=True)
    w, v = linalg.eigh_tridiagonal(d, e, select="v", select_range=(-1.0, 1.0))
    np.testing.assert_allclose(w, want, atol=1e-12)
    full = np.diag(d) + np.diag(e, 1) + np.diag(e, -1)
    np.testing.assert_allclose(full @ np.asarray(v), np.asarray(v) * np.asarray(w), atol=1e-12)
    with pytest.raises(errors.TracerArrayConversionError):
        jit(lambda d: linalg.eigh_tridiagonal(d, e, select="v", select_range=(0.0, 1.0)))(d)


def test_complex_tridiagonal_eigenvectors():
    d, e = _RNG.normal(size=6), _RNG.normal(size=5) + 1j * _RNG.normal(size=5)
    w, v = linalg.eigh_tridiagonal(d, e)
    full = np.diag(d) + np.diag(e, 1) + np.diag(e.conj(), -1)
    np.testing.assert_allclose(full @ np.asarray(v), np.asarray(v) * np.asarray(w), atol=1e-12)


def test_derivatives_of_spherical_harmonics():
    """As finite differences say; SciPy has the same functions from 1.15 on."""
    n, m = np.array([2, 3, 1]), np.array([1, -2, 0])
    theta, phi = np.array([0.3, 1.1, 2.0]), np.array([0.2, 2.2, 4.0])
    value, gradient, hessian = special.sph_harm_y(n, m, theta, phi, diff_n=2)
    h = 1e-5
    f = lambda t, p: np.asarray(special.sph_harm_y(n, m, t, p))
    np.testing.assert_allclose(value, f(theta, phi))
    np.testing.assert_allclose(np.asarray(gradient)[..., 0], (f(theta + h, phi) - f(theta - h, phi)) / (2 * h), atol=1e-9)
    np.testing.assert_allclose(np.asarray(gradient)[..., 1], (f(theta, phi + h) - f(theta, phi - h)) / (2 * h), atol=1e-9)
    first = lambda t, p: np.asarray(special.sph_harm_y(n, m, t, p, diff_n=1)[1])
    np.testing.assert_allclose(np.asarray(hessian)[..., 0, :], (first(theta + h, phi) - first(theta - h, phi)) / (2 * h),
                               atol=1e-8)
    if hasattr(scipy.special, "sph_harm_y"):
        for got, want in zip((value, gradient, hessian), scipy.special.sph_harm_y(n, m, theta, phi, diff_n=2)):
            np.testing.assert_allclose(got, want, atol=1e-10)


def test_arrays_from_files_and_iterators(tmp_path):
    path = tmp_path / "x.bin"
    np.arange(5, dtype=np.float32).tofile(path)
    got = jnp.fromfile(path, dtype=np.float32, offset=4)
    assert got.dtype == np.float32 and np.array_equal(got, [1, 2, 3, 4])
    assert np.array_equal(jnp.fromiter((i * i for i in range(4)), int), [0, 1, 4, 9])


def test_cosine_transforms_have_gradients():
    x = _RNG.normal(size=6)
    for kind in (1, 4):
        got = grad(lambda x: (fft.dct(x, kind) ** 2).sum())(x)
        matrix = scipy.fft.dct(np.eye(6), kind, axis=0)
        np.testing.assert_allclose(got, 2 * matrix.T @ matrix @ x, atol=1e-10)


@pytest.mark.parametrize("is_complex", [False, True])
def test_derivative_of_complete_qr(is_complex):
    """Of what does not depend on the basis of the columns that R leaves open; Q^H dQ is skew."""
    draw = lambda: _RNG.normal(size=(5, 2)) + (1j * _RNG.normal(size=(5, 2)) if is_complex else 0)
    a, da = draw(), draw()

    def parts(x):
        q, r = jnp.linalg.qr(x, mode="complete")
        return q[:, :2], q[:, 2:] @ q[:, 2:].conj().T, r
    h = 1e-6
    for t, up, down in zip(jvp(parts, (a,), (da,))[1], parts(a + h * da), parts(a - h * da)):
        np.testing.assert_allclose(t, (up - down) / (2 * h), atol=1e-8)
    q, dq = jvp(lambda x: jnp.linalg.qr(x, mode="complete")[0], (a,), (da,))
    np.testing.assert_allclose(q.conj().T @ dq, -(q.conj().T @ dq).conj().T, atol=1e-12)


@pytest.mark.parametrize("steps", [(), (0.5,), (2.0, 0.25)])
def test_gradient_of_second_order_at_the_edges(steps):
    x = _RNG.normal(size=(5, 4))
    for got, want in zip(jnp.gradient(x, *steps, edge_order=2), np.gradient(x, *steps, edge_order=2)):
        np.testing.assert_allclose(got, want, rtol=1e-12)
    at = np.cumsum(_RNG.random(5)) + 1
    np.testing.assert_allclose(jnp.gradient(x, at, axis=0, edge_order=2), np.gradient(x, at, axis=0, edge_order=2), rtol=1e-10)
    np.testing.assert_allclose(jnp.gradient(x, at, axis=0, edge_order=1), np.gradient(x, at, axis=0), rtol=1e-10)
    with pytest.raises(ValueError, match="needs 3 elements"):
        jnp.gradient(np.ones(2), edge_order=2)
