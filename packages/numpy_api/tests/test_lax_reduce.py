"""Laws of reductions."""
import numpy as np
import pytest

from harness import LAWS, Case
from jax_core.programs.jit import jit
from jax_core.representation import dtypes
from jax_core.transformations.autodiff import vjp
from jax_numpy_api import lax

TYPES = "f32[3,4] bf16[2,3] i32[3,4] i8[2,5] c64[2,2] f32[0,2]"
AXES = [(0,), (1,), (0, 1), ()]


def multiply_add(x, y):
    """An associative function that is no op of its own: the product of 1 + x and 1 + y, less 1."""
    return lax.add(lax.add(x, y), lax.mul(x, y))


CASES = [Case(lax.reduce_sum, TYPES, axes=axes, tolerance=8) for axes in AXES] + [
    Case(lax.reduce_prod, TYPES, axes=axes, tolerance=8) for axes in AXES] + [
    Case(reduction, "f32[3,4] bf16[2,3] i32[3,4] i8[2,5] bool[2,3] f32[0,2]", axes=axes, tolerance=0)
    for reduction in (lax.reduce_max, lax.reduce_min) for axes in AXES] + [
    Case(reduction, "bool[3,4] i32[3,4] u8[2,5] bool[0,2]", axes=axes)
    for reduction in (lax.reduce_and, lax.reduce_or, lax.reduce_xor) for axes in AXES[:3]] + [
    Case(lax.reduce_max, "c64[3,4]", axes=(1,), derivative=False, tolerance=0, reference=lambda x: np.max(x, 1)),
    Case(lax.reduce_prod, "f32[5]", axes=(0,), domain=(-1, 1)), Case(lax.reduce_prod, "f32[2,7,3]", axes=(0, 1)),
] + [Case(arg, "f32[3,4] bf16[4,3] i32[3,4] u8[2,5] bool[2,3]", axis=1, index_dtype=np.int32,
          reference=lambda x, f=f: f(x, 1).astype(np.int32))
     for arg, f in ((lax.argmax, np.argmax), (lax.argmin, np.argmin))] + [
    Case(lax.reduce_precision, "f32[5]", exponent_bits=5, mantissa_bits=3, reference=False, derivative=False),
    Case(lax.reduce, "f32[3,4],f32[] i32[3,4],i32[]", computation=lax.add, dimensions=(0,), derivative=False,
         reference=lambda x, i: np.sum(x, 0, dtype=x.dtype) + i),
    Case(lax.reduce, "f32[3,5],f32[]", computation=multiply_add, dimensions=(1,), domain=[(0.2, 0.8), (0, 0.1)],
         reference=lambda x, i: np.prod(1 + x, 1) * (1 + i) - 1),
    Case(lax.reduce, "f32[2,3,2],f32[]", computation=multiply_add, dimensions=(0, 1), domain=[(0.2, 0.8), (0, 0.1)],
         reference=lambda x, i: np.prod(1 + x, (0, 1)) * (1 + i) - 1)]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("case", [pytest.param(case, marks=pytest.mark.only_cpu if case.fun is lax.reduce else ()) for case in CASES], ids=str)  # combine their start once
def test_law(case, law):
    law(case)


def tied(reduction):
    from jax_core.transformations.autodiff import grad
    return np.asarray(grad(lambda x: reduction(x, (0,)))(np.float32([1, 3, 3, 2, 3])))


def test_ties_of_max_share_the_tangent():
    assert tied(lax.reduce_max).tolist() == [0, np.float32(1 / 3), np.float32(1 / 3), 0, np.float32(1 / 3)]


def test_ties_of_min_share_the_tangent():
    assert tied(lax.reduce_min).tolist() == [1, 0, 0, 0, 0]


def test_gradient_of_a_product_with_zeros():
    from jax_core.transformations.autodiff import grad
    assert np.asarray(grad(lambda x: lax.reduce_prod(x, (0,)))(np.float32([2, 0, 3]))).tolist() == [0, 6, 0]
    assert np.asarray(grad(lambda x: lax.reduce_prod(x, (0,)))(np.float32([0, 0, 3]))).tolist() == [0, 0, 0]


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_nan_is_the_maximum_and_the_minimum(dtype):
    x = np.array([[1, np.nan, 5], [2, 3, 1], [np.nan, 0, np.nan]], dtype)
    assert np.isnan(np.asarray(lax.reduce_max(x, (1,)))).tolist() == [True, False, True]
    assert np.isnan(np.asarray(lax.reduce_min(x, (1,)))).tolist() == [True, False, True]


@pytest.mark.parametrize("reduction", [lax.reduce_max, lax.reduce_min])
def test_what_is_not_the_extremum_has_no_slope(reduction):
    """Whatever the cotangent is, compiled or not: XLA would make a selection of a product with truth values anyway."""
    x = np.float32([[1, 4, 2], [7, 5, 6]])

    def pulled(x: np.ndarray, ct: np.ndarray):
        return vjp(lambda x: reduction(x, (1,)), x)[1](ct)[0]
    expected = np.where(x == np.asarray(reduction(x, (1,)))[:, None], np.float32([[np.nan], [np.inf]]), 0)
    for run in (pulled, jit(pulled)):
        np.testing.assert_array_equal(run(x, np.float32([np.nan, np.inf])), expected)


def test_argmax_finds_the_first_nan_when_compiled():
    x = np.float32([[1, np.nan, np.nan], [2, 3, 3], [5, 0, 5], [-np.inf] * 3])
    assert np.asarray(jit(lambda x: lax.argmax(x, 1, np.int32))(x)).tolist() == [1, 1, 0, 0]
    assert np.asarray(jit(lambda x: lax.argmin(x, 1, np.int32))(x)).tolist() == [1, 0, 1, 0]
    big = np.zeros((3, 3000), np.float32)
    big[1, 700:] = 1
    big[2, 333] = np.nan
    assert np.asarray(jit(lambda x: lax.argmax(x, 1, np.int32))(big)).tolist() == [0, 700, 333]


@pytest.mark.parametrize("dtype", ["float16", "float32", "int32", "uint8"])
@pytest.mark.parametrize("axis", [0, 1])
def test_argmax_of_a_long_axis_is_the_first_of_equals(dtype, axis):
    """Compiled, many floats are searched by value and integers in pairs; both name the first place."""
    x = np.random.default_rng(0).integers(0, 5, (100, 100)).astype(dtype)
    if x.dtype.kind == "f":
        x[3, 50:52], x[60:62, 9] = np.nan, np.nan
    for arg, f in ((lax.argmax, np.argmax), (lax.argmin, np.argmin)):
        got = jit(lambda x, arg=arg: arg(x, axis, np.int32))(x)
        assert got.dtype == np.int32
        np.testing.assert_array_equal(got, f(x, axis))


@pytest.mark.parametrize("shape", [(1,), (7,), (33,), (5000,), (3, 4), (20, 20), (40, 40), (100, 3), (3, 100), (10, 20, 30), (1000, 40), (5, 3000)])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "int32", "uint8", "bool"])
def test_argmax_is_the_first_of_any_numbers(shape, dtype):
    """Compiled as it is, of what is computed, and in a loop."""
    rng = np.random.default_rng(0)
    few = rng.integers(-2 if "float" in dtype else 0, 3, shape)
    numbers = [few, rng.integers(0, 2, shape)]
    if "float" in dtype:
        numbers += [np.where(rng.random(shape) < 0.2, np.nan, few), np.full(shape, -np.inf), np.where(rng.random(shape) < 0.5, np.inf, -np.inf), np.full(shape, np.nan)]

    @jit
    def found(x):
        search = [lambda x, axis=axis, arg=arg: arg(x, axis, np.int32) for axis in range(x.ndim) for arg in (lax.argmax, lax.argmin)]
        return [(f(x), f(lax.rev(lax.rev(x, (0,)), (0,))), lax.scan(lambda c, _: (c, f(c)), x, None, length=2)[1][1]) for f in search]
    for x in numbers:
        x = x.astype(dtypes.canonicalize_dtype(dtype))
        wide = np.asarray(x).astype(np.float32)
        wanted = [f(wide, axis) for axis in range(x.ndim) for f in (np.argmax, np.argmin)]
        for got, want in zip(found(x), wanted, strict=True):
            for places in got:
                np.testing.assert_array_equal(places, want)


@pytest.mark.parametrize("platform, kept", [("cpu", "stablehlo.reduce_precision"), ("cuda", "stablehlo.optimization_barrier")])
def test_rounding_that_changes_nothing_keeps_operations_apart(platform, kept):
    """XLA for GPUs drops it, and then ``x * 1e-20 * 1e-20`` is a product with a factor that is 0."""
    lowered = jit(lambda x: lax.reduce_precision(x, 8, 23)).trace(np.float32(1)).lower(lowering_platforms=(platform,))
    assert lowered.as_text().count(kept) == 1
