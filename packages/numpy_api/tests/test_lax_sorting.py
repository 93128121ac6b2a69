"""Sorts, top_k and running reductions: laws, the order of special values, and lengths that take another formulation."""
import numpy as np
import pytest
import scipy.special

import jax_numpy_api.numpy as jnp
from harness import LAWS, Bad, Case
from jax_core.configuration import flags
from jax_core.interfaces import LowerSpec
from jax_core.programs.jit import jit
from jax_core.programs.tracing import make_jaxpr
from jax_core.representation import dtypes
from jax_core.transformations.autodiff import grad
from jax_core.transformations.vmap import vmap
from jax_numpy_api import lax, ops
from jax_numpy_api.lax.recurrence import linear_recurrence, linear_recurrence_p
from jax_xla_backend.jaxlib_compat import UNSTABLE_TOP_K

REAL = "f32[4,3] i32[4,3] bf16[4,3] f16[5] bool[6] u8[4,3] i16[7] u32[5]"
SPECIAL = np.array([3, -0.0, 0.0, np.nan, 1, -np.inf, np.inf, -0.0, 0.0, -2, np.nan], np.float32)


def running(accumulate, axis=0, reverse=False):
    def reference(x):
        x = np.flip(x, axis) if reverse else x
        wide = x if x.dtype.kind in "iu" else x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)
        out = accumulate(wide, axis=axis, dtype=wide.dtype).astype(x.dtype)
        return np.flip(out, axis) if reverse else out
    return reference


SORTS = [
    Case(lax.sort, REAL, name="sort", tolerance=0, reference=lambda x: np.sort(x, -1)),
    Case(lax.sort, "f32[4,3] c64[5]", name="sort", dimension=0, reference=lambda x: np.sort(x, 0), tolerance=0),
    Case(lambda k, v: lax.sort_key_val(k, v), "f32[6],f32[6] i8[6],f32[6] bf16[6],i32[6] c64[6],i32[6]", name="sort_key_val",
         reference=lambda k, v: [np.sort(k), v[np.argsort(k, kind="stable")]], tolerance=0),
    Case(lambda a, b, c: lax.sort((a, b, c), num_keys=2), "i32[9],f32[9],f32[9] bool[9],i32[9],f32[9]", domain=(0, 2),
         name="sort by two keys", reference=lambda a, b, c: [v[np.lexsort((b, a))] for v in (a, b, c)], tolerance=0),
    Case(lambda a, b, c: lax.sort((a, b, c), dimension=0), "i32[5,2],f32[5,2],f32[5,2]", domain=(0, 2), name="sort by one key",
         reference=lambda a, *rest: [np.take_along_axis(v, np.argsort(a, 0, kind="stable"), 0) for v in (a, *rest)], tolerance=0),
    Case(lambda x: lax.top_k(x, 2), "f32[3,4] i32[3,4] bf16[5] u8[5]", name="top_k", tolerance=0,
         reference=lambda x: [-np.sort(-x.astype(np.float64), -1)[..., :2].astype(x.dtype),
                              np.argsort(-x.astype(np.float64), -1, kind="stable")[..., :2].astype(np.int32)]),
    Case(lambda x: lax.top_k(x, 2, axis=0), "f32[3,4]", name="top_k along 0", reference=lambda x: [
        -np.sort(-x, 0)[:2], np.argsort(-x, 0, kind="stable")[:2].astype(np.int32)], tolerance=0),
    Case(lambda x: lax.approx_min_k(x, 2), "f32[3,6]", name="approx_min_k", reference=lambda x: [
        np.sort(x, -1)[:, :2], np.argsort(x, -1)[:, :2].astype(np.int32)], tolerance=0),
]
ACCUMULATE = {"cumsum": np.add.accumulate, "cumprod": np.multiply.accumulate, "cummax": np.maximum.accumulate,
              "cummin": np.minimum.accumulate, "cumlogsumexp": np.logaddexp.accumulate}
RUNNING = [
    Case(getattr(lax, name), "f32[5,3] f16[4,2] bf16[4,2]" + ("" if name == "cumlogsumexp" else " i32[5,3] u8[4,2]"), axis=axis,
         reverse=reverse, reference=running(accumulate, axis, reverse), tolerance=16)
    for name, accumulate in ACCUMULATE.items() for axis in (0, 1) for reverse in (False, True)
] + [Case(getattr(lax, name), "c64[5]", reference=running(ACCUMULATE[name]), name=name) for name in ("cumsum", "cumprod")] + [
    Case(lambda a, b, axis=axis, reverse=reverse: linear_recurrence(a, b, axis, reverse), "f32[4,3],f32[4,3] c64[4,3],c64[4,3]",
         name=f"linear_recurrence {axis} {reverse}", tolerance=32,
         reference=lambda a, b, axis=axis, reverse=reverse: linear_recurrence_p.reference(a, b, axis=axis, reverse=reverse))
    for axis in (0, 1) for reverse in (False, True)]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("case", SORTS + RUNNING, ids=str)
def test_law(case, law):
    law(case)


BAD = [
    Bad(lambda x: lax.sort(x, 2), "f32[3,4]", ValueError, "axis 2 is out of bounds for array of dimension 2"),
    Bad(lambda x, y: lax.sort((x, y)), "f32[3],f32[4]", TypeError, "equal shapes"),
    Bad(lambda x: lax.sort(()), "f32[3]", TypeError, "at least one operand"),
    Bad(lambda x, y: lax.sort((x, y), num_keys=3), "f32[3],f32[3]", ValueError, "num_keys=3 must be between 1 and"),
    Bad(lambda x: lax.top_k(x, 4), "f32[3]", ValueError, "k=4 asks for more than the 3 elements"),
    Bad(lambda x: lax.top_k(x, -1), "f32[3]", ValueError, "k must be at least 0, got -1"),
    Bad(lambda x: lax.top_k(x, 1), "c64[3]", ValueError, "complex"),
    Bad(lambda x: lax.approx_max_k(x, 1), "i32[3]", ValueError, "floating"),
    Bad(lambda x: lax.cumsum(x), "bool[3]", TypeError, "cumsum does not accept dtype bool"),
    Bad(lambda x: lax.cumsum(x, 1), "f32[3]", ValueError, r"cumsum: axis 1 must lie in \[0, 1\)"),
    Bad(lambda x: lax.cumlogsumexp(x), "i32[3]", TypeError, "cumlogsumexp does not accept dtype int32"),
]


@pytest.mark.parametrize("bad", BAD, ids=str)
def test_bad_arguments(bad):
    with pytest.raises(bad.error, match=bad.message):
        bad.case.call(*bad.case.samples(0))


@pytest.mark.parametrize("run", [lambda f: f, jit], ids=["eager", "jit"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("times", [1, 12], ids=["by a comparator", "by digits"])
def test_zeros_are_equal_and_nan_is_last(run, dtype, times):
    """-0.0 and 0.0 keep their order; NaN of either sign comes last, in its order."""
    with flags.enable_x64(True):
        x = np.tile(np.copysign(SPECIAL.astype(dtype), np.where(np.arange(11) == 3, -1, SPECIAL.astype(dtype))), times)
        positions = np.arange(x.size, dtype=np.int32)
        values, order = run(lambda x, i: lax.sort_key_val(x, i))(x, positions)
        alone = np.asarray(run(lambda x: lax.sort(x))(x))
    assert np.array_equal(order, np.argsort(x + dtype(0), kind="stable"))
    assert times > 1 or np.asarray(order).tolist() == [5, 9, 1, 2, 7, 8, 4, 0, 6, 3, 10]
    assert values.dtype == dtype and np.array_equal(values, x[np.asarray(order)], equal_nan=True)
    finite = ~np.isnan(alone)
    assert np.array_equal(np.signbit(alone[finite]), np.signbit(np.asarray(values)[finite]))


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.float64, np.complex128, np.uint32])
@pytest.mark.parametrize("n, carried", [(500, 1), (500, 2), (10_000, 1)])  # by a comparator, by digits, and as is faster
def test_wide_keys_sort_by_all_their_bits(dtype, n, carried):
    """64-bit keys have two digits of 32 bits, complex ones four."""
    rng = np.random.default_rng(1)
    bits = rng.integers(0, 2**63, (2, n), dtype=np.uint64) >> rng.integers(0, 63, (2, n), dtype=np.uint64)
    if dtype == np.complex128:
        x = (rng.integers(-3, 3, (2, n)) + 1j * rng.normal(size=(2, n))).astype(dtype)
    elif dtype == np.float64:
        x = rng.normal(size=(2, n)) * 10.0 ** rng.integers(-300, 300, (2, n))
    else:
        x = bits.astype(dtype) if dtype != np.int64 else bits.astype(dtype) * rng.choice([-1, 1], (2, n))
    with flags.enable_x64(True):
        values, *orders = jit(lambda x, i: lax.sort((x, *[i] * carried), num_keys=1))(x, np.broadcast_to(np.arange(n), x.shape))
    want = np.argsort(x, -1, kind="stable")
    assert all(np.array_equal(order, want) for order in orders) and np.array_equal(values, np.take_along_axis(x, want, -1))


@pytest.mark.parametrize("dtypes_of_keys", [(np.int32, np.int32), (np.uint32, np.int8), (np.int16, np.uint32), (np.int64, np.int32), (np.int32, np.float32)])
@pytest.mark.parametrize("n", [40, 3000])
def test_pairs_of_keys(dtypes_of_keys, n):
    """The second decides where the first are equal; of integers each pair is one word."""
    rng = np.random.default_rng(3)
    ends = lambda d: [np.iinfo(d).min, np.iinfo(d).max, 0, 1] if np.dtype(d).kind in "iu" else [-np.inf, np.inf, -0.0, 0.0, np.nan]
    with flags.enable_x64(True):
        x, y = (rng.choice(np.array([*ends(d), 2, 3, 4, 5], d), (3, n)) for d in dtypes_of_keys)
        got = jit(lambda x, y: lax.sort((x, y), num_keys=2))(x, y)
    want = np.stack([np.lexsort((b, a)) for a, b in zip(x, y)])
    for out, key in zip(got, (x, y)):
        assert out.dtype == key.dtype and np.array_equal(out, np.take_along_axis(key, want, -1), equal_nan=True)
        assert np.array_equal(np.signbit(out), np.signbit(np.take_along_axis(key, want, -1)))


def test_a_large_part_of_an_array_is_sorted_whole():
    """top_k of more than an eighth agrees with the partial selection, ties and special values included."""
    x = np.concatenate([SPECIAL, np.random.default_rng(2).integers(0, 9, 400).astype(np.float32)])
    many, few = jit(lambda x: lax.top_k(x, 300))(x), jit(lambda x: lax.top_k(x, 40))(x)
    for a, b in zip(many, few):
        assert np.array_equal(np.asarray(a)[:40], b, equal_nan=True)


@pytest.mark.parametrize("axis", [0, 1])
def test_the_compiler_may_order_equal_elements_as_it_likes(axis):
    """It is told so where it can be, and the values are the same; the positions are of those values."""
    x = np.random.default_rng(2).integers(0, 9, (40, 30)).astype(np.float32)
    free = jit(vmap(lambda x: lax.top_k(x, 5, axis=axis, is_stable=False)))
    assert ("is_stable = false" in free.lower(x[None]).as_text()) == UNSTABLE_TOP_K
    assert "is_stable" not in jit(lambda x: lax.top_k(x, 5)).lower(x).as_text()
    values, positions = (np.asarray(y)[0] for y in free(x[None]))
    assert np.array_equal(values, lax.top_k(x, 5, axis=axis)[0]) and np.array_equal(values, np.take_along_axis(x, positions, axis))


@pytest.mark.parametrize("name", list(ACCUMULATE))
@pytest.mark.parametrize("shape,axis", [((20001,), 0), ((3, 7000), 1), ((400, 30), 0), ((20, 30, 40), 1), ((40, 30, 20), 0)])
def test_long_axes_are_cut_into_chunks(name, shape, axis):
    """Every formulation that the length of the axes may choose gives the same running values."""
    x = np.random.default_rng(3).uniform(0.999, 1.001, shape).astype(np.float32)
    for reverse in (False, True):
        got = np.asarray(jit(lambda x: getattr(lax, name)(x, axis, reverse))(x))
        rounding = 2 * np.finfo(np.float32).eps * shape[axis] ** 0.5  # n roundings in random directions
        assert np.allclose(got, running(ACCUMULATE[name], axis, reverse)(x), rtol=rounding)


@pytest.mark.parametrize("shape,axis", [((3001,), 0), ((2, 500), 1), ((500, 2), 0), ((7, 3000), 0)])
def test_long_recurrences_are_cut_into_chunks(shape, axis):
    """Chunks side by side give what the loop gives, also behind an infinite factor that nothing reaches."""
    rng = np.random.default_rng(5)
    a, b = rng.uniform(-1, 1, shape).astype(np.float32), rng.normal(size=shape).astype(np.float32)
    for reverse in (False, True):
        a[(-1 if reverse else 0,) if axis == 0 else (slice(None), -1 if reverse else 0)] = np.inf
        got = np.asarray(jit(lambda a, b: linear_recurrence(a, b, axis, reverse))(a, b))
        assert np.allclose(got, linear_recurrence_p.reference(a, b, axis=axis, reverse=reverse), atol=1e-5)
        a = rng.uniform(-1, 1, shape).astype(np.float32)


def test_a_running_product_with_zeros_has_a_derivative():
    """The product of the other factors, behind a zero as well."""
    x = np.array([2, 0, 3, 4], np.float32)
    g = np.asarray(grad(lambda x: lax.reduce_sum(lax.cumprod(x), (0,)))(x))
    assert np.array_equal(g, [1, 2 + 6 + 24, 0, 0])


@pytest.mark.parametrize("shape", [(8, 3), (16, 3), (16, 8), (3, 16), (16, 24), (1000, 3)])
@pytest.mark.parametrize("run", [lambda f: f, jit], ids=["eager", "jit"])
def test_running_products_and_sums_go_from_one_element_to_the_next(run, shape):
    """Large numbers behind a zero have the product 0, though not among themselves; XLA makes vectors of a window unless it unrolls it."""
    x = np.full(shape, 2, np.float32)
    x[:, :3] = 1e30, 0, 2e30
    assert np.array_equal(run(lambda x: lax.cumprod(x, 1))(x), np.cumprod(x, 1))
    x[:, :3] = 3e38, -3e38, 2e38
    np.testing.assert_allclose(run(lambda x: lax.cumsum(x, 1))(x), np.cumsum(x, 1), rtol=1e-6)


def test_running_extrema_keep_nan():
    """From the first NaN on, all are NaN."""
    x = np.array([1, np.nan, 3, 0], np.float32)
    for f in (lax.cummax, lax.cummin):
        assert np.array_equal(jit(f)(x), [1, np.nan, np.nan, np.nan], equal_nan=True)


@pytest.mark.parametrize("n", [3, 40, 5000])
def test_cumlogsumexp_of_complex_numbers(n):
    x = (np.sin(np.arange(n)) + 0.1j * np.cos(3.0 * np.arange(n))).astype(np.complex64)
    want = np.log(np.cumsum(np.exp(x.astype(np.complex128))))
    assert np.allclose(lax.cumlogsumexp(x), want, rtol=1e-4, atol=1e-4)
    back = np.asarray(jit(lambda x: lax.cumlogsumexp(x, reverse=True))(x[::-1].copy()))
    assert np.allclose(back[::-1], want, rtol=1e-4, atol=1e-4)
    g = grad(lambda x: lax.real(lax.index_in_dim(lax.cumlogsumexp(x), -1, 0, False)))(x)
    assert np.allclose(g, np.exp(x - want[-1]), rtol=1e-3, atol=1e-4)


def test_angles_of_cumlogsumexp_are_within_a_turn():
    x = np.complex64([30000 + 3e4j, 2.0, 1 + 1j])
    np.testing.assert_allclose(np.asarray(lax.cumlogsumexp(x))[1:], [30000 - 2.2098337j] * 2, rtol=1e-6)


def test_cumlogsumexp_of_infinities_and_its_derivative():
    """Terms of weight zero have neither value nor derivative."""
    x = np.array([-np.inf, -np.inf, 1, 2], np.float32)
    assert np.allclose(lax.cumlogsumexp(x), np.logaddexp.accumulate(x))
    g = np.asarray(grad(lambda x: lax.index_in_dim(lax.cumlogsumexp(x), -1, 0, False))(x))
    assert np.allclose(g, scipy.special.softmax(x))


def test_mapped_running_sums_work_side_by_side():
    """vmap adds an axis; the result is that of each row."""
    x = np.random.default_rng(4).normal(size=(64, 300)).astype(np.float32)
    assert np.allclose(jit(vmap(lax.cumsum))(x), np.cumsum(x, 1), atol=1e-4)


def test_empty_and_single_elements():
    """Nothing to sort or accumulate."""
    for shape in ((0,), (1,), (0, 3), (3, 0)):
        x = np.ones(shape, np.float32)
        for f in (lax.sort, lax.cumsum, lax.cumlogsumexp, lambda x: lax.top_k(x, 0)[0]):
            assert jit(f)(x).shape[:1] == (shape[:1] if len(shape) > 1 or f in (lax.sort, lax.cumsum, lax.cumlogsumexp) else (0,))


@pytest.mark.parametrize("platform, by_value", [("cpu", False), ("tpu", False), ("cuda", True), ("rocm", True)])
def test_the_order_of_floats_is_one_that_compilers_for_gpus_know(platform, by_value):
    """They sort by radix where zeros are compared as numbers; on other platforms that would make subnormals zeros."""
    module = pytest.importorskip("jax_xla_backend.lowering.module")
    text = module.lower_module(make_jaxpr(lambda x: lax.sort(x))(np.ones(5, np.float32)), LowerSpec("main"), platform=platform).text()
    assert ("stablehlo.bitcast_convert" not in text) is by_value


@pytest.mark.parametrize("operands, keys, size, by_digits", [
    ("f", 1, 128, False), ("f", 1, 129, True), ("fi", 2, 1024, False), ("fi", 2, 1025, True), ("fii", 2, 256, False), ("fii", 2, 257, True),
    ("ii", 2, 1024, False), ("ii", 2, 1025, True), ("i", 1, 5000, False), ("fff", 3, 512, False), ("fff", 3, 513, True)])
def test_few_elements_are_sorted_by_a_comparator(operands, keys, size, by_digits):
    """On the CPU digits are faster only for more."""
    module = pytest.importorskip("jax_xla_backend.lowering.module")
    program = make_jaxpr(lambda *xs: lax.sort(xs, num_keys=keys))(*[np.ones(size, np.dtype(f"{letter}4")) for letter in operands])
    assert ("shift_left" in module.lower_module(program, LowerSpec("main"), platform="cpu").text()) == by_digits


@pytest.mark.parametrize("dtype", [dtypes.bfloat16, np.float16, np.float32, np.float64], ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("repeats", [1, 40], ids=["few", "many"])
def test_subnormal_numbers_are_in_order(dtype, repeats):
    """Also where the processor takes them for zeros, or makes zeros of them as it rounds."""
    least = float(dtypes.finfo(dtype).smallest_subnormal)
    with flags.enable_x64(True):
        x = np.tile(np.array([-1, 1, 3, -5, 0, 2]) * least, repeats).astype(dtype)
        wanted = np.sort(x.astype(np.float64))
        assert np.array_equal(np.asarray(jit(lax.sort)(x), np.float64), wanted)
        assert np.array_equal(np.asarray(jit(lambda x: lax.sort_key_val(x, x)[1])(x), np.float64), wanted)


@pytest.mark.parametrize("dtype", [jnp.float8_e4m3fn, jnp.float8_e4m3b11fnuz, jnp.float8_e5m2])
def test_running_extrema_of_types_without_infinities_start_from_their_ends(dtype):
    x = jnp.asarray([1, 3, -2, 0.5], dtype)
    for f, want in ((lax.cummax, [1, 3, 3, 3]), (lax.cummin, [1, 1, -2, -2]), (lambda x: lax.cummax(x, reverse=True), [3, 3, 0.5, 0.5]),
                    (jnp.maximum.accumulate, [1, 3, 3, 3]), (lambda x: lax.reduce_window(x, -np.inf, lax.max, (2,), (2,), "VALID"), [3, 0.5]),
                    (lambda x: lax.reduce_window(x, np.inf, lax.min, (2,), (1,), "SAME"), [1, -2, -2, 0.5]), (lambda x: lax.reduce(x, -np.inf, lax.max, (0,)), 3),
                    (lambda x: ops.segment_max(x, np.array([0, 0, 2, 2]), 3), [3, -np.inf, 0.5])):
        want = np.where(np.isinf(want), np.float32(dtypes.finfo(dtype).min) if not dtypes.supports_inf(np.dtype(dtype)) else want, want)
        np.testing.assert_array_equal(np.asarray(f(x), np.float32), want)
        np.testing.assert_array_equal(np.asarray(jit(f)(x), np.float32), want)
    np.testing.assert_allclose(np.asarray(lax.cumlogsumexp(x), np.float32), np.logaddexp.accumulate(np.asarray(x, np.float32)), rtol=0.13)
