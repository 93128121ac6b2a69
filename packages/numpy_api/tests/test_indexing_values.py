"""What positions out of bounds and values of another dtype become; the order of subnormal numbers; products of mixed dtypes.

Rows are an expression and what it gives, as NumPy, arithmetic or the public release decides.
"""
import warnings

import numpy as np
import pytest

import jax_numpy_api.numpy as jnp
from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.representation.errors import TypePromotionError
from jax_core.transformations.autodiff import grad, vjp
from jax_numpy_api import lax, nn, ops
from jax_numpy_api.scipy import linalg as jsl

X, I8 = np.arange(3, dtype=np.float32), np.array([-3, 3], np.int8)
FAR = np.array([7, -5])
POINTS = lax.GatherDimensionNumbers((), (0,), (0,))
SMALL = np.array([1e-40, 0, -1e-40, 2e-40, -0.0, 1e-40, np.nan, 1], np.float32)
MATRIX = np.array([[2.0, 0.9, 0.1], [0.3, 1.5, -0.4], [0.2, 0.7, 3.0]])


def read(mode):
    return lambda v: v.at[FAR].get(mode=mode)


def gather(**options):
    return lambda v: lax.gather(v, np.array([[7], [-1]]), POINTS, (1,), **options)


def slope(fun):
    """The derivative of the sum at `X`."""
    return grad(lambda v: fun(v).sum())(jnp.asarray(X))


VALUES = {  # expression: result
    "default read": (lambda: read(None)(jnp.asarray(X)), [2, 0]),
    "its derivative": (lambda: slope(lambda v: v[FAR]), [0, 0, 0]),
    "derivative of a number out of bounds": (lambda: slope(lambda v: v[7]), [0, 0, 1]),
    "of one of NumPy's": (lambda: slope(lambda v: v[np.int8(7)]), [0, 0, 1]),
    "of a negative one": (lambda: slope(lambda v: v[np.int64(-9)]), [1, 0, 0]),
    "of an array without axes": (lambda: slope(lambda v: v[np.array(7)]), [0, 0, 1]),
    "numbers of NumPy's": (lambda: jit(lambda v: v[np.int8(-1)])(X), 2),
    "negative numbers of NumPy's that do not wrap": (lambda: jit(lambda v: v.at[np.int8(-1)].set(9.0, wrap_negative_indices=False))(X), [0, 1, 2]),
    "of one below": (lambda: slope(lambda v: v[-7]), [1, 0, 0]),
    "of one beside a slice": (lambda: slope(lambda v: jnp.stack([v, v])[5, :2]), [1, 1, 0]),
    "jitted": (lambda: jit(lambda: slope(lambda v: v[FAR]))(), [0, 0, 0]),
    "derivative of a clipping read": (lambda: slope(read("clip")), [1, 0, 1]),
    "derivative of a filling read": (lambda: slope(read("fill")), [0, 0, 0]),
    "gather clamps": (lambda: gather()(X), [2, 0]),
    "gather clamps whatever the fill value": (lambda: gather(fill_value=4)(X), [2, 0]),
    "a fill value without a mode": (lambda: jnp.asarray(X).at[FAR].get(fill_value=9), [2, 0]),
    "set at -1 that does not wrap": (lambda: jnp.asarray(X).at[-1].set(9.0, wrap_negative_indices=False), [0, 1, 2]),
    "a row at -1 that does not wrap": (lambda: jnp.zeros((2, 2)).at[-1].set(9.0, wrap_negative_indices=False), [[0, 0], [0, 0]]),
    "set beyond 32 bits": (lambda: jnp.asarray(X).at[2 ** 31].set(9.0), [0, 1, 2]),
    "set below 32 bits": (lambda: jnp.asarray(X).at[-2 ** 40].set(9.0), [0, 1, 2]),
    "gather fills": (lambda: gather(fill_value=4, mode="fill")(X), [4, 4]),
    "put clips": (lambda: jnp.put(jnp.zeros(4), np.array([7]), 3.0, inplace=False), [0, 0, 0, 3]),
    "put from the end": (lambda: jnp.put(jnp.zeros(4), np.array([-1, -9]), 3.0, inplace=False), [3, 0, 0, 3]),
    "put, mode clip": (lambda: jnp.put(jnp.zeros(4), np.array([-1]), 3.0, mode="clip", inplace=False), [3, 0, 0, 0]),
    "put, mode wrap": (lambda: jnp.put(jnp.zeros(4), np.array([6]), 3.0, mode="wrap", inplace=False), [0, 0, 3, 0]),
    "add": (lambda: jnp.asarray(I8).at[:].add(1.5), np.array([-1, 4], np.int8)),
    "add at": (lambda: jnp.asarray(I8).at[np.array([0, 1])].add(1.5), np.array([-1, 4], np.int8)),
    "add twice": (lambda: jnp.asarray(I8).at[np.array([0, 0])].add(0.75), np.array([-1, 3], np.int8)),
    "multiply": (lambda: jnp.asarray(I8).at[:].mul(1.5), np.array([-4, 4], np.int8)),
    "subtract": (lambda: jnp.asarray(I8).at[:].subtract(np.float32(1.5)), np.array([-4, 1], np.int8)),
    "divide": (lambda: jnp.asarray(I8).at[:].divide(2), np.array([-1.5, 1.5], np.float32)),
    "multiply a flag": (lambda: jnp.asarray([True, False]).at[0].mul(2), [True, False]),
    "set to more than fits": (lambda: jnp.asarray(I8).at[:].set(1e3), np.array([127, 127], np.int8)),
    "set to NaN": (lambda: jnp.asarray(I8).at[np.array([0])].set(np.nan), np.array([0, 3], np.int8)),
    "full of more than fits": (lambda: jnp.full(2, -1e3, np.int8), np.array([-128, -128], np.int8)),
    "lax.full of more than fits": (lambda: lax.full((2,), 1e3, np.uint8), np.array([255, 255], np.uint8)),
    "full of NaN": (lambda: jnp.full(2, np.nan, np.int32), np.array([0, 0], np.int32)),
    "int4": (lambda: jnp.asarray([-1, 1], "int4") < 1, [True, False]),
    "view of bytes as flags": (lambda: jnp.asarray([0, 2], np.int8).view(bool), [False, True]),
    "view of floats as flags": (lambda: jnp.ones(1).view(bool), [False, False, True, True]),
    "segment_max": (lambda: vjp(lambda d, i: ops.segment_max(d, i), jnp.asarray(X), jnp.asarray([0, 0, 1]))[0], [1, 2]),
    "fft of nothing": (lambda: jnp.fft.fft(jnp.ones((2, 0))), np.ones((2, 0), np.complex64)),
    "fft of nothing in cond": (lambda: jit(lambda b: lax.cond(b, jnp.fft.ifft, lambda x: x, jnp.ones((2, 0), "c8")))(True),
                               np.ones((2, 0), np.complex64)),
    "rows with NaN": (lambda: jnp.unique(jnp.asarray([[np.nan, 1], [1, 2], [np.nan, 1]]), axis=0), [[1, 2], [np.nan, 1]]),
    "rows with several NaN": (lambda: jnp.unique(jnp.asarray([[np.nan, 1], [np.nan, 1]]), axis=0, equal_nan=False),
                              [[np.nan, 1], [np.nan, 1]]),
    "triangular_solve": (lambda: lax.linalg.triangular_solve(jnp.asarray([[2, 0], [1, 4]], "bfloat16"), jnp.ones((2, 1), "bfloat16"),
                                                             left_side=True, lower=True), [[0.5], [0.125]]),
    "slogdet": (lambda: jnp.linalg.slogdet(jnp.asarray([[2, 1], [1, 1]], np.float16))[1], np.float16(0)),
    "batched polar": (lambda: jsl.polar(jnp.asarray([MATRIX, MATRIX], np.float32))[0].shape, (2, 3, 3)),
}


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.filterwarnings("ignore:scatter inputs have incompatible types")
def test_value(name):
    fun, want = VALUES[name]
    got, want = np.asarray(fun()), np.asarray(want)
    if isinstance(VALUES[name][1], (np.ndarray, np.generic)):
        assert got.dtype == want.dtype
    np.testing.assert_array_equal(got.astype(want.dtype), want)


BAD = {
    "unknown mode of a write": (lambda: jnp.arange(3.0).at[0].add(1.0, mode="nope"), ValueError, 'mode "nope"'),
    "unknown mode of put": (lambda: jnp.put(X, 0, 1, mode="drop", inplace=False), ValueError, "'clip' or 'wrap', got 'drop'"),
    "put that raises": (lambda: jnp.put(X, 0, 1, mode="raise", inplace=False), NotImplementedError, "mode='raise'"),
    "unknown mode of take": (lambda: jnp.take(X, 0, mode="drop"), ValueError, "mode must be 'fill'"),
    "stride 0": (lambda: lax.conv(jnp.ones((1, 1, 4, 4)), jnp.ones((1, 1, 2, 2)), (0, 0), "SAME"), ValueError, "must be positive"),
    "negative axis": (lambda: lax.cumsum(X, -1), ValueError, r"axis -1 must lie in \[0, 1\)"),
    "sum of flags by segment": (lambda: ops.segment_sum(jnp.array([True, True]), np.array([0, 0]), 2), TypeError, "lax.scatter_add does not accept dtype bool"),
    "flags added to flags": (lambda: jnp.zeros(2, bool).at[np.array([0, 0])].add(True), TypeError, "lax.scatter_add does not accept dtype bool"),
    "flags multiplied": (lambda: jnp.ones(2, bool).at[0].multiply(False), TypeError, "mul does not accept dtype bool"),
    "traced segments": (lambda: jit(ops.segment_max)(X, np.array([0, 0, 1])), TypeError, "give num_segments"),
    "mean of a mask of numbers": (lambda: jnp.mean(X, where=jnp.arange(3)), ValueError, "mean: where must be booleans, got dtype int32"),
    "sum of a list of flags": (lambda: jnp.sum(X, where=[True, False, True]), TypeError, "sum requires ndarray"),
    "softmax of a mask of numbers": (lambda: nn.softmax(X, where=X), ValueError, "where must be booleans, got dtype float32"),
    "rfft of nothing": (lambda: jnp.fft.rfft(jnp.ones((2, 0))), ValueError, "invalid number of data points"),
}


@pytest.mark.parametrize("name", BAD)
def test_refused(name):
    fun, error, message = BAD[name]
    with pytest.raises(error, match=message):
        fun()


@pytest.mark.parametrize("name", ["max", "min", "any", "all", "sum", "prod", "var", "nansum", "nanmean", "nanvar", "nanmin"])
def test_masks_of_reductions_are_boolean(name):
    options = {"initial": 0.0} if name in ("max", "min", "nanmin") else {}
    with pytest.raises(ValueError, match="where must be booleans, got dtype float32"):
        getattr(jnp, name)(X, where=X, **options)


@pytest.mark.parametrize("fun", [jnp.sort, jnp.argsort, lambda x: jnp.unique(x, size=6), jnp.argmax, jnp.argmin,
                                 lambda x: lax.sort((x, x, x, x, x, jnp.arange(8)), num_keys=5)[-1]],
                         ids=["sort", "argsort", "unique", "argmax", "argmin", "many keys"])
@pytest.mark.parametrize("x", [SMALL, SMALL[:6]], ids=["with NaN", "small alone"])
def test_subnormal_numbers_have_one_order(fun, x):
    """Eager calls run in NumPy, compiled ones in XLA, which tells the processor to take these numbers for zero."""
    if len(x) < 8:
        x = np.concatenate([x, x[:2]])
    eager, compiled = np.asarray(fun(jnp.asarray(x))), np.asarray(jit(fun)(jnp.asarray(x)))
    assert eager.tobytes() == compiled.tobytes()


def test_sorting_is_exact_for_subnormal_numbers():
    np.testing.assert_array_equal(np.asarray(jit(jnp.argsort)(jnp.asarray(SMALL))), [2, 1, 4, 0, 5, 3, 7, 6])


def test_products_take_operands_of_two_dtypes_under_strict_promotion():
    a, b = jnp.ones((2, 2), np.int8), jnp.ones((2, 2), np.float32)
    with flags.numpy_dtype_promotion("strict"):
        for product in (jnp.matmul, jnp.dot, lambda a, b, **k: jnp.einsum("ij,jk", a, b, **k)):
            np.testing.assert_array_equal(np.asarray(product(a, b, preferred_element_type=np.float32)), [[2, 2], [2, 2]])
            with pytest.raises(TypePromotionError, match="int8 and float32"):
                product(a, b)
        mixed = grad(lambda x: lax.dot(x, b, preferred_element_type=np.float32).sum())(jnp.ones((2, 2), "bfloat16"))
    assert mixed.dtype == "bfloat16"


def test_no_ranks_are_promoted():
    a = jnp.asarray([MATRIX, MATRIX], np.float32)
    with flags.numpy_rank_promotion("raise"):
        vjp(jsl.lu, a)
        vjp(jsl.sqrtm, a[0])
        assert jnp.add.outer(jnp.ones(2), jnp.ones((2, 3))).shape == (2, 2, 3)


def test_kinds_of_sequences():
    a = jnp.asarray(MATRIX, np.float32)
    for out in (lax.top_k(X, 2), lax.linalg.lu(a), lax.linalg.hessenberg(a), lax.linalg.tridiagonal(a), lax.approx_max_k(X, 1)):
        assert type(out) is list
    assert jsl.lu(a + 0j)[0].dtype == np.float32
    with flags.enable_x64(True):
        assert jnp.linalg.lstsq(MATRIX, MATRIX)[2].dtype == np.int64


ONE_TRIANGLE = {
    "lax.cholesky": lambda a: lax.linalg.cholesky(a, symmetrize_input=False),
    "cholesky": jsl.cholesky, "cholesky, lower": lambda a: jsl.cholesky(a, lower=True),
    "jnp cholesky, upper": lambda a: jnp.linalg.cholesky(a, symmetrize_input=False, upper=True),
    "cho_factor": lambda a: jsl.cho_factor(a)[0],
    "solve": lambda a: jsl.solve(a, np.ones(3), assume_a="pos"),
    "solve, lower": lambda a: jsl.solve(a, np.ones(3), assume_a="pos", lower=True),
    "lax.eigh": lambda a: lax.linalg.eigh(a, symmetrize_input=False)[1],
    "lax.eigh, upper": lambda a: lax.linalg.eigh(a, symmetrize_input=False, lower=False)[1],
    "eigh": lambda a: jsl.eigh(a, eigvals_only=True),
    "eigh of two": lambda a: jsl.eigh(a, np.array([[2, 0.1, 0], [0.3, 1, 0], [0, 0.2, 1]]), eigvals_only=True),
    "eigh of two, the second": lambda a: jsl.eigh(np.eye(3), a, eigvals_only=True),
}


@pytest.mark.parametrize("kind", [np.float64, np.complex128])
@pytest.mark.parametrize("name", ONE_TRIANGLE)
def test_derivatives_read_what_the_value_reads(name, kind):
    """Difference quotients at a matrix that is not Hermitian, in the direction of each element."""
    with flags.enable_x64(True), warnings.catch_warnings():
        weights = np.array([1.0, -2.0, 0.5])

        def value(a):
            return jnp.sum(jnp.real(ONE_TRIANGLE[name](a)) * weights)
        a = MATRIX.astype(kind) + (0.1j * MATRIX[::-1] if kind == np.complex128 else 0)
        slopes = np.asarray(grad(value)(jnp.asarray(a)))
        for unit in (1,) if kind == np.float64 else (1, 1j):
            for at in np.ndindex(3, 3):
                h = np.zeros((3, 3), kind)
                h[at] = 1e-6 * unit
                quotient = (float(value(jnp.asarray(a + h))) - float(value(jnp.asarray(a - h)))) / 2e-6
                np.testing.assert_allclose((slopes[at] * unit).real, quotient, rtol=1e-6, atol=1e-8)


SINGULAR = {"regular": np.eye(4)[[1, 2, 3, 0]] * np.arange(1.0, 5), "rank 3": np.diag([1.0, 2, 0, 3]), "rank 2": np.diag([1.0, 0, 0, 3]),
            "nilpotent": np.eye(4, k=1), "zero": np.zeros((4, 4)), "dense": np.arange(16.0).reshape(4, 4) % 7 % 5}


@pytest.mark.parametrize("name", SINGULAR)
def test_the_derivative_of_a_determinant_is_the_cofactors(name):
    with flags.enable_x64(True):
        m = SINGULAR[name]
        cofactors = np.array([[(-1.0) ** (i + j) * np.linalg.det(np.delete(np.delete(m, i, 0), j, 1)) for j in range(4)]
                              for i in range(4)])
        batch = jnp.asarray(np.stack([m, np.eye(4)]))
        found = np.asarray(grad(lambda a: jnp.linalg.det(a).sum())(batch))
    np.testing.assert_allclose(found, [cofactors, np.eye(4)], atol=1e-12)


@pytest.mark.parametrize("fun", [lambda a: jnp.linalg.inv(a), lambda a: grad(lambda x: jnp.sum(jsl.solve_sylvester(x, x, x)))(a)],
                         ids=["inv", "solve_sylvester"])
def test_loops_of_factorisations_run_with_x64(fun):
    with flags.enable_x64(True):
        assert np.isfinite(np.asarray(fun(jnp.asarray(np.diag(np.arange(1.0, 21)))))).all()


def test_the_search_of_a_median_runs_with_x64():
    x = np.arange(10001.0)[::-1]
    with flags.enable_x64(True):
        assert float(jit(jnp.median)(jnp.asarray(x))) == 5000


@pytest.mark.parametrize("index", [..., slice(None), 0, np.arange(3)], ids=str)
@pytest.mark.parametrize("weak", [False, True])
def test_what_is_written_does_not_make_an_array_weak(index, weak):
    x = jnp.broadcast_to(1.0, (3,)) if weak else jnp.ones(3)
    for value in (2.0, jnp.asarray(2.0), jnp.float32(2)):
        assert jit(lambda x, v: x.at[index].set(v))(x, value).weak_type == x.at[index].set(value).weak_type == weak


@pytest.mark.parametrize("value", [5.0, jnp.array([5.0])], ids=["scalar", "one"])
def test_a_mask_without_axes_writes_into_a_scalar(value):
    """As SciPy's test of Cramer and von Mises does."""
    assert [float(jnp.array(1.0).at[mask].set(value)) for mask in (True, False, jnp.array(True))] == [5, 1, 5]
