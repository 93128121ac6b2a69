"""Special points of the differentiable elementwise functions of lax, jax.numpy and jax.nn; and that the law catches wrong ones.

A row names functions, which are tried in each of the modules that has them under one of the names. `test_every_function_has_a_row`
finds functions that have none.
"""
import functools
import inspect
import itertools

import numpy as np
import pytest
from mpmath import mp

from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.transformations.autodiff import grad, jvp, vjp
from jax_core.transformations.custom_jvp import custom_jvp
from jax_numpy_api import lax, nn, numpy as jnp
from jax_numpy_api.lax.nary import Elementwise
from special_points import ASK, EACH, EPS, FLUSHED, INF, LARGEST, NAN, ONE, SUBNORMAL, At, special_points_law

REDUCTIONS = "jnp.max", "jnp.min"  # lax has elementwise functions of these names
MODULES = {"lax": lax, "jnp": jnp, "nn": nn}


def rows(names, exact, **options):
    """Rows for the functions of these names, blanks between."""
    found = [(f"{short}.{name}", getattr(module, name)) for name in names.split() for short, module in MODULES.items()
             if name in dir(module) and f"{short}.{name}" not in REDUCTIONS]
    return [At(fun, exact, name=name, **options) for name, fun in found]


def numpy_value(function):
    """Values as NumPy has them in float64."""
    def value(*point):
        with np.errstate(all="ignore"):
            return float(function(*map(np.float64, point)))
    return value


def flat(*point):
    """The derivative of functions of steps, at NaN too."""
    return 0.0


def softplus(x):
    return x if x == mp.inf else mp.log1p(mp.exp(x))


def logistic(x):
    return 1 / (1 + mp.exp(-x))


def normal(x):
    return mp.ncdf(x)


def clip(x, low, high):
    return min(max(x, low), high)


def half_even(x):
    return mp.nint(x)


SMOOTH = [
    *rows("exp", mp.exp), *rows("exp2", lambda x: mp.power(2, x)), *rows("expm1", mp.expm1),
    *rows("log", mp.log), *rows("log2", lambda x: mp.log(x, 2)), *rows("log10", mp.log10), *rows("log1p", mp.log1p, points="-1.25"),
    *rows("sin", mp.sin), *rows("cos", mp.cos), *rows("tan", mp.tan), *rows("sinh", mp.sinh), *rows("cosh", mp.cosh), *rows("tanh", mp.tanh),
    *rows("asin arcsin", mp.asin), *rows("acos arccos", mp.acos), *rows("atan arctan", mp.atan),
    *rows("asinh arcsinh", mp.asinh), *rows("acosh arccosh", mp.acosh), *rows("atanh arctanh", mp.atanh),
    *rows("sqrt", mp.sqrt), *rows("rsqrt", lambda x: 1 / mp.sqrt(x), value=numpy_value(lambda x: 1 / np.sqrt(x))),
    *rows("cbrt", lambda x: mp.sign(x) * mp.cbrt(abs(x)), grid=[v for v in ONE if abs(v) != SUBNORMAL]),
    *rows("square", lambda x: x * x), *rows("one_minus_square", lambda x: 1 - x * x),
    *rows("reciprocal", lambda x: 1 / x, value=numpy_value(np.reciprocal)),
    *rows("neg negative", lambda x: -x, nan=-1), *rows("positive", lambda x: +x, nan=1),
    *rows("erf", mp.erf), *rows("erfc", mp.erfc), *rows("erf_inv", mp.erfinv),
    *rows("lgamma", lambda x: mp.loggamma(x).real, value={-INF: INF}, at={-INF: None}, slack=8), *rows("digamma", mp.digamma, at={INF: None}),
    *rows("bessel_i0e", lambda x: mp.besseli(0, x) * mp.exp(-abs(x)), at={0: 0}), *rows("bessel_i1e", lambda x: mp.besseli(1, x) * mp.exp(-abs(x))),
    *rows("i0", lambda x: mp.besseli(0, x), points="90 -90"), *rows("sinc", mp.sincpi),
    *rows("deg2rad radians", mp.radians, nan=None), *rows("rad2deg degrees", mp.degrees, nan=None),
    *rows("logistic sigmoid", logistic), *rows("silu swish", lambda x: x * logistic(x), value={-INF: 0}, at={-INF: 0}), *rows("softplus", softplus),
    *rows("log_sigmoid", lambda x: -softplus(-x)), *rows("mish", lambda x: x * mp.tanh(softplus(x)), value={-INF: 0}, at={-INF: 0}),
    *rows("soft_sign", lambda x: x / (1 + abs(x))), *rows("squareplus", lambda x: (x + mp.sqrt(x * x + 4)) / 2, value={-INF: 0}),
    *rows("gelu", lambda x: x * (1 + mp.tanh(mp.sqrt(2 / mp.pi) * (x + mp.mpf("0.044715") * x ** 3))) / 2,
          value={-INF: 0}, at=lambda x: (x > 0) if abs(x) > 1e12 else ASK, slack=1),
    At(functools.partial(nn.gelu, approximate=False), lambda x: x * normal(x), value={-INF: 0}, at={-INF: 0}, name="nn.gelu(exact)"),
    *rows("log1mexp", lambda x: mp.log(-mp.expm1(-x))),
    At(lambda x: lax.integer_pow(x, 3), lambda x: x ** 3, name="lax.integer_pow(3)"),
    At(lambda x: lax.integer_pow(x, -2), lambda x: x ** -2, name="lax.integer_pow(-2)"),
]
KINKS = [
    *rows("abs absolute fabs", abs, at={0: 1}, nan=-1), *rows("relu", lambda x: max(x, 0), at={0: 0}, nan=0),
    *rows("relu6", lambda x: clip(x, 0, 6), points="6", at={0: 0, 6: 0}, nan=0),
    *rows("hard_sigmoid", lambda x: clip(x + 3, 0, 6) / 6, at={-3: 0, 3: 0}, nan=0),
    *rows("hard_silu hard_swish", lambda x: x * clip(x + 3, 0, 6) / 6, at={-3: 0, 3: 1}),
    *rows("hard_tanh", lambda x: clip(x, -1, 1), at={-1: 1, 1: 1}, nan=1), *rows("leaky_relu", lambda x: max(x, x / 100), at={0: 1}, nan=0.01),
    *rows("elu", lambda x: x if x > 0 else mp.expm1(x)), *rows("celu", lambda x: x if x > 0 else mp.expm1(x)),
    *rows("selu", lambda x: mp.mpf(1.0507009873554804934) * (x if x > 0 else mp.mpf(1.6732632423543772848) * mp.expm1(x)), at={0: 1.7580993408473766}),
    *rows("sparse_plus", lambda x: 0 if x <= -1 else x if x >= 1 else (x + 1) ** 2 / 4),
    *rows("sparse_sigmoid", lambda x: clip((x + 1) / 2, 0, 1), at={-1: 0.25, 1: 0.25}, nan=0),
    At(lambda x: jnp.clip(x, -0.5, 1.0), lambda x: clip(x, -0.5, 1), at={-0.5: 0.5, 1: 0.5}, nan=0, name="jnp.clip"),
]
STEPS = [
    *rows("sign", mp.sign, at=flat), *rows("floor", mp.floor, at=flat), *rows("ceil", mp.ceil, at=flat), *rows("rint", half_even, at=flat),
    At(lax.round, lambda x: mp.sign(x) * mp.floor(abs(x) + mp.mpf(0.5)), at=flat, name="lax.round"), At(jnp.round, half_even, at=flat, name="jnp.round"),
    *rows("trunc", lambda x: mp.sign(x) * mp.floor(abs(x)), at=flat), *rows("around", half_even, at=flat),
    *rows("spacing", lambda x: 0, at=flat, value=lambda x: None),
]

def tied(x, y):
    """Equal operands of an extremum share."""
    return (0.5, 0.5) if x == y else ASK


def other(x, y):
    """An operand that is NaN has no weight where the other one is the result."""
    return (float(x == x), float(y == y)) if (x == x) != (y == y) else tied(x, y)


def multiples(rounding):
    """The derivatives of ``x - y rounding(x / y)``, whose steps are where x is a multiple of y."""
    def at(x, y):
        with np.errstate(all="ignore"):
            quotient = np.float64(x) / np.float64(y)
            return (1, float(-rounding(quotient))) if np.isfinite(quotient) and np.isfinite(y) else None
    return at


def of_power(x, y):
    """Of x**0, constant for us also at 0, and of 0**y, for which we say 0 at y = 0."""
    if np.isinf(y) or (x == INF and y < 0) or (x == 1 and y != y):
        return None
    if y == 0:
        return (0, 0) if x == 0 else (0, None)
    return (1, 0 if x == 0 else None) if y == 1 and (x == 0 or x != x) else ASK


def of_atan2(y, x):
    """On the cut of the plane the derivative goes on; at the origin there is none."""
    if x == y == 0:
        return None
    return (1 / x if abs(x) > 1e-38 else None, 0) if y == 0 and -INF < x < 0 else ASK


def of_copysign(x, y):
    if y != y:
        return None
    sign = np.copysign(1, y) * (1 if x >= 0 else -1)
    return (sign, 0)


TWO = [
    *rows("add", lambda x, y: x + y, nan=(1, 1)), *rows("sub subtract", lambda x, y: x - y, nan=(1, -1)),
    *rows("mul multiply", lambda x, y: x * y, at=lambda x, y: (y, x)),
    *rows("div divide true_divide", lambda x, y: x / y, value=numpy_value(np.divide), nan=None),
    *rows("max maximum", max, arity=2, at=tied, nan=0), *rows("min minimum", min, arity=2, at=tied, nan=0),
    *rows("fmax", max, arity=2, at=other, nan=None, value=numpy_value(np.fmax)),
    *rows("fmin", min, arity=2, at=other, nan=None, value=numpy_value(np.fmin)),
    *rows("pow power float_power", mp.power, arity=2, value=numpy_value(np.power), at=of_power,
          grid=[0.0, -0.0, 0.5, 1.0, -1.0, 2.0, -2.5, 1e-30, INF, NAN]),
    *rows("atan2 arctan2", mp.atan2, arity=2, at=of_atan2, value=numpy_value(np.arctan2),
          grid=[v for v in EACH if v != SUBNORMAL]),
    *rows("hypot", mp.hypot, arity=2, value=numpy_value(np.hypot), at={(0, 0): (0, 0)}, nan=None),
    *rows("logaddexp", lambda x, y: mp.log(mp.exp(x) + mp.exp(y)), value=numpy_value(np.logaddexp)),
    *rows("logaddexp2", lambda x, y: mp.log(mp.power(2, x) + mp.power(2, y), 2), value=numpy_value(np.logaddexp2), slack=1),
    *rows("copysign", lambda x, y: 0, value=numpy_value(np.copysign), at=of_copysign),
    *rows("nextafter", lambda x, y: x, at=lambda x, y: (1, 0), value=lambda x, y: ASK if x == x else NAN),
    *rows("rem fmod", lambda x, y: 0, value=numpy_value(np.fmod), at=multiples(np.trunc)),
    *rows("remainder mod", lambda x, y: 0, value=numpy_value(np.remainder), at=multiples(np.floor)),
    *rows("heaviside", lambda x, y: 0, at=lambda x, y: (0, float(x == 0)) if x == x else None, value=numpy_value(np.heaviside)),
]
ROWS = SMOOTH + KINKS + STEPS + TWO


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_special_points(row):
    special_points_law(row)


@pytest.mark.parametrize("count, grid", [(1, ONE), (2, EACH)])
def test_references_say_the_same(count, grid):
    """NumPy's reference of each elementwise primitive has its values at these points. Of subnormal numbers nothing is asked."""
    points = np.array(list(itertools.product([x for x in grid if abs(x) != SUBNORMAL], repeat=count)), np.float32)
    wrong, tried = [], 0
    for name in dir(lax):
        primitive = getattr(lax, name)
        if not isinstance(primitive, Elementwise) or primitive.reference is None:
            continue
        try:
            got = np.asarray(primitive.bind(*points.T))
        except Exception:  # of other operands, or with parameters
            continue
        tried += 1
        with np.errstate(all="ignore"):
            want = np.asarray(primitive.reference(*points.T)).astype(got.dtype)
            near = np.isclose(got, want, rtol=32 * EPS, atol=FLUSHED, equal_nan=True)
        wrong += [f"{name} at {points[i]}: {got[i]}, reference {want[i]}" for i in np.nonzero(~near)[0]]
    assert not wrong and tried > 20, "; ".join(wrong)


# -- which functions there are -------------------------------------------------------------------------------------------

WITHOUT_ROW = {
    "no arithmetic": """lax.copy lax.optimization_barrier lax.stage lax.stack lax.stop_gradient lax.zeros_like_array lax.broadcast_like
        jnp.array jnp.asarray jnp.atleast_1d jnp.block jnp.copy jnp.empty_like jnp.from_dlpack jnp.hstack jnp.ones_like jnp.ravel
        jnp.stack jnp.transpose jnp.trim_zeros jnp.zeros_like jnp.full_like jnp.extract jnp.compress jnp.roll nn.identity""",
    "of complex numbers": "jnp.angle jnp.conj jnp.conjugate jnp.imag jnp.real",
    "a row of their own, with parameters": "lax.round jnp.round jnp.clip nn.celu(2) nn.elu(2) nn.leaky_relu(2) jnp.clip(2)",
    "jax.scipy.special has their rows": "lax.igamma lax.igammac lax.igamma_grad_a lax.polygamma lax.random_gamma_grad lax.zeta",
    "along an axis": "jnp.polyadd jnp.polysub jnp.unwrap jnp.histogram_bin_edges",
    "for what is not finite, by its definition": "jnp.nan_to_num",
    "a quotient of steps": "jnp.floor_divide",
}


def _elementwise(fun, count):
    """Whether the function of ``count`` float32 arrays treats each element alone, and gives float32."""
    x = np.array([0.3, 0.7, -0.4, 0.55], np.float32)
    operands, order = [x, x[::-1] + np.float32(0.1)][:count], [2, 0, 3, 1]
    try:
        whole, moved, part = (fun(*xs) for xs in (operands, [v[order] for v in operands], [v[:1] for v in operands]))
        if whole.shape != x.shape or whole.dtype != np.float32:
            return False
        return np.array_equal(moved, np.asarray(whole)[order], equal_nan=True) and np.array_equal(part, np.asarray(whole)[:1], equal_nan=True)
    except Exception:
        return False


def test_every_function_has_a_row():
    """Of lax, jax.numpy and jax.nn: each function that is elementwise by trial; a second operand may be left out."""
    known = {row.name for row in ROWS} | {name for names in WITHOUT_ROW.values() for name in names.split()}
    missing = []
    for short, module in MODULES.items():
        for name in dir(module):
            fun = getattr(module, name)
            if name.startswith("_") or not callable(fun) or inspect.isclass(fun):
                continue
            missing += [f"{short}.{name}({count})" for count in (1, 2)
                        if not known & {f"{short}.{name}", f"{short}.{name}({count})"} and _elementwise(fun, count)]
    assert not missing, f"no row for {missing}"


@pytest.mark.parametrize("function, point, want", [
    (nn.softplus, 0.0, 0.25), (nn.log_sigmoid, 0.0, -0.25), (nn.mish, 0.0, 0.64), (jnp.i0, 0.0, 0.5), (jnp.sinc, 0.0, -np.pi ** 2 / 3),
    (lambda x: jnp.logaddexp(x, 1.0), 1.0, 0.25), (lambda x: jnp.logaddexp2(1.0, x), 1.0, np.log(2) / 4),
    (lambda x: jnp.hypot(x, 2.0), 2.0, 2 ** 0.5 / 8), (lambda x: jnp.hypot(x, 2.0), 0.0, 0.5),
    (lambda x: nn.logsumexp(jnp.stack([x, LARGEST])), LARGEST, 0.25)])
def test_second_derivative_at_a_tie(function, point, want):
    assert np.allclose(grad(grad(function))(point), want, rtol=1e-5)


@pytest.mark.parametrize("x, y, want", [(LARGEST, LARGEST, 0.5 ** 0.5), (-LARGEST, 3e38, -0.75), (LARGEST, 1.0, 1.0), (INF, LARGEST, 1.0), (LARGEST, INF, 0.0)])
def test_slope_of_hypot_where_it_overflows(x, y, want):
    assert np.allclose(grad(jnp.hypot)(x, y), want, rtol=0.01 if want == -0.75 else 1e-6)


@pytest.mark.parametrize("function", [nn.softplus, nn.log_sigmoid, nn.sigmoid, nn.relu, nn.silu, jnp.tanh, jnp.sqrt, jnp.exp, lambda x: jnp.logaddexp(x, 1.0),
                                      lambda x: jnp.logaddexp(2.0, x), lambda x: jnp.logaddexp2(x, 1.0), lambda x: jnp.hypot(x, 1.0), lambda x: 1.5 / x, lambda x: x / 3])
def test_an_infinite_tangent_is_multiplied(function):
    """By a slope that is neither 0 nor infinite: terms of opposite signs would be NaN."""
    slope = grad(function)(1.0)
    for t in (INF, -INF):
        assert jvp(function, (1.0,), (t,))[1] == vjp(function, 1.0)[1](t)[0] == t * slope


@pytest.mark.parametrize("z", [0.5j, -1j, 1.5, 0.05, 2.0, -3.0, 2.25 + 1j, 1 - 0.2j])
def test_slope_of_complex_sinc(z):
    """In each direction, and by the transposed rule."""
    z = np.complex64(z)
    w = np.pi * complex(z)
    want = np.pi * (np.cos(w) / w - np.sin(w) / w ** 2)
    for t in (1, 1j):
        np.testing.assert_allclose(jvp(jnp.sinc, (z,), (np.complex64(t),))[1], t * want, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(vjp(jnp.sinc, z)[1](np.complex64(t))[0], t * want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("z", [2 + 1e6j, 1j * 3e7, -1 + 1e5j, -3 - 2j, 0.5 + 3.1j])
def test_complex_softplus(z):
    z = complex(np.complex64(z))
    np.testing.assert_allclose(nn.softplus(np.complex64(z)), np.log1p(np.exp(z)), rtol=1e-5, atol=1e-6)


def test_spacing_of_half_precision_is_numpys():
    x = np.array([-1, 1, 0, -0.0, 2, -2, 3, -3, 65504, -65504, INF, -INF, NAN, 6e-8, -6e-8, 6.1e-5, -6.1e-5], np.float16)
    with np.errstate(all="ignore"):
        assert np.array_equal(jnp.spacing(x), np.spacing(x), equal_nan=True)


# -- functions of several elements ---------------------------------------------------------------------------------------

@pytest.mark.parametrize("function, point, want", [
    (lambda x: lax.cummax(x), [1.0, 1.0, 0.0], [2, 1, 0]), (lambda x: lax.cummax(x), [1.0, NAN, 2.0], [1, 0, 0]),
    (lambda x: lax.clamp(*x), [0.0, 0.0, 2.0], [0, 0, 0]), (lambda x: lax.clamp(*x), [0.0, 3.0, 2.0], [0, 0, 1]),
    (lambda x: lax.clamp(*x), [3.0, 1.0, 2.0], [0, 0, 1]), (lambda x: lax.clamp(*x), [1.0, 0.0, 2.0], [1, 0, 0]),
    (lambda x: jnp.sort(x), [], []), (lambda x: lax.top_k(x, 0)[0], [], []),
    (lambda x: nn.softmax(x, where=np.zeros(2, bool))[0], [1.0, 2.0], [0, 0]),
    (lambda x: nn.log_softmax(x, where=np.zeros(2, bool))[0], [1.0, 2.0], [0, 0])])
def test_gradient(function, point, want):
    got = grad(lambda x: jnp.sum(function(x)))(np.array(point, np.float32))
    assert np.array_equal(got, np.array(want, np.float32))


@pytest.mark.parametrize("x, where, want", [
    ([1, 2], [False, False], [0, 0]), ([INF, 1], [True, True], [NAN, NAN]), ([-INF, -INF], [True, True], [NAN, NAN]),
    ([INF, 1], [False, True], [0, 1]), ([NAN, 1], [False, True], [0, 1]), ([-INF, 1], [True, True], [0, 1])])
def test_softmax_where(x, where, want):
    assert np.array_equal(nn.softmax(np.array(x, np.float32), where=np.array(where)), np.array(want, np.float32), equal_nan=True)


# -- the law catches wrong rules -----------------------------------------------------------------------------------------

def planted(fun, tangent):
    """``fun`` with the tangent ``tangent(g, *operands)``."""
    wrong = custom_jvp(fun)
    wrong.defjvp(lambda primals, tangents: (fun(*primals), tangent(tangents, *primals)))
    return wrong


def fails(row, message):
    with pytest.raises(AssertionError, match=message):
        special_points_law(row)


def test_a_wrong_derivative_at_a_tie_is_caught():
    """As log(exp x + exp y) by ``max + log1p(exp(-abs(x - y)))`` has it."""
    def tangent(g, x, y):
        larger = lax.ge(y, x)
        weight = lax.logistic(lax.neg(lax.abs(lax.sub(x, y))))
        weight = lax.select(lax.eq(x, y), lax.full_like(x, 0), weight)
        return lax.add(lax.mul(g[0], lax.select(larger, weight, lax.sub(lax.full_like(x, 1), weight))),
                       lax.mul(g[1], lax.select(larger, lax.sub(lax.full_like(x, 1), weight), weight)))

    def value(x, y):
        return lax.add(lax.max(x, y), lax.log1p(lax.exp(lax.neg(lax.abs(lax.sub(x, y))))))
    row = At(planted(value, tangent), lambda x, y: mp.log(mp.exp(x) + mp.exp(y)), grid=[0.5, 2.0], name="tied")
    fails(row, r"^special points of tied: derivative by operand 0 at \(0.5, 0.5\) is 0.0 \(jvp\) and 0.0 \(vjp\), expected 0.5;")


def test_a_kink_must_be_told():
    fails(At(lambda x: lax.max(x, 0.0), lambda x: max(x, 0), nan=0, name="ramp"), "0.0 from below or 1.0 from above: a kink, which the row")


def test_another_slope_at_a_kink_is_caught():
    fails(At(lambda x: lax.max(x, 0.0), lambda x: max(x, 0), nan=0, at={0: 0}, name="ramp"), r"derivative at \(0\) is 0.5 \(jvp\)")


def test_swallowed_nan_is_caught():
    swallows = planted(lambda x: lax.sin(x), lambda g, x: lax.select(lax.eq(x, x), lax.mul(g[0], lax.cos(x)), lax.full_like(x, 0)))
    row = At(swallows, mp.sin, name="sin")
    fails(row, r"^special points of sin: derivative at \(nan\) is 0.0 \(jvp\), expected nan$")


def test_a_wrong_value_at_infinity_is_caught():
    fails(At(lambda x: lax.sub(x, lax.sub(x, lax.exp(x))), mp.exp, name="exp"), r"value at \(inf\) is nan, expected inf")


def test_nan_for_a_limit_at_infinity_is_caught():
    fails(At(lambda x: lax.mul(x, lax.logistic(x)), lambda x: x / (1 + mp.exp(-x)), name="silu"),
          r"derivative at \(inf\) is nan \(jvp\) and nan \(vjp\), expected 1$")


def test_logarithms_of_complex_numbers_by_their_parts():
    z = np.array([0, complex(0, np.inf), complex(-np.inf, 1), 2, 1j], np.complex64)
    for fun, base in (jnp.log2, 2), (jnp.log10, 10):
        want = np.array([complex(p.real / np.log(base), p.imag / np.log(base)) for p in jnp.log(z)])
        for got in fun(z), jit(fun)(z):
            np.testing.assert_allclose(got.real, want.real, rtol=1e-6)
            np.testing.assert_allclose(got.imag, want.imag, rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128], ids=lambda d: d.__name__)
def test_inverse_functions_beside_their_cuts(dtype):
    """A zero's sign says the side, of the value and of the slope: a number beside it, on that side, has nearly the same."""
    across = [complex(x, y) for x in (-3, -0.5, 0.5, 3) for y in (0.0, -0.0)]
    z = np.array(across + [complex(y, x) for x in (-3, -0.5, 0.5, 3) for y in (0.0, -0.0)], dtype)
    inside = z.astype(np.complex128) + 1e-9 * (np.copysign(1, z.real) + 1j * np.copysign(1, z.imag))
    with flags.enable_x64(dtype == np.complex128):
        for name in ("sqrt", "arcsin", "arccos", "arcsinh", "arccosh", "arctanh", "log"):
            reference = getattr(np, name)
            slope = (reference(inside + 1e-10 * z.real) - reference(inside - 1e-10 * z.real)) / 2e-10
            out, tangent = jvp(getattr(jnp, name), [z], [z.real.astype(dtype)])
            np.testing.assert_allclose(out, reference(inside), rtol=1e-6, atol=1e-6, err_msg=name)
            np.testing.assert_allclose(tangent, slope, rtol=1e-4, atol=1e-5, err_msg=name)


def test_slope_of_arcsinh_beside_its_cut():
    """A zero's sign says the side."""
    z = np.array([complex(-0.0, 2), complex(0.0, 2), complex(0.0, -100), complex(-0.0, -100)], np.complex64)
    slope = jvp(jnp.arcsinh, [z], [np.ones_like(z)])[1]
    np.testing.assert_allclose(slope.imag, [0.57735026, -0.57735026, 0.0100005, -0.0100005], rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128], ids=lambda d: d.__name__)
def test_direction_of_complex_numbers(dtype):
    """Also of those whose size overflows, and of infinite ones; the part along the number of a tangent too, which is a slope of the size."""
    big = np.finfo(dtype).max
    z = np.array([complex(big, big), complex(-np.inf, 0), complex(3, -np.inf), complex(0, big), complex(1e-30, -1e-30), 0, -4j, 3 + 4j], dtype)
    want = np.array([complex(1, 1) / np.sqrt(2), -1, -1j, 1j, complex(1, -1) / np.sqrt(2), 0, -1j, 0.6 + 0.8j])
    with flags.enable_x64(dtype == np.complex128):
        for f in (jnp.sign, jit(jnp.sign)):
            np.testing.assert_allclose(f(z), want, rtol=1e-6 if dtype == np.complex64 else 1e-14)
        assert np.isnan(jnp.sign(np.array([complex(np.nan, 1), complex(0, np.nan)], dtype))).all()
        for t, along in (1, want.real), (1j, want.imag):
            np.testing.assert_allclose(jvp(jnp.abs, (z,), (np.full_like(z, t),))[1], along, rtol=1e-6)


def test_slope_of_complex_arcsinh_where_the_square_overflows():
    z = np.complex64([2e19 + 1e-3j, -2e30 - 2e30j, 1e30j, complex(-0.0, 1e12)])
    np.testing.assert_allclose(jvp(jnp.arcsinh, [z], [np.ones_like(z)])[1], [5e-20, 2.5e-31 - 2.5e-31j, -1e-30j, 1e-12j], rtol=1e-5, atol=1e-37)


@pytest.mark.parametrize("size", [1, 1 << 17])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, jnp.bfloat16])
def test_subnormal_sides_of_an_angle_are_zeros(dtype, size):
    """As they are where they are divided."""
    with flags.enable_x64(True):
        tiny = float(jnp.finfo(dtype).tiny) / 4
        y, x = (np.repeat(np.array(sides, dtype), size) for sides in ([tiny, -tiny, tiny, -tiny, tiny, 0, tiny], [tiny, tiny, -tiny, -tiny, 0, -tiny, 1]))
        found = np.asarray(jit(lax.atan2)(y, x), np.float64).reshape(-1, size)
        expected = np.arctan2([0.0, -0.0, 0.0, -0.0, 0.0, 0.0, 0.0], [0.0, 0.0, -0.0, -0.0, 0.0, -0.0, 1.0])
        np.testing.assert_allclose(found, np.broadcast_to(expected[:, None], found.shape), rtol=1e-2, atol=tiny)
