"""Laws of the elementwise primitives."""
import numpy as np
import pytest
import scipy.special

from harness import LAWS, Case
from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.representation.dtypes import float0
from jax_core.transformations.autodiff import jvp, linear_transpose, vjp
from jax_numpy_api import lax

FLOATS = "f32[3,2] bf16[5] f16[4] f32[] f32[0,2]"
INEXACT = FLOATS + " c64[3]"
PAIRS = "f32[3,2],f32[3,2] f32[3],f32[] bf16[4],bf16[4] f32[0],f32[0]"
INTS = "i32[3,4] i8[5] u8[4] u32[3] i16[]"
INT_PAIRS = "i32[3,4],i32[3,4] i8[5],i8[5] u8[4],u8[4] u32[3],u32[]"
BOOL_PAIRS = INT_PAIRS + " bool[6],bool[6]"


def wide(function):
    """A float64 reference for narrower floats."""
    def reference(*xs):
        out = function(*(np.asarray(x).astype(np.float64) if np.asarray(x).dtype.kind != "c" else x for x in xs))
        return np.asarray(out).astype(np.asarray(xs[0]).dtype if np.asarray(out).dtype.kind == "f" else np.asarray(out).dtype)
    return reference


UNARY = [Case(getattr(lax, n), INEXACT, reference=wide(f), tolerance=tolerance) for n, f, tolerance in [
    ("neg", np.negative, 0), ("sin", np.sin, 4), ("cos", np.cos, 4), ("tan", np.tan, 16), ("exp", np.exp, 4),
    ("exp2", np.exp2, 8), ("expm1", np.expm1, 8), ("sinh", np.sinh, 8), ("cosh", np.cosh, 8), ("tanh", np.tanh, 8),
    ("atan", np.arctan, 8), ("asinh", np.arcsinh, 8), ("logistic", lambda x: 1 / (1 + np.exp(-x)), 8),
    ("square", np.square, 4), ("one_minus_square", lambda x: 1 - x * x, 4)]]
POSITIVE = [Case(getattr(lax, n), INEXACT, reference=wide(f), domain=(0.3, 2.0), tolerance=8) for n, f in [
    ("log", np.log), ("log2", np.log2), ("log1p", np.log1p), ("sqrt", np.sqrt), ("rsqrt", lambda x: 1 / np.sqrt(x)),
    ("reciprocal", lambda x: 1 / x)]]
UNIT = [Case(getattr(lax, n), INEXACT, reference=wide(f), domain=(-0.8, 0.8), tolerance=16) for n, f in [
    ("asin", np.arcsin), ("acos", np.arccos), ("atanh", np.arctanh)]]
REAL = [
    Case(lax.acosh, INEXACT, reference=wide(np.arccosh), domain=(1.2, 3.0), tolerance=16),
    Case(lax.cbrt, FLOATS, reference=wide(np.cbrt), domain=(0.3, 2.0)),
    Case(lax.abs, "f32[3,2] c64[4] bf16[5] i32[3] i8[2] f32[0]", tolerance=4),
    Case(lax.sign, "f32[3,2] c64[4] bf16[5] i32[3] i8[2] u8[3] f32[0]", tolerance=4),
    Case(lax.floor, FLOATS, tolerance=0), Case(lax.ceil, FLOATS, tolerance=0),
    Case(lax.round, FLOATS, rounding_method=lax.RoundingMethod.AWAY_FROM_ZERO, tolerance=0),
    Case(lax.round, FLOATS, rounding_method=lax.RoundingMethod.TO_NEAREST_EVEN, tolerance=0),
    Case(lax.is_finite, FLOATS),
    Case(lax.erf, FLOATS, reference=wide(scipy.special.erf)), Case(lax.erfc, FLOATS, reference=wide(scipy.special.erfc)),
    Case(lax.erf_inv, FLOATS, domain=(-0.9, 0.9), reference=wide(scipy.special.erfinv)),
    Case(lax.lgamma, FLOATS, domain=(0.3, 5), reference=wide(scipy.special.gammaln), tolerance=16),
    Case(lax.digamma, FLOATS, domain=(0.3, 5), reference=wide(scipy.special.digamma), tolerance=16),
    Case(lax.bessel_i0e, FLOATS, domain=(0.1, 20), reference=wide(scipy.special.i0e), tolerance=4),
    Case(lax.bessel_i1e, FLOATS, domain=(0.1, 20), reference=wide(scipy.special.i1e), tolerance=16),
]
BINARY = [
    Case(lax.add, PAIRS + " c64[3],c64[] " + INT_PAIRS, tolerance=1), Case(lax.sub, PAIRS + " c64[3],c64[] " + INT_PAIRS, tolerance=1),
    Case(lax.mul, PAIRS + " c64[3],c64[] " + INT_PAIRS, tolerance=4),
    Case(lax.div, PAIRS + " c64[3],c64[]", tolerance=4, domain=[(-2, 2), (0.5, 2)]), Case(lax.div, INT_PAIRS),
    Case(lax.div, "f32[],f32[3] f32[3],f32[]", domain=[(-2, 2), (0.5, 2)]), Case(lax.mul, "f32[],f32[3] f32[3],f32[1]"),
    Case(lax.sub, "f32[],f32[3]"), Case(lax.max, "f32[],f32[3]"), Case(lax.pow, "f32[],f32[3]", domain=(0.3, 2.0)),
    Case(lax.rem, PAIRS + " " + INT_PAIRS, tolerance=8, domain=[(-20, 20), (0.9, 1.5)]),
    Case(lax.max, PAIRS + " c64[3],c64[3] " + BOOL_PAIRS, tolerance=0, reference=lambda x, y: np.maximum(x, y)),
    Case(lax.min, PAIRS + " c64[3],c64[3] " + BOOL_PAIRS, tolerance=0, reference=lambda x, y: np.minimum(x, y)),
    Case(lax.pow, PAIRS + " c64[3],c64[3] f32[3],i32[3]", domain=(0.3, 2.0), tolerance=16),
    Case(lax.pow, "f32[3],i32[3]", domain=(0.3, 3.0), tolerance=16),
    Case(lax.atan2, PAIRS, reference=wide(np.arctan2)),
    Case(lax.nextafter, "f32[3,2],f32[3,2] f32[3],f32[] f32[0],f32[0]", tolerance=0, derivative=False),
    Case(lax.complex, "f32[3],f32[3] f32[2],f32[] f32[0],f32[0]", tolerance=0),
    Case(lax.real, "c64[3,2] c64[0]", tolerance=0), Case(lax.imag, "c64[3,2] c64[0]", tolerance=0),
    Case(lax.conj, "c64[3,2] f32[3] bf16[3] f16[2]", tolerance=0), Case(lax.conj, "f32[3]", tolerance=0),
    Case(lax.polygamma, "f32[3],f32[3]", reference=False, derivative=False),
    Case(lambda x: lax.polygamma(lax.full_like(x, 2), x), "f32[3] bf16[2]", name="polygamma", domain=(0.5, 3),
         reference=wide(lambda x: scipy.special.polygamma(2, x)), tolerance=32),
    Case(lambda q: lax.zeta(lax.full_like(q, 3), q), "f32[3] bf16[2]", name="zeta", domain=(0.5, 3),
         reference=wide(lambda q: scipy.special.zeta(3, q)), tolerance=32),
    Case(lax.igamma, "f32[4],f32[4] f32[3],f32[] bf16[3],bf16[3]", vmapped=False, domain=(0.3, 5), tolerance=64, order=1,
         reference=wide(scipy.special.gammainc)),
    Case(lax.igammac, "f32[4],f32[4] f32[3],f32[] bf16[3],bf16[3]", vmapped=False, domain=(0.3, 5), tolerance=64, order=1,
         reference=wide(scipy.special.gammaincc)),
    Case(lax.betainc, "f32[4],f32[4],f32[4] f32[3],f32[],f32[3]", vmapped=False, domain=[(0.3, 5), (0.3, 5), (0.05, 0.95)], tolerance=64,
         derivative=False, reference=wide(scipy.special.betainc)),
    Case(lambda x: lax.betainc(lax.full_like(x, 2.5), lax.full_like(x, 1.5), x), "f32[4]", name="betainc", domain=(0.1, 0.9),
         tolerance=64, reference=wide(lambda x: scipy.special.betainc(2.5, 1.5, x))),
    Case(lax.igamma_grad_a, "f32[4],f32[4]", vmapped=False, domain=(0.3, 5), derivative=False, reference=False),
    Case(lax.random_gamma_grad, "f32[4],f32[4]", vmapped=False, domain=(0.3, 5), derivative=False, reference=False),
]
POWERS = [Case(lax.integer_pow, "f32[3] bf16[3] c64[2]", y=y, domain=(0.5, 1.5), tolerance=32) for y in (-3, -1, 0, 1, 2, 3, 15)] + [
    Case(lax.integer_pow, INTS, y=3), Case(lax.mul, "f32[3],f32[3] f16[3],f16[3]", out_dtype=np.float32, tolerance=2, derivative=False),
    Case(lax.mul, "f32[3],f16[3] f16[3],c64[3] i8[3],f32[3]", out_dtype=np.float32, tolerance=2, name="mul of mixed dtypes", derivative=False),
    Case(lambda x, a, b, c: lax.polynomial(x, [a, b, c]), "f32[3],f32[],f32[],f32[]", name="polynomial",
         reference=lambda x, a, b, c: a + x * (b + x * c))]
COMPARISONS = [Case(getattr(lax, n), PAIRS + " " + BOOL_PAIRS) for n in ("eq", "ne", "lt", "le", "gt", "ge")] + [
    Case(lax.eq, "c64[3],c64[3]"), Case(lax.lt_to_p.bind, PAIRS, name="lt_to"), Case(lax.le_to_p.bind, PAIRS, name="le_to"),
    Case(lax.eq_to_p.bind, PAIRS, name="eq_to")]
BITS = [
    Case(lax.bitwise_and, BOOL_PAIRS, reference=np.bitwise_and), Case(lax.bitwise_or, BOOL_PAIRS, reference=np.bitwise_or),
    Case(lax.bitwise_xor, BOOL_PAIRS, reference=np.bitwise_xor),
    Case(lax.bitwise_not, INTS + " bool[4]", reference=np.invert),
    Case(lax.shift_left, INT_PAIRS, domain=[(-100, 100), (-3, 40)]),
    Case(lax.shift_right_logical, INT_PAIRS, domain=[(-100, 100), (-3, 40)]),
    Case(lax.shift_right_arithmetic, INT_PAIRS, domain=[(-100, 100), (-3, 40)]),
    Case(lax.population_count, INTS, domain=(-100, 100)), Case(lax.clz, INTS, domain=(-100, 100)),
    Case(lax.mulhi, INT_PAIRS, domain=(-120, 120))]
CHOICES = [
    Case(lax.select, "bool[3,2],f32[3,2],f32[3,2] bool[],f32[3],f32[3] bool[2],i8[2],i8[2] bool[],c64[2],c64[2]",
         reference=np.where, tolerance=0),
    Case(lax.select, "bool[],f32[3],f32[3]", reference=np.where, tolerance=0),
    Case(lax.select_n, "i32[4],f32[4],f32[4],f32[4] i32[],i8[2],i8[2],i8[2] bool[3],f32[3]", domain=(0, 2), tolerance=0),
    Case(lax.clamp, "f32[],f32[3,2],f32[] f32[3],f32[3],f32[3] i32[],i32[4],i32[] bf16[2],bf16[2],bf16[]",
         domain=[(-1, 0), (-2, 2), (0.5, 1)], tolerance=0),
    Case(lax.clamp, "f32[4],f32[4],f32[]", domain=[(-1, 0), (-2, 2), (0.5, 1)], tolerance=0)]
CASES = UNARY + POSITIVE + UNIT + REAL + BINARY + POWERS + COMPARISONS + BITS + CHOICES


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_law(case, law):
    law(case)


@pytest.mark.filterwarnings("ignore:a conversion from complex64")
@pytest.mark.parametrize("out", [np.float16, np.float32, np.complex64])
@pytest.mark.parametrize("dtypes", [(np.float32, np.float16), (np.complex64, np.float32), (np.complex64, np.complex64)], ids=str)
def test_derivatives_of_a_product_in_another_dtype(dtypes, out):
    x, y = (np.array([0.5, -1.25], d) * (1 + 2j if d is np.complex64 else 1) for d in dtypes)
    value, pull = vjp(lambda x, y: lax.mul(x, y, out_dtype=out), x, y)
    wanted, pull_wanted = vjp(lambda x, y: lax.mul(lax.convert_element_type(x, out), lax.convert_element_type(y, out)), x, y)
    np.testing.assert_array_equal(value, wanted)
    cotangent = np.array([1, 3], out) * (2 - 1j if out is np.complex64 else 1)
    for got, want in zip(pull(cotangent), pull_wanted(cotangent)):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(linear_transpose(lambda x: lax.mul(x, y, out_dtype=out), x)(cotangent)[0], pull_wanted(cotangent)[0])


def test_the_cotangent_of_a_product_is_found_in_the_dtype_of_the_factor():
    x, y = np.float32(300), np.float32(300)
    assert vjp(lambda x: lax.mul(x, y, out_dtype=np.float16), x)[1](np.float16(300))[0] == 90000  # beyond float16


def test_mul_to_integers_has_no_tangent():
    assert jvp(lambda x: lax.mul(x, x, out_dtype=np.int32), (2.5,), (1.0,))[1].dtype == float0


def test_the_sign_of_an_angle_of_a_subnormal_number():
    """XLA's own function has -pi for a positive one."""
    with flags.enable_x64(True):
        assert jit(lax.atan2)(np.float64([5e-324, -5e-324, 1e-310]), np.float64([-1, -1, -1e300])).tolist() == [np.pi, -np.pi, np.pi]
