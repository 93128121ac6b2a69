"""Random bits, composites, sinks, tokens, accuracy, the namespace, and facts that are no law."""
import subprocess
import sys

import numpy as np
import pytest
import scipy.special

from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.programs.tracing import make_jaxpr
from jax_core.representation.errors import UnexpectedTracerError
from jax_core.transformations.autodiff import grad, jvp
from jax_core.transformations.vmap import vmap
from jax_numpy_api import lax, numpy as jnp
from jax_numpy_api.lax.arithmetic import addition_chain

ONES = np.ones(3, np.float32)


# -- the namespace -------------------------------------------------------------------------------------------------------

def test_a_function_keeps_its_name_when_its_module_is_imported():
    program = ("import importlib, jax_numpy_api.lax as lax\n"
               "for name in ('reduce', 'dot', 'conv', 'select', 'complex', 'sort', 'gather', 'scatter', 'composite', 'fft'):\n"
               "    importlib.import_module(f'jax_numpy_api.lax.{name}')\n"
               "    assert callable(getattr(lax, name)), name\n")
    subprocess.run([sys.executable, "-c", program], check=True)


def test_every_name_is_there():
    for name in lax.__all__:
        assert getattr(lax, name) is not None


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'jax.lax' has no attribute 'nonsense'"):
        lax.nonsense


# -- arithmetic ----------------------------------------------------------------------------------------------------------

def test_addition_chains_make_their_power_with_the_fewest_multiplications():
    for n in range(1, 300):
        powers = [1]
        for i, j in addition_chain(n):
            powers.append(powers[i] + powers[j])
        assert powers[-1] == n
    fewest = {1: 0, 2: 1, 3: 2, 7: 4, 15: 5, 23: 6, 31: 7, 63: 8, 127: 10}  # OEIS A003313
    assert {n: len(addition_chain(n)) for n in fewest} == fewest


def test_integer_division_as_xla_defines_it_also_when_compiled():
    x = np.int32([7, -7, 7, -7, -2**31, 5])
    y = np.int32([2, 2, -2, 0, -1, 0])
    for divide, want in ((lax.div, [3, -3, -3, -1, -2**31, -1]), (lax.rem, [1, -1, 1, -7, 0, 5])):
        assert np.asarray(divide(x, y)).tolist() == want
        assert np.asarray(jit(divide)(x, y)).tolist() == want


def test_power_at_awkward_points():
    def derivatives(x, y):
        return [float(v) for v in grad(lax.pow, (0, 1))(np.float32(x), np.float32(y))]
    assert derivatives(0, 1) == [1, 0]
    assert derivatives(0, 2) == [0, 0]
    assert derivatives(2, 0) == [0, np.float32(np.log(np.float32(2)))]
    assert derivatives(0, 0)[1] == 0
    assert np.isnan(derivatives(-1, 2)[1])
    assert [float(grad(lambda x, n=n: lax.pow(x, np.int32(n)))(0.0)) for n in (0, 1, 2)] == [0, 1, 0]


def test_derivatives_without_cancellation():
    x = np.float32(-20)
    assert np.isclose(float(grad(lax.expm1)(x)), np.exp(-20.0), rtol=1e-6)
    big = np.float32(1e25)
    dy, dx = grad(lax.atan2, (0, 1))(big, big)
    assert np.isclose(float(dy), 0.5e-25, rtol=1e-6) and np.isclose(float(dx), -0.5e-25, rtol=1e-6)


def test_signed_zeros_and_nan():
    x = np.float32([-0.0, 0.0, np.nan, -3, np.inf])
    signs = np.asarray(lax.sign(x))
    assert np.array_equal(np.signbit(signs), [True, False, np.signbit(signs[2]), True, False])
    assert np.isnan(signs[2]) and signs[3] == -1 and signs[4] == 1
    assert np.isnan(np.asarray(lax.max(x, np.float32(1)))).tolist() == [False, False, True, False, False]
    assert np.isnan(np.asarray(lax.clamp(np.float32(0), x, np.float32(1)))[2])


def test_ties_of_max_share_the_tangent():
    for function in (lax.max, lax.min):
        assert [float(g) for g in grad(function, (0, 1))(1.0, 1.0)] == [0.5, 0.5]


def test_total_order():
    x = np.float32([-np.nan, -np.inf, -1, -0.0, 0.0, 1, np.inf, np.nan])
    compiled = np.asarray(jit(lax.lt_to_p.bind)(np.broadcast_to(x[:, None], (8, 8)).copy(), np.broadcast_to(x, (8, 8)).copy()))
    assert np.array_equal(compiled, np.triu(np.ones((8, 8), bool), 1))


# -- weak types ----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("make, dtype, weak", [
    (lambda x: lax.add(x, 2.0), "float32", False), (lambda x: lax.add(1, 2), "int32", True),
    (lambda x: lax.lt(1, 2), "bool", True), (lambda x: lax.sin(1.0), "float32", True),
    (lambda x: lax.full((2,), 1), "int32", True), (lambda x: lax.full((2,), 1, float), "float32", False),
    (lambda x: lax.full_like(1.0, 2), "float32", True), (lambda x: lax.convert_element_type(1, float), "float32", False),
    (lambda x: lax.clamp(0.0, x, 1.0), "float32", False), (lambda x: lax.pow(x, 2), "float32", False),
    (lambda x: lax.broadcast(1.0, (2,)), "float32", True)])
def test_a_result_is_weak_if_all_operands_are(make, dtype, weak):
    out = make(ONES)
    assert (out.dtype.name, out.aval.weak_type) == (dtype, weak)


# -- accuracy, random bits, composites ------------------------------------------------------------------------------------

def test_accuracy_is_passed_to_the_compiler():
    text = jit(lambda x: lax.exp(x, accuracy=lax.Tolerance(1e-5, 0, 2))).lower(ONES).as_text()
    assert "#stablehlo.result_accuracy<atol = 1.000000e-05, rtol = 0.000000e+00, ulps = 2" in text
    assert np.allclose(lax.exp(ONES, accuracy=lax.AccuracyMode.HIGHEST), np.e)
    with pytest.raises(ValueError, match="bounds must not be negative"):
        lax.Tolerance(-1)


def test_random_bits_have_known_values_on_cpu():
    key = np.arange(4, dtype=np.uint32)
    state, bits = lax.rng_bit_generator(key, (3,))
    assert np.asarray(bits).tolist() == [895509795, 3230209149, 3834998268]
    assert np.asarray(state).tolist() == [0, 1, 3, 3]
    assert np.asarray(lax.rng_bit_generator(key, (3,), np.uint8)[1]).tolist() == [35, 125, 252]
    threefry = lax.rng_bit_generator(key, (3,), algorithm=lax.RandomAlgorithm.RNG_THREE_FRY)[1]
    assert np.asarray(threefry).tolist() == [2689575991, 2205648888, 150810639]


def test_a_composite_is_its_decomposition_under_every_transformation():
    def triple(x):
        return lax.composite(lambda x, *, k: lax.mul(x, np.float32(k)), "my.op")(x, k=3)
    assert np.asarray(triple(ONES)).tolist() == [3, 3, 3]
    assert np.asarray(vmap(triple)(ONES)).tolist() == [3, 3, 3]
    assert np.asarray(jvp(triple, (ONES,), (ONES,))[1]).tolist() == [3, 3, 3]
    assert 'stablehlo.composite "my.op" %arg0 {composite_attributes = {k = 3 : i64}' in jit(triple).lower(ONES).as_text()


@pytest.mark.parametrize("value,text", [
    (np.float32([0.5, 0.25]), "dense<[0.5, 0.25]> : tensor<2xf32>"), (np.int64([[1, 2]]), "dense<[[1, 2]]> : tensor<1x2xi64>"),
    (np.float32(2), "2.000000e+00 : f32"), (np.uint8(2), "2 : ui8"), ({"a": [1, True]}, "{a = [1 : i64, true]}"), (b"ab", '"ab"')])
def test_attributes_of_a_composite(value, text):
    fun = lambda x: lax.composite(lambda x, *, k: lax.neg(x), "my.op")(x, k=value)
    assert f"composite_attributes = {{k = {text}}}" in jit(fun).lower(ONES).as_text()
    assert np.asarray(fun(ONES)).tolist() == np.asarray(jit(fun)(ONES)).tolist() == [-1, -1, -1]


@pytest.mark.parametrize("name", ["twice", "my.σ", "", "a b.c", "1.a", "my.", 'my."a'])
def test_names_that_no_composite_has_in_a_program(name):
    twice = lax.composite(lambda x: lax.add(x, x), name)
    np.testing.assert_array_equal(twice(ONES), 2 * ONES)
    with pytest.raises(ValueError, match="a namespace and a name"):
        jit(twice)(ONES)


def test_a_composite_takes_traced_values_as_arguments_only():
    with pytest.raises(UnexpectedTracerError, match="attribute 'k' of the composite 'my.op'"):
        jit(lambda x: lax.composite(lambda x, *, k: x, "my.op")(x, k=x))(ONES)
    with pytest.raises(UnexpectedTracerError, match="the decomposition of 'my.op' reads"):
        jit(lambda y: lax.composite(lambda x: lax.add(x, y), "my.op")(ONES))(ONES)
    with pytest.raises(TypeError, match="must be a number, a string, an array"):
        jit(lambda x: lax.composite(lambda x, *, k: x, "my.op")(x, k=1j))(ONES)


def test_a_sink_keeps_its_equation():
    assert "dce_sink" in str(make_jaxpr(lambda x: lax.dce_sink(lax.sin(x)))(ONES))


def test_ragged_groups_along_a_contracted_axis():
    x, y = np.arange(12, dtype=np.float32).reshape(2, 6), np.ones((6, 3), np.float32)
    numbers = lax.RaggedDotDimensionNumbers((((1,), (0,)), ((), ())), (1,), ())
    out = np.asarray(lax.ragged_dot_general(x, y, np.int32([2, 4]), numbers))
    assert np.array_equal(out, [x[:, :2] @ y[:2], x[:, 2:] @ y[2:]])


def test_groups_of_a_contracted_axis_do_not_meet():
    """What is infinite in one group is so in its product alone, for either operand."""
    numbers = lax.RaggedDotDimensionNumbers((((1,), (0,)), ((), ())), (1,), ())
    bad, one = jnp.array([[1.0, np.inf], [1.0, 2.0]]), jnp.ones((2, 2))
    np.testing.assert_array_equal(lax.ragged_dot_general(one, bad, np.int32([1, 1]), numbers), [[[1, np.inf]] * 2, [[1, 2]] * 2])
    np.testing.assert_array_equal(lax.ragged_dot_general(bad.T, one, np.int32([1, 1]), numbers), [[[1, 1], [np.inf] * 2], [[1, 1], [2, 2]]])


RAGGED = {  # dimension numbers, the ragged axis, axes of groups; shapes of the operands; of group_sizes
    "batch": ((((3,), (2,)), ((0,), (0,))), [2], [1], (2, 4, 6, 5), (2, 3, 5, 7), (2, 4, 3)),
    "a batch axis further on": ((((2,), (1,)), ((1,), (2,))), [0], [0], (6, 2, 5), (3, 5, 2, 7), (2, 3)),
    "contracted": ((((0, 1), (0, 1)), ((), ())), [1], [], (2, 6, 5), (2, 6, 7), (2, 3)),
}


@pytest.mark.parametrize("case", RAGGED)
def test_cuts_differ_along_other_axes(case):
    """As if each of those were a call of its own."""
    numbers, ragged, groups, lhs, rhs, cuts = RAGGED[case]
    rng = np.random.default_rng(0)
    x, w, sizes = rng.integers(-4, 5, lhs) * 1.0, rng.integers(-4, 5, rhs) * 1.0, rng.integers(0, 3, cuts)
    out = lax.ragged_dot_general(x, w, sizes, lax.RaggedDotDimensionNumbers(numbers, ragged, groups))
    bounds = np.concatenate([np.zeros((*cuts[:-1], 1), int), np.cumsum(sizes, -1)], -1)
    rows = np.arange(6)[:, None]
    inside = (rows >= bounds[..., None, :-1]) & (rows < bounds[..., None, 1:])  # [..., row, group]
    spec = {"batch": "bxmk,bgkn,bxmg->bxmn", "a batch axis further on": "mbk,gkbn,bmg->bmn", "contracted": "xmk,xmn,xmg->gkn"}[case]
    np.testing.assert_array_equal(out, np.einsum(spec, x, w, inside))
    with pytest.raises(TypeError, match=r"group_sizes must have shape \(3,\) or"):
        lax.ragged_dot_general(x, w, sizes[:1], lax.RaggedDotDimensionNumbers(numbers, ragged, groups))


def test_subnormal_numbers_are_zero_to_eager_and_compiled_comparisons():
    x = np.float32([1e-39, -1e-39, 0, 1e-37])
    for compare in (lax.eq, lax.lt, lax.gt, lax.le):
        zeros = np.zeros_like(x)
        assert np.asarray(compare(x, zeros)).tolist() == np.asarray(jit(compare)(x, zeros)).tolist()


def test_infinite_complex_numbers_are_equal_to_themselves_eager_and_compiled():
    z = np.complex64([complex(a, b) for a in (1, np.inf, -np.inf) for b in (0, np.inf, -np.inf)])
    assert np.asarray(lax.eq(z, z)).all() and np.asarray(jit(lax.eq)(z, z)).all() and not np.asarray(lax.ne(z, z)).any()


def test_slope_of_the_complex_root_at_infinity():
    for z in (complex(0, np.inf), complex(np.inf, np.inf), complex(-np.inf, 0)):
        assert grad(lax.sqrt, holomorphic=True)(np.complex64(z)) == 0


def test_slopes_of_the_integral_of_infinite_values():
    assert grad(jnp.trapezoid)(jnp.array([0.0, 0.0, np.inf])).tolist() == [0.5, 1, 0.5]
    assert jnp.trapezoid(jnp.array([np.inf, 1.0])) == np.inf


def test_derivatives_at_zero_and_infinity():
    assert float(grad(lax.abs)(0.0)) == 1 and float(grad(lax.cbrt)(0.0)) == np.inf
    assert [float(g) for g in grad(lax.atan2, (0, 1))(1.0, np.inf)] == [0, 0]
    assert [float(g) for g in grad(lax.pow, (0, 1))(np.float32(0), np.float32(0))] == [0, 0]
    assert float(grad(lax.pow)(np.float32(np.inf), np.float32(0))) == 0


def test_powers_of_two_and_their_logarithms_are_exact():
    n = np.arange(-126, 128, dtype=np.float32)
    assert np.array_equal(lax.exp2(n), 2.0 ** n.astype(np.float64))
    assert np.array_equal(lax.log2(np.exp2(n)), n)
    x = np.random.default_rng(0).uniform(-120, 120, 1000).astype(np.float32)
    exact = np.exp2(x.astype(np.float64))
    assert np.abs(np.asarray(lax.exp2(x)) / exact - 1).max() < 2e-7
    special = np.float32([0, -1, np.inf, -np.inf, np.nan])
    assert np.array_equal(lax.log2(special), np.float32([-np.inf, np.nan, np.inf, np.nan, np.nan]), equal_nan=True)
    assert np.array_equal(lax.exp2(special), np.float32([1, 0.5, np.inf, 0, np.nan]), equal_nan=True)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("name", ["sin", "cos"])
def test_sine_of_a_complex_number_keeps_the_digits_of_small_and_large_parts(name, dtype):
    """Both parts count: next to the axes one is smaller than the other by many orders."""
    top = 710 if dtype == np.complex128 else 89
    z = np.array([1e-12 + 1e-17j, 3e-9j, 1 - 1e-12j, 2 + 0.9j, -0.3 + (top - 1) * 1j, 1e-9 - (top - 1) * 1j, 0.5 + top * 1j, 3 - 20j], dtype)
    with flags.enable_x64(dtype == np.complex128):
        got = np.asarray(getattr(lax, name)(z))
    want = getattr(np, name)(z.astype(np.complex128))
    eps = np.finfo(dtype).eps
    with np.errstate(over="ignore"):
        assert np.allclose(got.real, want.real, rtol=6 * eps, atol=0) and np.allclose(got.imag, want.imag, rtol=6 * eps, atol=0)
    edge = np.array([complex(0, np.inf), complex(0, -np.inf), complex(-0.0, 0), complex(0, np.nan), complex(np.inf, 0)], dtype)
    with np.errstate(invalid="ignore"):
        want = getattr(np, name)(edge.astype(np.complex128))
    got = np.asarray(getattr(lax, name)(edge.astype(np.complex64)))
    assert np.array_equal(got.real, want.real, equal_nan=True) and np.array_equal(got.imag, want.imag, equal_nan=True)


def test_incomplete_functions_stay_accurate_for_large_parameters():
    """Errors relative to SciPy in float64; the direct formulas lose three digits more here."""
    rng = np.random.default_rng(0)
    a, b = rng.uniform(5e3, 1e4, (2, 200)).astype(np.float32)
    x = (a + np.sqrt(a) * rng.normal(size=200)).astype(np.float32)
    y = (a / (a + b) * rng.uniform(0.99, 1.01, 200)).astype(np.float32)
    wide = [v.astype(np.float64) for v in (a, b, x, y)]
    assert np.abs(np.asarray(lax.igamma(a, x)) / scipy.special.gammainc(wide[0], wide[2]) - 1).max() < 5e-5
    assert np.abs(np.asarray(lax.betainc(a, b, y)) / scipy.special.betainc(wide[0], wide[1], wide[3]) - 1).max() < 5e-4
    for value, expected in ((lax.igamma, [np.nan, 0, 1, 1, np.nan]), (lax.igammac, [np.nan, 1, 0, 0, np.nan])):
        edges = value(np.float32([-1, 1, 0, 1, 0]), np.float32([1, 0, 1, np.inf, 0]))
        assert np.array_equal(edges, np.float32(expected), equal_nan=True)


def test_samples_of_gamma_move_as_its_distribution_function_says():
    """``d sample / da`` is ``-(dP/da) / density``; the quotient of SciPy's function in float64 is good to six digits."""
    a, x = np.float32([0.3, 1.7, 5, 40]), np.float32([0.2, 3, 4, 45])
    wide_a, wide_x = a.astype(np.float64), x.astype(np.float64)
    h = 1e-5 * wide_a
    slope = (scipy.special.gammainc(wide_a + h, wide_x) - scipy.special.gammainc(wide_a - h, wide_x)) / (2 * h)
    density = np.exp((wide_a - 1) * np.log(wide_x) - wide_x - scipy.special.gammaln(wide_a))
    assert np.allclose(lax.igamma_grad_a(a, x), slope, rtol=1e-5)
    assert np.allclose(lax.random_gamma_grad(a, x), -slope / density, rtol=1e-5)


@pytest.mark.parametrize("function", [lax.igamma_grad_a, lax.random_gamma_grad])
def test_slopes_in_the_order_have_slopes(function):
    """As differences of the slopes, at the mode as well, and for all x that have some weight."""
    orders = np.array([0.05, 0.3, 1, 2.5, 30, 400, 2e4])
    a, x = (points.ravel() for points in np.broadcast_arrays(orders[:, None], orders[:, None] + np.sqrt(orders)[:, None] * np.array([-0.15, 0, 0.5, 2])))
    with flags.enable_x64(True):
        h = 1e-5 * np.minimum(a, np.sqrt(a))
        differences = (function(a + h, x) - function(a - h, x)) / (2 * h), (function(a, x + h) - function(a, x - h)) / (2 * h)
        scale = abs(function(a, x)) / np.sqrt(a)  # of what has a zero near the mode
        for i, expected in enumerate(differences):
            slope = vmap(grad(function, i))
            assert np.all(abs(slope(a, x) - expected) <= 1e-6 * (abs(expected) + scale))
            assert np.all(abs(slope(a.astype(np.float32), x.astype(np.float32)) - expected) <= 2e-3 * (abs(expected) + scale))


def test_slopes_in_the_order_at_the_edges():
    a, x = np.float32([2, 1, 0.5, 2, 3, np.nan]), np.float32([0, 0, 0, np.inf, np.nan, 1])
    for function, edges in (lax.igamma_grad_a, [0, -np.inf, -np.inf]), (lax.random_gamma_grad, [np.inf] * 3):
        assert np.array_equal(vmap(grad(function, 1))(a, x), [*edges, 0, np.nan, np.nan], equal_nan=True)
        assert np.array_equal(vmap(grad(function))(a, x), [0, 0, 0, 0, np.nan, np.nan], equal_nan=True)
    assert np.allclose(float(grad(lax.random_gamma_grad)(np.float16(2), np.float16(1.5))), -0.2843, rtol=1e-2)


@pytest.mark.parametrize("a", [1e4, 3e5, 1e10, 1e20])
@pytest.mark.parametrize("x64", [False, True])
def test_incomplete_gamma_of_large_orders(a, x64):
    """At ``x = a`` it is a half and a known correction, elsewhere near the normal distribution's; values and slopes."""
    z = np.array([-6.0, -1.0, 1.0, 4.0]) if x64 or a < 1e10 else np.array([])  # x differs from a in some digits
    with flags.enable_x64(x64):
        half = 1 / (3 * np.sqrt(2 * np.pi * a))
        eps = 1e-12 if x64 else 3e-6
        assert np.allclose([lax.igamma(a, a), lax.igammac(a, a)], [0.5 + half, 0.5 - half], rtol=eps, atol=1e-3 * half)
        assert np.allclose([grad(lax.igamma, i)(a, a) * np.sqrt(a) for i in (0, 1)], [-1 / np.sqrt(2 * np.pi), 1 / np.sqrt(2 * np.pi)],
                           rtol=max(eps, 1 / a))
        x = (a + z * np.sqrt(a)).astype(np.float64 if x64 else np.float32)
        mean = 1 - 1 / (9 * a)  # Wilson and Hilferty: the cube root is nearly normal
        normal = (np.cbrt(x.astype(np.float64) / a) - mean) * np.sqrt(9 * a)
        if a < 1e20:
            near = 1e-2 if x64 else 2e-2
            assert np.allclose(lax.igamma(np.full_like(x, a), x), scipy.special.ndtr(normal), rtol=near, atol=0)
            assert np.allclose(lax.igammac(np.full_like(x, a), x), scipy.special.ndtr(-normal), rtol=near, atol=0)


def test_incomplete_gamma_where_the_expansion_takes_over():
    """SciPy's values and difference quotients on both sides."""
    with flags.enable_x64(True):
        for a in (9999.0, 10001.0):
            x = a + 100 * np.array([-4.0, -0.5, 1e-6, 0.01, 4.0])
            order = np.full_like(x, a)
            assert np.allclose(lax.igamma(order, x), scipy.special.gammainc(order, x), rtol=1e-11, atol=0)
            assert np.allclose(lax.igammac(order, x), scipy.special.gammaincc(order, x), rtol=1e-11, atol=0)
            slope = (scipy.special.gammainc(order + 1e-2, x) - scipy.special.gammainc(order - 1e-2, x)) / 2e-2
            assert np.allclose(lax.igamma_grad_a(order, x), slope, rtol=1e-6)
            density = (scipy.special.gammainc(order, x + 1e-2) - scipy.special.gammainc(order, x - 1e-2)) / 2e-2
            assert np.allclose(vmap(grad(lax.igamma, 1))(order, x), density, rtol=1e-6)
            assert np.allclose(lax.random_gamma_grad(order, x), -slope / density, rtol=1e-5)



@pytest.mark.parametrize("name", ["sinh", "cosh"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_hyperbolic_functions_are_accurate_up_to_the_largest_number(name, dtype):
    """Also where ``exp`` overflows and ``sinh`` does not; complex ones also at infinities and next to 0."""
    top = 710.4 if dtype == np.float64 else 89.4
    x = np.concatenate([np.linspace(-top, top, 999), np.linspace(0.985 * top, top, 99), [0.0, -0.0, 1e-9, np.inf, -np.inf, np.nan]]).astype(dtype)
    z = np.array([1e-12 + 1e-17j, 1e-12j, top + 2j, 1 - 9j, complex(np.inf, 0), complex(-np.inf, 0), complex(-0.0, 0)], np.result_type(dtype, 1j))
    with flags.enable_x64(dtype == np.float64):
        got, of_complex = (np.asarray(getattr(lax, name)(v)) for v in (x, z))
    want, other = getattr(np, name)(x.astype(np.float64)), getattr(np, name)(z.astype(np.complex128))
    assert np.allclose(got, want, rtol=4 * np.finfo(dtype).eps, atol=0, equal_nan=True)
    assert np.array_equal(np.signbit(got[:-1]), np.signbit(want[:-1]))
    for part in ("real", "imag"):
        g, w = getattr(of_complex, part), getattr(other, part)
        assert np.allclose(g, w, rtol=6 * np.finfo(dtype).eps, atol=0, equal_nan=True), (g, w)
