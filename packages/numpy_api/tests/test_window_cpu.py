"""Pooling and its derivatives in their CPU form, against loops over windows."""
import itertools

import numpy as np
import pytest

import jax_numpy_api.numpy as jnp
from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.transformations.autodiff import grad, jvp, vjp
from jax_core.transformations.vmap import vmap
from jax_numpy_api import lax

pytestmark = pytest.mark.only_cpu

rng = np.random.default_rng(5)

GEOMETRIES = {  # shape, window, strides, padding
    "apart": ((40, 16, 12), (1, 2, 2), (1, 2, 2), ((0, 0),) * 3),
    "apart, channels last": ((6, 20, 14, 8), (1, 2, 2, 1), (1, 2, 2, 1), ((0, 0),) * 4),
    "overlapping": ((4, 31, 26, 8), (1, 3, 3, 1), (1, 2, 2, 1), ((0, 0), (1, 1), (0, 1), (0, 0))),
    "every element": ((2, 32, 96), (1, 3, 3), (1, 1, 1), ((0, 0), (1, 1), (1, 1))),
    "with gaps": ((3, 50, 60), (1, 2, 3), (1, 3, 5), ((0, 0), (0, 2), (1, 0))),
    "larger than the operand": ((5000, 3), (1, 5), (1, 2), ((0, 0), (2, 3))),
    "one axis": ((9001,), (4,), (2,), ((1, 2),)),
    "large windows": ((20, 30, 30), (1, 5, 5), (1, 5, 5), ((0, 0),) * 3),
    "small": ((4, 6), (2, 3), (1, 2), ((1, 0), (0, 1))),
}


def windows(shape, window, strides, padding):
    """For each window its position among all, and the elements of the operand in it, in order."""
    counts = [(n + low + high - w) // s + 1 for n, (low, high), w, s in zip(shape, padding, window, strides)]
    for at in np.ndindex(*counts):
        starts = [i * s - low for i, s, (low, _) in zip(at, strides, padding)]
        places = itertools.product(*[range(a, a + w) for a, w in zip(starts, window)])
        yield at, [p for p in places if all(0 <= i < n for i, n in zip(p, shape))]


def of_extrema(x, ct, geometry, better):
    """The sum, at each element, of the cotangents of the windows whose first extremum it is."""
    out = np.zeros(x.shape, np.float64)
    for at, places in windows(x.shape, *geometry):
        best = places[0]
        for place in places[1:]:
            if not better(x[best], x[place]):
                best = place
        out[best] += ct[at]
    return out


def of_sums(shape, ct, geometry):
    out = np.zeros(shape, np.float64)
    for at, places in windows(shape, *geometry):
        for place in places:
            out[place] += ct[at]
    return out


def pulled(x, geometry, start, op):
    """Random cotangents of a pooling and what its derivative makes of them."""
    out, pull = vjp(lambda x: lax.reduce_window(x, start, op, *geometry), x)
    ct = rng.integers(-8, 9, out.shape).astype(x.dtype)
    return np.asarray(ct, np.float64), np.asarray(jit(pull)(jnp.asarray(ct))[0], np.float64)


@pytest.mark.parametrize("name", GEOMETRIES)
@pytest.mark.parametrize("op", ["max", "min", "sum"])
def test_against_loops(name, op):
    shape, *geometry = GEOMETRIES[name]
    x = rng.integers(-5, 6, shape).astype(np.float32)  # many elements are equal
    start, function = {"max": (-np.inf, lax.max), "min": (np.inf, lax.min), "sum": (np.float32(0), lax.add)}[op]
    ct, got = pulled(x, geometry, start, function)
    wanted = of_sums(shape, ct, geometry) if op == "sum" else of_extrema(x, ct, geometry, np.greater_equal if op == "max" else np.less_equal)
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("name", ["apart", "overlapping", "every element", "one axis", "with gaps"])
@pytest.mark.parametrize("op", ["max", "min"])
def test_tangents_are_the_transpose_of_cotangents(name, op):
    shape, *geometry = GEOMETRIES[name]
    x = rng.integers(-5, 6, shape).astype(np.float32)
    t = rng.integers(-8, 9, shape).astype(np.float32)
    start, function = {"max": (-np.inf, lax.max), "min": (np.inf, lax.min)}[op]
    out, got = jit(lambda x, t: jvp(lambda x: lax.reduce_window(x, start, function, *geometry), (x,), (t,)))(x, t)
    ct = rng.integers(-8, 9, out.shape).astype(np.float32)
    back = of_extrema(x, ct, geometry, np.greater_equal if op == "max" else np.less_equal)
    assert np.sum(np.asarray(got, np.float64) * ct) == np.sum(back * t)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float64"])
def test_other_dtypes(dtype):
    shape, *geometry = GEOMETRIES["overlapping"]
    with flags.enable_x64(True):
        x = jnp.asarray(rng.integers(-50, 50, shape), dtype)
        ct, got = pulled(x, geometry, -np.inf, lax.max)
        np.testing.assert_array_equal(got, of_extrema(np.asarray(x, np.float64), ct, geometry, np.greater_equal))


def test_nan_wins_each_comparison_and_loses_the_next():
    shape, *geometry = GEOMETRIES["overlapping"]
    x = np.where(rng.random(shape) < 0.1, np.nan, rng.normal(size=shape)).astype(np.float32)
    geometry[2] = ((0, 0),) * 4
    ct, got = pulled(x, geometry, -np.inf, lax.max)
    np.testing.assert_array_equal(got, of_extrema(x, ct, geometry, np.greater_equal))


@pytest.mark.parametrize("name", ["apart", "overlapping"])
def test_without_the_planner_in_loops_and_batches(name):
    shape, *geometry = GEOMETRIES[name]
    x = rng.normal(size=shape).astype(np.float32)
    slope = grad(lambda x: jnp.square(lax.reduce_window(x, -np.inf, lax.max, *geometry)).sum())
    wanted = jit(slope)(x)
    np.testing.assert_allclose(jit(slope, compiler_options={"jax_fusion_planner": "off"})(x), wanted, rtol=1e-6)
    np.testing.assert_allclose(jit(vmap(slope))(jnp.stack([x, -x]))[0], wanted, rtol=1e-6)
    looped = jit(lambda x: lax.fori_loop(0, 3, lambda i, s: s + slope(x + 0 * i), jnp.zeros_like(x)))
    np.testing.assert_allclose(looped(x), 3 * wanted, rtol=1e-5)
    np.testing.assert_allclose(jvp(slope, (x,), (x,))[1], wanted, rtol=1e-5)  # it is linear where no maximum changes


def test_the_numbers_of_positions_are_kept_in_memory_where_windows_overlap():
    def text(name, **options):
        shape, *geometry = GEOMETRIES[name]
        pool = lambda x: lax.reduce_window(x, -np.inf, lax.max, *geometry).sum()
        return jit(grad(pool), **options).trace(np.zeros(shape, np.float32)).lower(lowering_platforms=("cpu",)).as_text()
    assert "where its extremum is" in text("overlapping") and "select_and_scatter" not in text("overlapping")
    assert "optimization_barrier" not in text("apart, channels last")
    assert "select_and_scatter" in text("overlapping", compiler_options={"jax_fusion_planner": "off"})
    assert "select_and_scatter" in text("small") and "select_and_scatter" in text("large windows")


@pytest.mark.parametrize("name", ["apart", "apart, channels last", "every element", "one axis", "overlapping"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32"])
def test_pooling_itself(name, dtype):
    shape, *geometry = GEOMETRIES[name]
    x = jnp.asarray(rng.integers(-5, 6, shape), dtype)
    low, high = (np.iinfo(dtype).min, np.iinfo(dtype).max) if dtype == "int32" else (-np.inf, np.inf)
    for start, op, reduce in ((low, lax.max, np.max), (high, lax.min, np.min), (0, lax.add, np.sum)):
        got = np.asarray(jit(lambda x: lax.reduce_window(x, np.asarray(start, dtype)[()], op, *geometry))(x), np.float64)
        wanted = np.zeros(got.shape)
        for at, places in windows(shape, *geometry):
            wanted[at] = reduce(np.asarray(x, np.float64)[tuple(np.transpose(places))])
        np.testing.assert_array_equal(got, wanted)


BY_AXES = {  # shape, window, strides, padding, window dilation
    "5 x 5": ((150, 160), (5, 5), (1, 1), ((2, 2), (1, 3)), (1, 1)),
    "by strides": ((4, 70, 61, 16), (1, 3, 3, 1), (1, 2, 2, 1), ((0, 0), (1, 1), (0, 1), (0, 0)), (1, 1, 1, 1)),
    "long": ((20, 1500), (1, 31), (1, 1), ((0, 0), (30, 0)), (1, 1)),
    "very long, by strides": ((3, 9000), (1, 279), (1, 2), ((0, 0), (5, 6)), (1, 1)),
    "as long as the axis": ((300, 64), (300, 1), (1, 1), ((150, 150), (0, 0)), (1, 1)),
    "dilated": ((300, 320), (3, 11), (1, 3), ((2, 2), (0, 7)), (4, 2)),
    "one of each stride": ((300, 400), (9, 1), (1, 2), ((4, 4), (0, 0)), (1, 1)),
    "three axes": ((30, 31, 32), (3, 3, 3), (1, 1, 1), ((1, 1), (1, 1), (1, 1)), (1, 1, 1)),
}


def reduced(x, reduce, fill, window, strides, padding, dilation):
    padded = np.pad(x, padding, constant_values=fill)
    views = np.lib.stride_tricks.sliding_window_view(padded, [(w - 1) * d + 1 for w, d in zip(window, dilation)])
    each = tuple(slice(None, None, s) for s in (*strides, *dilation))
    return reduce(views[each], axis=tuple(range(x.ndim, 2 * x.ndim)))


@pytest.mark.parametrize("name", BY_AXES)
@pytest.mark.parametrize("dtype", ["float32", "float16", "int16"])
def test_windows_are_reduced_axis_by_axis(name, dtype):
    shape, window, strides, padding, dilation = BY_AXES[name]
    x = rng.integers(-3, 4, shape).astype(dtype)
    if dtype == "float32":
        x[tuple(n // 2 for n in shape)] = np.nan
    low, high = (np.iinfo(dtype).min, np.iinfo(dtype).max) if dtype == "int16" else (-np.inf, np.inf)
    for start, op, reduce in ((low, lax.max, np.max), (high, lax.min, np.min), (0, lax.add, np.sum)):
        pool = lambda x: lax.reduce_window(x, np.asarray(start, dtype)[()], op, window, strides, padding, window_dilation=dilation)
        got = jit(pool)(x)
        np.testing.assert_array_equal(got, reduced(x, reduce, start, window, strides, padding, dilation))
        np.testing.assert_array_equal(jit(pool, compiler_options={"jax_fusion_planner": "off"})(x), got)
        assert "reduce_window" not in jit(pool).trace(x).lower(lowering_platforms=("cpu",)).as_text()


@pytest.mark.parametrize("name", ["5 x 5", "long", "dilated"])
def test_slopes_of_windows_that_are_reduced_axis_by_axis(name):
    shape, window, strides, padding, dilation = BY_AXES[name]
    x, t = rng.normal(size=(2, *shape)).astype(np.float32)
    pool = lambda x: lax.reduce_window(x, np.float32(0), lax.add, window, strides, padding, window_dilation=dilation)
    out, tangent = jit(lambda x, t: jvp(pool, (x,), (t,)))(x, t)
    ct = rng.normal(size=out.shape).astype(np.float32)
    np.testing.assert_allclose(np.vdot(tangent, ct), np.vdot(jit(vjp(pool, x)[1])(ct)[0], t), rtol=1e-3)
    np.testing.assert_allclose(jit(vmap(pool))(np.stack([x, t]))[1], tangent, rtol=1e-5, atol=1e-5)
