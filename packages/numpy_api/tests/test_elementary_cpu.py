"""Elementary functions as arithmetic for the CPU: errors in units in the last place, and that other platforms get the operation.

benchmarks/accuracy tries many more points; here enough of them that a wrong digit of a coefficient fails.
"""
import itertools

import mpmath
import numpy as np
import pytest

import jax_numpy_api.numpy as jnp
from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.representation import dtypes
from jax_core.transformations.autodiff import grad
from jax_numpy_api import lax
from jax_numpy_api.lax.elementary_cpu import gamma
from jax_numpy_api.lax.elementary_cpu.lanes import SMALL

pytestmark = pytest.mark.only_cpu

ROWS = {  # function: (mpmath's, units that it may be off in float32 and in float64, intervals of the operands)
    "sin": (lax.sin, mpmath.sin, 0.51, 0.51, [(-10, 10)], [(1e8, 1e38)]),
    "cos": (lax.cos, mpmath.cos, 0.51, 0.51, [(-10, 10)], [(1e8, 1e38)]),
    "tan": (lax.tan, mpmath.tan, 0.51, 0.7, [(-10, 10)], [(1e8, 1e38)]),
    "asin": (lax.asin, mpmath.asin, 1.4, 1.4, [(-1, 1)], [(0.49, 0.51)]),
    "acos": (lax.acos, mpmath.acos, 1.2, 1.2, [(-1, 1)], [(0.9, 1)]),
    "atan": (lax.atan, mpmath.atan, 5.5, 2.5, [(-5, 5)], [(1e-30, 1e30)]),  # of float32, XLA's from jaxlib 0.12 on
    "atan2": (lax.atan2, mpmath.atan2, 0.51, 1.2, [(-5, 5), (-5, 5)], [(1e-30, 1e30), (-1, 1)]),
    "exp2": (lax.exp2, lambda x: mpmath.mpf(2) ** x, 1.1, 1.0, [(-5, 5)], [(-125, 127)]),
    "sinh": (lax.sinh, mpmath.sinh, 0.51, 2.7, [(-2, 2)], [(-80, 88)]),
    "cosh": (lax.cosh, mpmath.cosh, 2.0, 1.2, [(-2, 2)], [(-80, 88)]),
    "log": (lax.log, mpmath.log, 1.0, 0.85, [(0.5, 2)], [(1e-30, 1e30)]),
    "log2": (lax.log2, lambda x: mpmath.log(x) / mpmath.log(2), 1.0, 0.8, [(0.5, 2)], [(1e-30, 1e30)]),
    "log1p": (lax.log1p, mpmath.log1p, 1.4, 1.4, [(-0.99, 2)], [(1e-30, 1e30)]),
    "asinh": (lax.asinh, mpmath.asinh, 1.8, 1.8, [(-5, 5)], [(1e-30, 1e30)]),
    "acosh": (lax.acosh, mpmath.acosh, 2.2, 2.2, [(1, 1.01)], [(1.01, 1e30)]),
    "atanh": (lax.atanh, mpmath.atanh, 2.6, 2, [(-1, 1)], [(1e-30, 0.9)]),
    "cbrt": (lax.cbrt, lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), 0.51, 1.0, [(-8, 8)], [(1e-30, 1e30)]),
    "lgamma": (lax.lgamma, lambda x: mpmath.loggamma(x).real, 2.7, 5.5, [(0.5, 2.5)], [(2.5, 9)], [(8, 1e30)], [(1e-30, 0.5)], [(-0.5, -1e-6)], [(-2.3, -0.5)]),
    "digamma": (lax.digamma, lambda x: mpmath.psi(0, x), 4.0, 4.0, [(0.5, 8)], [(1.45, 1.47)], [(8, 1e30)], [(1e-30, 0.5)], [(-0.4, -1e-6)]),
    "pow": (lax.pow, mpmath.power, 0.51, 0.6, [(0.1, 10), (-5, 5)], [(1e-30, 1e30), (-1, 1)]),
}
PLAIN = {"digamma": "chlo.digamma", "lgamma": "chlo.lgamma", "atan2": "stablehlo.atan2", "sin": "stablehlo.sine", "pow": "stablehlo.power", "cbrt": "stablehlo.cbrt", "log1p": "stablehlo.log_plus_one", "cos": "stablehlo.cosine", "tan": "stablehlo.tan"}


def enlarged(x):
    """Repeated, to more elements than arrays have that keep the compiler's operation."""
    return np.resize(x, SMALL + x.size)


def errors(got, exact, operands):
    """In units in the last place, where the true value is a normal number."""
    info, out = np.finfo(got.dtype), []
    for value, xs in zip(got, zip(*operands)):
        want = exact(*[mpmath.mpf(float(x)) for x in xs])
        if info.tiny < abs(want) < info.max:
            unit = mpmath.mpf(2) ** (int(mpmath.floor(mpmath.log(abs(want), 2))) - info.nmant)
            out.append(float(abs(mpmath.mpf(float(value)) - want) / unit))
    assert len(out) > len(got) / 2
    return out


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ROWS)
def test_error_in_units_in_the_last_place(name, dtype):
    function, exact, narrow, wide, *regions = ROWS[name]
    rng = np.random.default_rng(0)
    for region in regions:
        operands = [(np.exp(rng.uniform(np.log(low), np.log(high), 200)) if low > 0 and high > 100 * low
                     else rng.uniform(low, high, 200)).astype(dtype) for low, high in region]
        with flags.enable_x64(True), mpmath.workdps(60):
            got = np.asarray(jit(function)(*map(enlarged, operands)))[:200]
            assert got.dtype == dtype
            assert max(errors(got, exact, operands)) <= (wide if dtype == np.float64 else narrow), region


@pytest.mark.parametrize("name", PLAIN)
def test_small_arrays_and_other_platforms_get_the_operation(name):
    small = gamma.SMALL if name == "lgamma" else SMALL  # the compiler's is the costliest
    function, operands = ROWS[name][0], [np.ones(small + 1, np.float32)] * len(ROWS[name][4])
    assert (PLAIN[name] in jit(function).trace(*[x[1:] for x in operands]).lower().as_text()) == (name != "digamma")  # whose formula is no longer
    traced = jit(function).trace(*operands)
    assert PLAIN[name] not in traced.lower().as_text()
    for platform in ("cuda", "tpu", "cpu"):  # "cpu" by its name: for elsewhere
        assert PLAIN[name] in traced.lower(lowering_platforms=(platform,)).as_text()


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_halves_are_computed_in_float32(name, dtype):
    function = ROWS[name][0]
    operands = [np.linspace(0.1 if "log" in name or name in ("acosh", "pow") else -0.9, 0.95, 40).astype(dtype)] * len(ROWS[name][4])
    wide = function(*[x.astype(np.float32) for x in operands])
    got = np.asarray(jit(function)(*map(enlarged, operands)))[:40].astype(np.float32)
    np.testing.assert_allclose(got, np.asarray(wide), rtol=float(dtypes.finfo(dtype).eps))


@pytest.mark.parametrize("shape", [(), (3,), (32,)])
def test_tanh_ends(shape):
    """However the code of so few elements is optimised, it is 1 from where it rounds to 1, and a subnormal number stays.

    Of more elements it is on processors with fused multiplications only, without which XLA's formula gives 0.9999998.
    """
    program = jit(lambda x: lax.mul(lax.tanh(x), np.float32(2)))
    for x, want in ((9.02, 2), (9.5, 2), (-12.0, -2), (19.5, 2), (np.inf, 2), (1e-37, 2e-37), (-1e-37, -2e-37), (np.nan, np.nan)):
        np.testing.assert_allclose(program(np.full(shape, x, np.float32)), np.full(shape, want, np.float32), rtol=2.0 ** -24, atol=0)
    np.testing.assert_array_equal(jit(lax.tanh)(np.full(shape, 1e-40, np.float32)), np.full(shape, 1e-40, np.float32))


ENDS = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1e-30, -1e30, 3e9, 88.5, -110.0, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ROWS)
def test_large_arrays_are_as_small_ones_at_special_points(name, dtype):
    """The latter are the compiler's, which test_special_points tries."""
    function, arity = ROWS[name][0], len(ROWS[name][4])
    operands = [np.array(xs, dtype) for xs in zip(*itertools.product(ENDS, repeat=arity))]
    with flags.enable_x64(True):
        want = np.asarray(jit(function)(*operands))
        got = np.asarray(jit(function)(*map(enlarged, operands)))[:want.size]
    units = 60 if name == "lgamma" else 10  # the compiler's lgamma(-2.5) is off by 17 in float32, by 42 in float64
    np.testing.assert_allclose(got, want, rtol=units * np.finfo(dtype).eps)
    zeros = want == 0
    np.testing.assert_array_equal(np.signbit(got[zeros]), np.signbit(want[zeros]))


@pytest.mark.parametrize("length", [1, 40])
def test_lgamma_of_few_elements_is_exact_to_a_unit(length):
    """Also beside the zeros; CHLO's of float32 is off by dozens of units at 2.65 and by thousands at -2.7467."""
    x = np.array([2.65157, 4.0, 5.5, 0.433932, 1.0, 1.0000001, 2.0, 1.9999999, 11.26, 1e6, -0.3, -1.3, -2.746762, -2.4570248, -4.991544], np.float32)
    with mpmath.workdps(40):
        want = np.array([float(mpmath.loggamma(mpmath.mpf(float(v))).real) for v in x])
    got = np.array([np.asarray(jit(lax.lgamma)(np.full(length, v)))[-1] for v in x])
    np.testing.assert_allclose(got, want, rtol=np.finfo(np.float32).eps)
    assert not np.signbit(got[want == 0]).any() and (got[want == 0] == 0).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_lgamma_at_poles_zeros_and_ends_of_the_range(dtype):
    """Arithmetic takes subnormal numbers for 0."""
    info = np.finfo(dtype)
    low, lowest = float(info.tiny), float(info.smallest_subnormal)
    numbers = [lowest, 100 * lowest, low / 3, low, -lowest, -low / 3, 1.0, 2.0, 7.5, 8.0, -0.5, 0.5, 2.5, float(info.max) / 1000]
    x = np.array([*numbers, 0.0, -0.0, -1.0, -3.0, -1e17, np.inf, -np.inf, info.max, -info.max, -info.max / 50], dtype)
    with flags.enable_x64(True), mpmath.workdps(60):
        got = np.asarray(jit(lax.lgamma)(enlarged(x)))[:x.size]
        want = [float(mpmath.loggamma(mpmath.mpf(float(v))).real) for v in x[:len(numbers)]]
    np.testing.assert_allclose(got[:len(numbers)], want, rtol=4 * info.eps)
    np.testing.assert_array_equal(got[len(numbers):], np.full(10, np.inf, dtype))
    assert not np.signbit(got).any()


def test_signs_and_ends_of_powers():
    """Whole exponents keep the sign of odd ones; others of negative numbers are NaN; ones and zeros come before NaN."""
    x = np.array([-2, -2, -2, -0.0, -0.0, 0, 1, np.nan, -1, -1, -np.inf, -np.inf, np.nan, 2, np.inf, 0.5, -2, 3e38], np.float32)
    y = np.array([3, 2, 0.5, 3, -3, -2, np.nan, 0, np.inf, np.nan, 3, 0.5, 1, np.nan, -1, np.inf, 1e30, 2], np.float32)
    want = [-8, 4, np.nan, -0.0, -np.inf, np.inf, 1, 1, 1, np.nan, -np.inf, np.inf, np.nan, np.nan, 0, 0, np.inf, np.inf]
    np.testing.assert_array_equal(np.asarray(jit(lax.pow)(enlarged(x), enlarged(y)))[:18], np.array(want, np.float32))
    np.testing.assert_array_equal(np.signbit(np.asarray(jit(lax.pow)(enlarged(x), enlarged(y)))[3:5]), [True, True])


@pytest.mark.parametrize("exponent", [1.5, 0.5, 2.0, -0.0])
def test_one_exponent_for_all_is_vector_code(exponent):
    """Known when compiling or not, with the numbers that an exponent for each element gives; roots and squares stay what XLA makes of them."""
    x = enlarged(np.array([0.0, -0.0, 0.3, 7.5, 1e30, -2.0, np.inf, np.nan], np.float32))
    want = jit(lax.pow)(x, np.full_like(x, exponent))
    known = jit(lambda x: lax.pow(x, np.float32(exponent))).lower(x).compile()
    np.testing.assert_allclose(known(x), want, rtol=3e-7)
    np.testing.assert_allclose(jit(lax.pow)(x, np.float32(exponent)), want, rtol=3e-7)
    assert (" power(" in known.as_text()) is (exponent == 0.5)  # of which XLA's code makes a root


def test_erf_inv_over_a_short_axis_is_computed_in_one_loop():
    """XLA's code for loops over 10 elements has no vectors."""
    x = np.linspace(-0.99, 0.99, 96000, dtype=np.float32)
    text = jit(lax.erf_inv).trace(x.reshape(-1, 10)).lower().as_text()
    assert "erf_inv %0 : tensor<96000xf32>" in text and "optimization_barrier" in text
    assert "optimization_barrier" not in jit(lax.erf_inv).trace(x.reshape(-1, 100)).lower().as_text()
    np.testing.assert_array_equal(jit(lax.erf_inv)(x.reshape(-1, 10)), np.reshape(jit(lax.erf_inv)(x), (-1, 10)))


@pytest.mark.parametrize("box", [(2, 2), (3, 3), (4, 4), (10, 3), (3, 10), (2, 5, 5)])
def test_formulas_of_small_boxes_are_computed_in_one_loop(box):
    """Loops over short axes have no vectors."""
    x = np.linspace(0.1, 0.9, 3000 * np.prod(box), dtype=np.float32)
    boxes = x.reshape(-1, *box)
    for function in (lax.sin, lax.asin, lax.exp2, lax.log1p, lambda x: lax.pow(x, jnp.full(x.shape, 1.5)), lax.lgamma, lambda x: jnp.cos(x * 2)):
        lowered = jit(function).lower(boxes)
        assert lowered.as_text(debug_info=True).count("loops over short axes are slow") == 1
        np.testing.assert_allclose(np.ravel(lowered.compile()(boxes)), jit(function)(x), rtol=3e-7)
    for shape in ((-1, 2, 50), (-1, 3)):
        assert "loops over short axes" not in jit(lax.sin).lower(x[:18_000].reshape(shape)).as_text(debug_info=True)
    assert "loops over short axes" not in jit(lax.sin).lower(boxes[:10]).as_text(debug_info=True)


@pytest.mark.parametrize("second", [lambda x: x * 2, lambda x: 0])
def test_logaddexp_is_one_kernel(second):
    """As long as the larger operand is read once."""
    text = jit(lambda x: jnp.logaddexp(x, second(x))).lower(np.ones(1 << 14, np.float32)).compile().as_text()
    assert text.count(" fusion(") == 1


SUBNORMAL = np.array([1e-40, -1e-40, 1.1e-38, -1.4e-45], np.float32)


@pytest.mark.parametrize("name, want", [("sin", SUBNORMAL), ("tan", SUBNORMAL), ("cbrt", 0 * SUBNORMAL)])
def test_subnormal_numbers_are_the_same_to_few_and_many(name, want):
    for x in (SUBNORMAL, enlarged(SUBNORMAL)):
        got = np.asarray(jit(getattr(lax, name))(x))
        assert np.array_equal(got[:4].view(np.int32), want.view(np.int32))


@pytest.mark.parametrize("x", [SUBNORMAL, enlarged(SUBNORMAL)], ids=["few", "many"])
def test_hypot_of_subnormal_numbers_is_no_nan(x):
    """A comparison with 0 may tell them from it, and the division behind it not."""
    assert np.all(jit(lambda v: jnp.hypot(v, v))(x) <= 2 * abs(x))
    assert np.array_equal(0 * x, jit(grad(lambda v: jnp.hypot(v, x[::-1]).sum()))(x))
