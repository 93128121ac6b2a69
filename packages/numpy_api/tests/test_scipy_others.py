"""jax.scipy.signal, fft, ndimage, interpolate, optimize, sparse.linalg, spatial, cluster and integrate against SciPy."""
import numpy as np
import pytest
import scipy.fft
import scipy.interpolate
import scipy.ndimage
import scipy.signal
import scipy.spatial.transform

from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.transformations.autodiff import grad
from jax_numpy_api import numpy as jnp
from jax_numpy_api.scipy import fft, integrate, interpolate, ndimage, optimize, signal
from jax_numpy_api.scipy.cluster.vq import vq
from jax_numpy_api.scipy.sparse import linalg as sparse
from jax_numpy_api.scipy.spatial.transform import Rotation, Slerp

_RNG = np.random.default_rng(0)
SIGNAL = _RNG.normal(size=(2, 400))


@pytest.fixture(autouse=True)
def _wide():
    with flags.enable_x64(True):
        yield


def _assert_same(got, want):
    for g, w in zip(*(x if isinstance(x, tuple) else (x,) for x in (got, want))):
        assert g.shape == np.shape(w)
        np.testing.assert_allclose(g, w, rtol=1e-10, atol=1e-11)


# -- signal ------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("imaginary", [(0, 0), (1, 0), (1, 1)], ids=["real", "half complex", "complex"])
@pytest.mark.parametrize("shapes", [((7,), (4,)), ((3,), (6,)), ((5, 6), (3, 2)), ((2, 3), (4, 3))], ids=str)
def test_convolution(mode, shapes, imaginary):
    a, b = (_RNG.normal(size=s) + 1j * _RNG.normal(size=s) if i else _RNG.normal(size=s) for s, i in zip(shapes, imaginary))
    for name in ("convolve", "correlate", "fftconvolve"):
        _assert_same(getattr(signal, name)(a, b, mode=mode), getattr(scipy.signal, name)(a, b, mode=mode))
    if a.ndim == 2:
        for boundary in ("fill", "wrap", "symm"):
            for name in ("convolve2d", "correlate2d"):
                _assert_same(getattr(signal, name)(a, b, mode=mode, boundary=boundary),
                             getattr(scipy.signal, name)(a, b, mode=mode, boundary=boundary))


SPECTRA = [
    ("welch", (SIGNAL[..., :1],), {"nperseg": 1, "detrend": False}), ("welch", (SIGNAL,), {}), ("welch", (SIGNAL,), {"fs": 3.0, "nperseg": 90, "scaling": "spectrum", "average": "median", "detrend": "linear"}),
    ("csd", (SIGNAL, SIGNAL[::-1]), {"nfft": 300}), ("welch", (SIGNAL[0] + 1j * SIGNAL[1],), {"return_onesided": False}),
    ("welch", (SIGNAL.T,), {"axis": 0}), ("stft", (SIGNAL,), {}), ("stft", (SIGNAL,), {"nperseg": 51, "boundary": "even"}),
    ("stft", (SIGNAL,), {"nperseg": 64, "noverlap": 48, "boundary": "odd"}), ("stft", (SIGNAL,), {"boundary": None, "padded": False}),
    ("istft", (scipy.signal.stft(SIGNAL[0], nperseg=50)[2],), {}), ("detrend", (SIGNAL,), {}), ("detrend", (SIGNAL,), {"bp": [100, 200]}),
    ("detrend", (SIGNAL,), {"type": "constant"}), ("stft", (np.zeros((3, 0)),), {}), ("stft", (np.zeros((0, 3)),), {}),
    ("welch", (np.zeros((2, 0, 3)),), {"axis": 1}), ("csd", (np.zeros((3, 0)), np.zeros((3, 0))), {"axis": 0}),
]


@pytest.mark.parametrize("name, args, options", SPECTRA, ids=[f"{s[0]}-{s[2]}" for s in SPECTRA])
def test_spectra(name, args, options):
    _assert_same(getattr(signal, name)(*args, **options), getattr(scipy.signal, name)(*args, **options))


# -- fft, ndimage, interpolate, integrate, cluster -----------------------------------------------------------------------

@pytest.mark.parametrize("n", [1, 5, 8])
@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
def test_cosine_transforms(n, norm):
    x = _RNG.normal(size=(3, n))
    for name in ("dct", "idct"):
        for kind in (2, 3):
            _assert_same(getattr(fft, name)(x, kind, norm=norm), getattr(scipy.fft, name)(x, kind, norm=norm))


def test_inverse_cosine_transform_of_large_numbers():
    x = np.array([0, 3e38], np.float32)
    np.testing.assert_allclose(fft.idct(x), scipy.fft.idct(x.astype(np.float64)), rtol=1e-6)


def test_cosine_transforms_of_several_axes():
    x = _RNG.normal(size=(3, 4, 5))
    _assert_same(fft.dctn(x), scipy.fft.dctn(x))
    _assert_same(fft.dctn(x + 2j * x[::-1], 3), scipy.fft.dctn(x + 2j * x[::-1], 3))
    assert fft.dct(np.ones(3, np.float16)).dtype == scipy.fft.dct(np.ones(3, np.float16)).dtype == np.float32
    _assert_same(fft.idctn(x, s=(3, 6), axes=(0, 2), norm="ortho"), scipy.fft.idctn(x, s=(3, 6), axes=(0, 2), norm="ortho"))


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("mode, reference", [("constant", "grid-constant"), ("nearest", "nearest"), ("wrap", "grid-wrap"),
                                             ("reflect", "reflect"), ("mirror", "mirror")])
def test_map_coordinates(mode, reference, order):
    image, at = _RNG.normal(size=(4, 5)), _RNG.uniform(-3, 8, (2, 20))
    _assert_same(ndimage.map_coordinates(image, list(at), order, mode, 2.0),
                 scipy.ndimage.map_coordinates(image, at, order=order, mode=reference, cval=2.0))


@pytest.mark.parametrize("mode", ["constant", "nearest", "reflect", "mirror"])
def test_nearest_of_two_elements_at_the_same_distance(mode):
    at = np.array([-3.5, -2.5, -1.5, -0.5, 0.49999997, 0.5, 1.5, 2.5, 3.5], np.float32)
    _assert_same(ndimage.map_coordinates(np.arange(5.), [at], 0, mode, -7.0), scipy.ndimage.map_coordinates(np.arange(5.), [at], order=0, mode=mode, cval=-7.0))


@pytest.mark.parametrize("method", ["linear", "nearest"])
@pytest.mark.parametrize("fill", [np.nan, None])
def test_grid_interpolation(method, fill):
    grid, values = (np.array([0, 1, 2.5, 3]), np.array([0, 0.5, 2])), _RNG.normal(size=(4, 3, 2))
    at = _RNG.uniform(-0.2, 3.2, (9, 2))
    got = interpolate.RegularGridInterpolator(grid, values, method, fill_value=fill)(at)
    _assert_same(got, scipy.interpolate.RegularGridInterpolator(grid, values, method, False, fill)(at))


def test_the_slope_at_a_point_of_the_grid_is_that_of_the_cell_before_it():
    at = interpolate.RegularGridInterpolator((np.arange(4.0),), np.arange(4.0) ** 2)
    slopes = [float(grad(lambda x: at(x[None])[0])(x)) for x in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0)]
    assert slopes == [1.0, 1.0, 1.0, 3.0, 3.0, 5.0]


def test_integral_and_nearest_code():
    assert integrate.trapezoid(np.arange(4.0)) == 4.5
    index, distance = vq(np.array([[0.0, 0], [3, 4]]), np.array([[0.0, 0], [3, 3]]))
    np.testing.assert_array_equal([index, distance], [[0, 1], [0, 1]])


# -- optimize ----------------------------------------------------------------------------------------------------------

def _rosenbrock(x):
    return jnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


@pytest.mark.parametrize("method", ["BFGS", "l-bfgs-experimental-do-not-rely-on-this"])
def test_minimum(method):
    result = jit(lambda x: optimize.minimize(_rosenbrock, x, method=method, tol=1e-6))(np.array([-1.2, 1, -0.5, 2]))
    assert result.success and result.status == 0
    np.testing.assert_allclose(result.x, np.ones(4), atol=1e-4)


# -- sparse ------------------------------------------------------------------------------------------------------------

MATRIX = _RNG.normal(size=(8, 8)) + 5 * np.eye(8)
def test_a_class_of_operators_is_applied_by_its_own_product():
    class Twice:
        shape = (3, 3)

        def __matmul__(self, x):
            return 2 * x
    np.testing.assert_allclose(sparse.cg(Twice(), jnp.ones(3))[0], np.full(3, 0.5), rtol=1e-6)


SOLVERS = [("cg", MATRIX @ MATRIX.T), ("bicgstab", MATRIX), ("gmres", MATRIX)]


@pytest.mark.parametrize("name, a", SOLVERS, ids=[s[0] for s in SOLVERS])
def test_iterative_solution(name, a):
    solve, b = getattr(sparse, name), _RNG.normal(size=8)
    x, info = solve(a, b, tol=1e-12, M=np.diag(1 / np.diag(a)))
    np.testing.assert_allclose(a @ x, b, atol=1e-9)
    assert info is None if name != "gmres" else info == 0
    got = grad(lambda b: jnp.sum(solve(a, b, tol=1e-12)[0] ** 2))(b)
    np.testing.assert_allclose(got, np.linalg.solve(a.T, 2 * np.asarray(x)), atol=1e-8)
    tree, _ = solve(lambda v: {"a": 2 * v["a"], "b": 3 * v["b"]}, {"a": jnp.ones(3), "b": jnp.ones((2, 2))})
    np.testing.assert_allclose(tree["b"], np.full((2, 2), 1 / 3), rtol=1e-6)
    halves = solve(lambda v: 2 * v, jnp.arange(3, dtype="float16"))[0]
    assert halves.dtype == np.float16 and halves.tolist() == [0, 0.5, 1]


@pytest.mark.parametrize("name", [s[0] for s in SOLVERS])
def test_a_system_with_nan_has_no_solution(name):
    """The loops end at once there, as no comparison with NaN holds."""
    for a, b in (np.eye(2), [1.0, np.nan]), (np.full((2, 2), np.nan), [1.0, 1.0]), (np.eye(2), [1.0, np.inf]):
        x, info = getattr(sparse, name)(a, np.array(b))
        assert np.isnan(x).all() and (info is None or info == -1)


# -- rotations ---------------------------------------------------------------------------------------------------------

QUATERNIONS = _RNG.normal(size=(6, 4))
OURS, SCIPYS = Rotation.from_quat(QUATERNIONS), scipy.spatial.transform.Rotation.from_quat(QUATERNIONS)


def test_rotations():
    rotation = Rotation.from_quat(QUATERNIONS)
    for name in ("as_matrix", "as_rotvec", "as_mrp", "magnitude"):
        _assert_same(getattr(rotation, name)(), getattr(SCIPYS, name)())
    _assert_same(rotation.as_quat(canonical=True, scalar_first=True), SCIPYS.as_quat(canonical=True, scalar_first=True))
    _assert_same(rotation.apply(np.ones(3), inverse=True), SCIPYS.apply(np.ones(3), inverse=True))
    _assert_same((rotation * rotation.inv() * rotation).as_matrix(), SCIPYS.as_matrix())
    _assert_same(rotation.mean(np.arange(6.0)).as_matrix(), SCIPYS.mean(np.arange(6.0)).as_matrix())
    _assert_same(Rotation.from_matrix(SCIPYS.as_matrix()).as_matrix(), SCIPYS.as_matrix())
    assert len(rotation) == 6 and rotation[0].single


@pytest.mark.parametrize("seq", ["xyz", "zyx", "XYZ", "zxz", "ZYZ"])
def test_euler_angles(seq):
    _assert_same(Rotation.from_quat(QUATERNIONS).as_euler(seq), SCIPYS.as_euler(seq))
    angles = _RNG.normal(size=(4, 3))
    _assert_same(Rotation.from_euler(seq, angles).as_matrix(), scipy.spatial.transform.Rotation.from_euler(seq, angles).as_matrix())


def test_interpolation_of_rotations():
    times = np.arange(6.0)
    got = Slerp.init(times, Rotation.from_quat(QUATERNIONS))(np.array([0, 0.3, 2.7, 5]))
    _assert_same(got.as_matrix(), scipy.spatial.transform.Slerp(times, SCIPYS)([0, 0.3, 2.7, 5]).as_matrix())


def test_rotation_vectors_have_a_derivative_at_zero():
    np.testing.assert_allclose(grad(lambda v: jnp.sum(Rotation.from_rotvec(v).as_rotvec()))(np.zeros(3)), np.ones(3))
    square = -12  # of a complex vector, which is not small
    np.testing.assert_allclose(Rotation.from_rotvec(np.array([3j, 1, 2j])).quat[3], np.cosh(np.sqrt(-square) / 2), rtol=1e-6)
