"""One NaN among many numbers shows in everything that takes maxima or minima, where XLA's CPU library passes over it."""
import numpy as np
import pytest

import jax_numpy_api.nn as nn
import jax_numpy_api.numpy as jnp
import jax_numpy_api.scipy.special as special
from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.transformations.vmap import vmap
from jax_numpy_api import lax
from jax_numpy_api.lax.nan_cpu import _LARGE, LIBRARY

pytestmark = pytest.mark.only_cpu

RNG = np.random.default_rng(0)
CASES = {  # name: function of [128, 128], how many NaN one NaN makes
    "max": (jnp.max, 1), "min": (jnp.min, 1), "max of rows": (lambda x: jnp.max(x, 1), 1), "min of columns": (lambda x: jnp.min(x, 0), 1),
    "vmap of max": (vmap(jnp.max), 1), "ptp": (lambda x: jnp.ptp(x, 1), 1), "largest magnitude": (lambda x: jnp.abs(x).max(), 1),
    "reduce": (lambda x: lax.reduce(x, x.dtype.type(-np.inf), lax.max, (1,)), 1),
    "sum of relu": (lambda x: nn.relu(x).sum(), 1), "sum of maximum": (lambda x: jnp.maximum(x, x[::-1]).sum(1), 2),
    "sum of minimum": (lambda x: jnp.minimum(x[::-1], x).sum(0), 1), "sum of clip": (lambda x: jnp.clip(x, -1, 1).sum(1), 1),
    "maximum": (lambda x: jnp.maximum(x, 0), 1), "maximum, other side": (lambda x: jnp.maximum(0, x), 1),
    "pooling": (lambda x: lax.reduce_window(x, -np.inf, lax.max, (2, 2), (2, 2), "VALID"), 1),
    "minimum of windows": (lambda x: lax.reduce_window(x, np.inf, lax.min, (4, 1), (4, 1), "VALID"), 1),
    "softmax": (lambda x: nn.softmax(x, 1), 128), "log_softmax": (lambda x: nn.log_softmax(x, 1), 128),
    "logsumexp": (lambda x: special.logsumexp(x, 1), 1), "nanmax": (lambda x: jnp.nanmax(x, 1), 0),
    "infinities": (lambda x: jnp.max(x.at[7].set(np.inf).at[7, :5].set(-np.inf), 1), 1),
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "float16"])
@pytest.mark.parametrize("name", CASES)
def test_nan_is_kept(name, dtype):
    function, count = CASES[name]
    with flags.enable_x64(dtype == "float64"):
        for place in ((3, 5), (127, 127), (0, 64)):
            x = RNG.normal(size=(128, 128))
            x[place] = np.nan
            out = np.asarray(jit(function)(jnp.asarray(x, dtype)), np.float64)
            assert np.isnan(out).sum() == count
            assert not np.isnan(np.asarray(jit(function)(jnp.asarray(np.nan_to_num(x), dtype)), np.float64)).any()


@pytest.mark.parametrize("size", [_LARGE - 1, _LARGE])
@pytest.mark.parametrize("ours, numpys", [(jnp.maximum, np.maximum), (jnp.minimum, np.minimum)])
def test_elementwise_agrees_with_numpy(ours, numpys, size):
    special_values = np.array([0, 1, -1, np.inf, -np.inf, np.nan, 1e-30, 3e38], np.float32)
    x, y = (RNG.choice(special_values, size) for _ in range(2))
    np.testing.assert_array_equal(jit(ours)(x, y), numpys(x, y))
    np.testing.assert_array_equal(jit(lambda x: ours(x, 0))(x), numpys(x, np.float32(0)))
    np.testing.assert_array_equal(jit(lambda x: ours(x, np.float32(np.nan)))(x), numpys(x, np.float32(np.nan)))


@pytest.mark.parametrize("shape, axes", [((1 << 17,), (0,)), ((200_003,), (0,)), ((300, 700), (0,)), ((300, 700), (1,)), ((17, 9000), (0, 1)),
                                         ((70, 50, 40), (1,)), ((3, 31, 1500), (1,)), ((750, 700), (0,))], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize("op, reference", [(lax.reduce_max, np.max), (lax.reduce_min, np.min)], ids=["max", "min"])
def test_extrema_in_pieces(op, reference, dtype, shape, axes):
    """In two steps, of arguments and of computed values; the pieces of the first may overlap, and NaN of either sign is kept wherever it is."""
    long, size = max(shape[axis] for axis in axes) >= 32, np.prod(shape)
    pieces = 8 if long and size * np.dtype(dtype).itemsize > 1 << 22 else 0, 0 if not long else 8 if size > 1 << 19 else 4
    with flags.enable_x64(dtype == "float64"):
        x = (1000 * np.random.default_rng(0).normal(size=shape)).astype(dtype)
        functions = jit(lambda x: op(x, axes)), jit(lambda x: op(x * 2, axes)), jit(lambda x: op(jnp.abs(x * 2) - x * 3, axes).sum())
        if dtype != "int32":
            counts = [f.trace(x).lower().as_text().count("stablehlo.slice") for f in functions]
            assert counts == [*pieces, pieces[1]]
        for missing in (False, True)[:1 + (dtype != "int32")]:
            if missing:
                x.reshape(-1)[[0, x.size // 3, -1]] = np.nan, -np.nan, -np.nan
            for f, value in zip(functions, (x, x * 2, np.abs(x * 2) - x * 3)):
                want = reference(value, axes)
                if f is functions[2]:
                    np.testing.assert_allclose(f(x), want.sum(dtype=want.dtype), rtol=1e-5)
                else:
                    np.testing.assert_array_equal(f(x), want)


@pytest.mark.parametrize("shape, axis", [((LIBRARY - 1,), 0), ((45, 91), 0), ((45, 91), 1), ((40, 102), (0, 1)), ((LIBRARY,), 0)], ids=str)
def test_where_nan_is_looked_for(shape, axis):
    """From `LIBRARY` elements on; fewer are reduced by code of the compiler, which keeps it, also with what is computed before and after."""
    x = np.random.default_rng(0).normal(size=(2, *shape)).astype(np.float32)
    x[0].reshape(-1)[1234] = np.nan
    out = jit(lambda x: (lambda y: (y.max(axis), y.min(axis) * 2 + 1))(jnp.exp(x[0]) + x[1]))
    assert ("stablehlo.add across" in out.trace(x).lower().as_text()) == (shape == (LIBRARY,))
    for found in out(x):
        assert np.isnan(found).sum() == 1


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("op, reference", [(lax.reduce_max, np.max), (lax.reduce_min, np.min)], ids=["max", "min"])
def test_extremum_of_all(op, reference, dtype):
    """The library starts with NaN, where there is one: no code is compiled for it, and the number is the same bits."""
    rng = np.random.default_rng(0)
    with flags.enable_x64(dtype == "float64"):
        for shape, turned in [((LIBRARY,), False), ((77, 65), False), ((77, 65), True), ((3, 31, 150), True)]:
            f = jit(lambda x: op(x.T if turned else x, tuple(range(x.ndim))))
            assert "stablehlo.select" not in f.trace(np.ones(shape, dtype)).lower().as_text()
            for values in (rng.normal(size=50), [-np.inf], [np.inf], [-np.inf, np.inf], [-0.0], [0.0], [3e38, -3e38], [-np.inf, -2], [5]):
                x = rng.choice(np.asarray(values, dtype), shape)
                assert np.asarray(f(x)).tobytes() == reference(x).tobytes()
                for place in (0, x.size // 3, x.size - 1):
                    missing = x.copy()
                    missing.reshape(-1)[place] = np.copysign(np.nan, place - 1)
                    assert np.isnan(f(missing))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("op, reference", [(lax.reduce_max, np.max), (lax.reduce_min, np.min)], ids=["max", "min"])
@pytest.mark.parametrize("shape, axes", [((LIBRARY + 3, 33), (1,)), ((40, LIBRARY + 1), (0,)), ((64, 3, 13, 64), (1, 2)), ((LIBRARY - 1, 33), (1,))], ids=str)
def test_extrema_of_many_rows(op, reference, dtype, shape, axes):
    """The library tells of NaN, too, where the results are enough for it, with nothing to compile; the numbers are the same bits."""
    with flags.enable_x64(dtype == "float64"):
        f, few = jit(lambda x: op(x, axes)), shape[0] == LIBRARY - 1
        assert ("stablehlo.select" in f.trace(np.ones(shape, dtype)).lower().as_text()) == few
        then = jit(lambda x: op(op(x, axes)[::-1] + op(x * 2, axes), (0,)).sum())  # with what is computed before and after
        for values in ([1, 2, -3, 3e38, -np.inf], [-np.inf], [np.inf], [-np.inf, np.inf], [-0.0], [0.0], [-np.inf, -2]):
            x = np.random.default_rng(0).choice(np.asarray(values, dtype), shape)
            assert np.asarray(f(x)).tobytes() == reference(x, axes).tobytes()
            x.reshape(-1)[[0, x.size // 3, -1]] = np.nan, -np.nan, np.nan
            np.testing.assert_array_equal(f(x), reference(x, axes))
            assert np.isnan(then(x))


@pytest.mark.parametrize("f, shape, pieces", [
    (lambda x: x.max(1), (16384, 200), 0), (lambda x: x.max((1, 2)), (16384, 2, 64), 0), (lambda x: x.max(1), (16384, 257), 16), (lambda x: x.max(0), (200, 16384), 16),
    (lambda x: x.max(1), (4095, 300), 16), (lambda x: (lambda y: (y, y.min(1)))(x + 1), (16384, 64), 0), (lambda x: (x + 1).min(1), (16384, 64), 8),
    (lambda x: jnp.exp(x).max(), (1 << 20,), 0), (lambda x: x.max(), ((1 << 20) + 64,), 16)])
def test_short_rows_in_memory_are_left_whole(f, shape, pieces):
    """So is what is reduced to a number, if it was computed for it: the library has no code to compile."""
    assert jit(f).trace(np.ones(shape, np.float32)).lower().as_text().count("stablehlo.slice") == pieces


def test_arguments_beyond_the_cache_are_read_once():
    for shape, pieces in (((1 << 20,), 0), (((1 << 20) + 3,), 16), ((1024, 1024), 0), ((1025, 1024), 16)):
        assert jit(lambda x: x.max(0)).trace(np.ones(shape, np.float32)).lower().as_text().count("stablehlo.slice") == pieces


@pytest.mark.parametrize("value, pieces", [
    (lambda x: (x * 2,) * 2, 0), (lambda x: (jnp.exp(x),), 0), (lambda x: (x @ x.T,), 0), (lambda x: ((x @ x.T).reshape(25, -1, 100),), 0),
    (lambda x: (x[:, x.argmin(1)],), 4), (lambda x: (x + 1, x), 4), (lambda x: (jnp.tile(x + 1, (2, 1)),) * 2, 8)],
    ids=["result", "costly", "product", "view", "gathered", "computed", "large"])
def test_extrema_of_what_is_in_memory(value, pieces):
    """Up to 2**19 elements that are in memory anyway are read twice; what the compiler may compute where it is read is taken in pieces."""
    x = np.random.default_rng(0).normal(size=(550, 550)).astype(np.float32)
    x[400, 300] = np.nan
    out = jit(lambda x: (lambda y, *others: (y.max(0), *others))(*value(x)))
    assert out.trace(x).lower().as_text().count("stablehlo.slice") == pieces
    if pieces == 0:
        np.testing.assert_array_equal(np.isnan(out(x)[0]), np.isnan(np.asarray(value(jnp.asarray(x))[0])).any(0))


SHORT = [((900, 3), (1,)), ((400, 8), (1,)), ((300, 9), (1,)), ((200, 32), (1,)), ((100, 33), (1,)), ((16, 200), (0,)), ((32, 80), (0,)),
         ((33, 80), (0,)), ((20, 7, 30), (1,)), ((300, 4, 2), (1, 2)), ((4, 300, 2), (0, 2)), ((2500, 1), (1,)), ((2500, 2), ())]


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "float16"])
@pytest.mark.parametrize("shape, axes", SHORT, ids=str)
def test_along_few_elements(shape, axes, dtype):
    """In loops of their own (`short_reductions`): infinities, zeros of both signs, ties and NaN anywhere, as in NumPy."""
    rng = np.random.default_rng(0)
    with flags.enable_x64(dtype == "float64"):
        for values in (rng.normal(size=50), [0.0, -0.0, 1, -1, np.inf, 2], [-np.inf, -np.inf, -3], [-0.0], [-0.0, 0.0],
                       [np.nan, -np.nan, np.inf, -np.inf, 1, 2, 0, 3, 4, 5, 6, 7, 8, 9, 10, 11], [np.nan]):
            x = rng.choice(np.asarray(values, jnp.dtype(dtype)), shape)
            for op, reference in ((lax.reduce_max, np.max), (lax.reduce_min, np.min), (lax.reduce_sum, np.sum)):
                with np.errstate(invalid="ignore"):
                    want = reference(x, axes)
                got = np.asarray(jit(op, static_argnums=1)(x, axes))
                assert got.dtype == x.dtype
                if op is lax.reduce_sum:
                    if x.dtype.itemsize == 2:
                        continue
                    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
                else:
                    np.testing.assert_array_equal(got.astype(np.float64), want.astype(np.float64))
            for axis in axes if len(axes) == 1 else ():
                np.testing.assert_array_equal(jit(lambda x: jnp.argmax(x, axis))(x), np.argmax(x, axis))
                np.testing.assert_array_equal(jit(lambda x: jnp.argmin(x, axis))(x), np.argmin(x, axis))


@pytest.mark.parametrize("before", [lambda x: x, jnp.abs], ids=["widened", "sizes"])
def test_along_few_elements_between_bfloat16(before):
    """In float32 between words that are widened and rounded, as scales of groups are computed; with jaxlib 0.12 a loop of its own never compiled."""
    x = np.random.default_rng(0).normal(size=(300, 32))
    x[7, 3] = np.nan
    x = x.astype(jnp.bfloat16)
    got = jit(lambda x: before(x.astype(np.float32)).max(1).astype(jnp.bfloat16))(x)
    np.testing.assert_array_equal(np.asarray(got, np.float64), np.asarray(before(x.astype(np.float32))).max(1))


@pytest.mark.parametrize("dtype", ["int32", "uint8", "int64"])
@pytest.mark.parametrize("shape, axes", [((200_003,), (0,)), ((300, 700), (1,)), ((17, 9000), (0, 1)), ((300, 700), (0,))], ids=str)
def test_folded_reductions_of_integers(shape, axes, dtype):
    x = np.random.default_rng(0).integers(0, 250, shape).astype(dtype)
    with flags.enable_x64(True):
        for op, reference in ((lax.reduce_max, np.max), (lax.reduce_min, np.min)):
            np.testing.assert_array_equal(jit(op, static_argnums=1)(x, axes), reference(x, axes))
            assert ("stablehlo.slice" in jit(op, static_argnums=1).trace(x, axes).lower().as_text()) == (len(shape) - 1 in axes)


@pytest.mark.parametrize("op, shape, axis, own", [
    (lax.reduce_sum, (900, 3), 1, True), (lax.reduce_sum, (300, 8), 1, True), (lax.reduce_sum, (300, 9), 1, False), (lax.reduce_sum, (8, 300), 0, False),
    (lax.reduce_sum, (600, 3), 1, False), (lax.reduce_max, (2048, 32), 1, True), (lax.reduce_max, (2048, 33), 1, False), (lax.reduce_min, (32, 2048), 0, True),
    (lax.reduce_max, (2500, 1), 1, False), (lax.reduce_max, (2047, 32), 1, False), (lax.reduce_max, (300, 9), 1, False), (lax.reduce_max, (300, 8), 1, True),
])
def test_where_reductions_are_loops_of_their_own(op, shape, axis, own):
    """A reducer of several operations is a region, which XLA does not hand to its library."""
    text = jit(lambda x: op(2 * x, (axis,))).trace(np.ones(shape, np.float32)).lower().as_text()
    assert ("^bb0" in text) is own


@pytest.mark.parametrize("function, shape, own", [
    (lambda x: jnp.max(x, 1), (8000, 15), True), (lambda x: jnp.max(x, 1), (8000, 16), False), (lambda x: jnp.max(x, 0), (32, 8000), True),
    (lambda x: jnp.argmax(x, 0), (20, 8000), True), (lambda x: jnp.argmax(x, 0), (32, 8000), False), (lambda x: jnp.argmin(x, 1), (400, 22), False)],
    ids=["rows of 15", "rows of 16", "columns", "search", "long search", "search in few rows"])
def test_the_library_reads_arguments(function, shape, own):
    assert ("^bb0" in jit(function).lower(np.ones(shape, np.float32)).as_text()) is own
