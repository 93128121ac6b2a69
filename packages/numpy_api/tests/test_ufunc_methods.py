"""The methods of ufunc objects against those of NumPy's, for every ufunc there is, and the array API namespace."""
import numpy as np
import pytest

from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.transformations.autodiff import grad, jvp, vjp
from jax_core.transformations.vmap import vmap
from jax_numpy_api import numpy as jnp
from jax_numpy_api.numpy import _MODULES

NAMES = _MODULES["ufunc_objects"].split()
BINARY = [n for n in NAMES if getattr(jnp, n).nin == 2]
ORDERED = [n for n in BINARY if n not in ("logical_and", "logical_or", "logical_xor")]


@pytest.fixture(autouse=True)
def _wide():
    with flags.enable_x64(True):
        yield


def operands(name, shape):
    """Integers for bitwise functions, numbers for all others."""
    ints = np.random.default_rng(len(shape)).integers(-4, 5, shape)  # the same whichever tests run before
    return ints if name.startswith("bitwise") else ints / 4


def assert_same(got, want):
    assert got.shape == want.shape and got.dtype == want.dtype, (got.dtype, want.dtype)
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-16)  # logaddexp2(-1, -1) is 0 or, with a fused product, -5e-17


def test_facts_of_ufuncs():
    for name in NAMES:
        ours, theirs = getattr(jnp, name), getattr(np, name)
        assert (ours.nin, ours.nout, ours.nargs) == (theirs.nin, theirs.nout, theirs.nargs), name


@pytest.mark.parametrize("name", BINARY)
def test_outer(name):
    a, b = operands(name, (2, 3)), operands(name, (4,))
    assert_same(getattr(jnp, name).outer(a, b), getattr(np, name).outer(a, b))


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("name", BINARY)
def test_reduce(name, axis):
    a = operands(name, (3, 4, 2))
    assert_same(getattr(jnp, name).reduce(a, axis=axis), getattr(np, name).reduce(a, axis=axis))
    assert_same(jit(lambda a: getattr(jnp, name).reduce(a, axis=axis, keepdims=True))(a),
                getattr(np, name).reduce(a, axis=axis, keepdims=True))


@pytest.mark.parametrize("name", [n for n in BINARY if getattr(np, n).identity is not None or n in ("maximum", "minimum")])
def test_reduce_with_mask_and_initial(name):
    a, mask = operands(name, (3, 4)), np.random.default_rng(0).random((3, 4)) < 0.5
    initial = {} if getattr(np, name).identity is not None and name not in ("logaddexp", "logaddexp2") else {"initial": 1}
    assert_same(getattr(jnp, name).reduce(a, where=mask, **initial), getattr(np, name).reduce(a, where=mask, **initial))


@pytest.mark.parametrize("name", ORDERED)
def test_accumulate(name):
    a = operands(name, (3, 4))
    for axis in (0, 1):
        assert_same(getattr(jnp, name).accumulate(a, axis=axis), getattr(np, name).accumulate(a, axis=axis))


@pytest.mark.parametrize("name", ORDERED)
def test_at(name):
    """An index that comes twice acts twice."""
    a, b, index = operands(name, (5,)), operands(name, (4,)), np.array([1, 3, 1, 0])
    want = a.copy()
    getattr(np, name).at(want, index, b)
    assert_same(getattr(jnp, name).at(a, index, b, inplace=False), want)
    with pytest.raises(NotImplementedError, match="inplace=False"):
        getattr(jnp, name).at(a, index, b)


@pytest.mark.parametrize("name, a, b, want", [
    ("maximum", "int8", 1.5, [1.5, 1, 1]), ("minimum", "bool", 2, [1, 1, 1]), ("maximum", "float16", np.float32(2), [2, 1, 1]), ("logical_or", "float32", 0.0, [True] * 3),
    ("bitwise_xor", "bool", 2, [1, 1, 1]), ("bitwise_or", "int8", np.int16(256), [257, 1, 1]), ("add", "bool", True, [True] * 3), ("multiply", "bool", False, [False, True, True]), ("add", "int8", 1, [3, 1, 1])])
def test_dtype_of_at(name, a, b, want):
    """That of the function's results, so that none of them is cut off; sums and products keep that of ``a``."""
    got = getattr(jnp, name).at(jnp.ones(3, a), jnp.array([0, 0]), b, inplace=False)
    assert got.dtype == (a if name in ("add", "multiply") else getattr(jnp, name)(jnp.ones(3, a), b).dtype) and got.tolist() == want and not got.weak_type


@pytest.mark.parametrize("name", ORDERED)
def test_reduceat(name):
    a, index = operands(name, (6, 2)), np.array([0, 3, 1, 5])
    assert_same(getattr(jnp, name).reduceat(a, index, axis=0), getattr(np, name).reduceat(a, index, axis=0))


def test_reduceat_beyond_the_end():
    """There NumPy raises."""
    def fun(a):
        return jnp.add.reduceat(a, jnp.array([0, 2]))
    a = jnp.array([1.0, 2.0])
    np.testing.assert_array_equal(fun(a), [3, np.nan])
    out, pullback = vjp(fun, a)
    assert pullback(jnp.ones_like(out))[0].tolist() == [1, 1] and jvp(fun, (a,), (a,))[1].tolist() == [3, 0]


def test_unary_at():
    a = np.arange(4.0)
    assert np.array_equal(jnp.negative.at(a, np.array([1, 2]), inplace=False), [0, -1, -2, 3])


def test_ufuncs_of_the_users_own():
    """`frompyfunc`: methods, transformations, and errors."""
    hyper = jnp.frompyfunc(lambda x, y: jnp.sqrt(x * x + y * y), 2, 1, identity=0.0)
    a = operands("add", (3, 4)) + 2
    np.testing.assert_allclose(hyper.reduce(a, axis=1), np.hypot.reduce(a, axis=1))
    np.testing.assert_allclose(hyper.accumulate(a, axis=1), np.hypot.accumulate(a, axis=1))
    np.testing.assert_allclose(vmap(hyper.reduce)(a), np.hypot.reduce(a, axis=1))
    np.testing.assert_allclose(grad(lambda x: hyper.reduce(x))(a[0]), a[0] / np.hypot.reduce(a[0]))
    with pytest.raises(ValueError, match="nin=1"):
        jnp.negative.reduce(a)


def test_array_namespace():
    """What the array API standard asks of an array and of its namespace."""
    xp = jnp.ones(3).__array_namespace__(api_version="2025.12")
    info = xp.__array_namespace_info__()
    assert xp.__array_api_version__ == "2025.12" and jnp.ones(3).__array_namespace__(api_version="2024.12") is xp
    assert info.capabilities() == {"boolean indexing": False, "data-dependent shapes": False, "max dimensions": 64}
    assert set(info.default_dtypes()) == {"real floating", "complex floating", "integral", "indexing"}
    assert set(info.dtypes(kind="complex floating")) == {"complex64", "complex128"}
    assert set(info.dtypes(kind=("bool", "unsigned integer"))) == {"bool", "uint8", "uint16", "uint32", "uint64"}
    assert info.default_device() in info.devices() and isinstance(info.devices(), tuple)
    with pytest.raises(ValueError, match="is not supported"):
        jnp.ones(3).__array_namespace__(api_version="2019.12")


@pytest.mark.parametrize("name", """abs acos acosh add all any arange argmax argmin argsort asarray asin asinh astype atan
    atan2 atanh bitwise_and bitwise_invert bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor bool broadcast_arrays
    broadcast_to can_cast ceil clip complex128 complex64 concat conj copysign cos cosh count_nonzero cumulative_prod
    cumulative_sum diff divide e empty empty_like equal exp expand_dims expm1 eye fft finfo flip float32 float64 floor
    floor_divide from_dlpack full full_like greater greater_equal hypot iinfo imag inf int16 int32 int64 int8 isdtype isfinite
    isinf isnan less less_equal linalg linspace log log10 log1p log2 logaddexp logical_and logical_not logical_or logical_xor
    matmul matrix_transpose max maximum mean meshgrid min minimum moveaxis multiply nan negative newaxis nextafter nonzero
    not_equal ones ones_like permute_dims pi positive pow prod real reciprocal remainder repeat reshape result_type roll round
    searchsorted sign signbit sin sinh sort sqrt square squeeze stack std subtract sum take take_along_axis tan tanh tensordot
    tile tril triu trunc uint16 uint32 uint64 uint8 unique_all unique_counts unique_inverse unique_values unstack var vecdot
    where zeros zeros_like""".split())
def test_names_of_the_standard(name):
    """Source: array API standard 2024.12."""
    assert hasattr(jnp, name)


def test_printing_options():
    """They hold for arrays, inside the context alone."""
    x = jnp.array([1.23456])
    with jnp.printoptions(precision=2):
        assert str(x) == "[1.23]" and jnp.get_printoptions()["precision"] == 2
    assert str(x) == "[1.23456]"
    assert jnp.array_str(x, precision=3) == "[1.235]" and jnp.array_repr(x).startswith("Array([1.23456]")
