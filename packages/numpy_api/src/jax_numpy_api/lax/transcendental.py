"""Exponential, logarithmic, trigonometric and hyperbolic functions, of floats and complex numbers.

Each is a row: name, op, derivative, NumPy reference. `exp2` and `log2` are exact at integers and powers of two. The
derivatives avoid cancellation: ``1 - tanh(x)**2`` is computed as ``(1 - t)(1 + t)``, the derivative of `expm1` as
``exp(x)``, and that of `atan2` does not overflow before its result does.

Source: StableHLO and CHLO specifications; derivatives: Abramowitz & Stegun, chapter 4.
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from jax_core.representation import dtypes
from jax_core.representation.array import Array
from jax_core.representation.aval import get_aval
from jax_core.representation.primitive import Primitive
from jax_core.representation.traits import Algebra, Quick, Reach
from jax_core.representation.typing import ArrayLike

from .accuracy import Accuracy, accuracy_text
from .arithmetic import (
    add_p,
    div_p,
    in_dtype,
    max_p,
    min_p,
    mul_p,
    neg_p,
    one_minus_square_p,
    rsqrt_p,
    square_p,
    sub_p,
    with_accuracy,
)
from .compare import emit_compare, eq_p, gt_p, lt_p, zero_for_subnormal
from .complex import abs_p, complex_p, imag_p, real_p
from .convert import stop_gradient_p
from .cuts import beside_cut
from .elementary_cpu import exponential, inverse, logarithmic, trigonometric
from .elementary_cpu.lanes import FEW, Formulation
from .nary import INEXACT, apply, constant, elementwise, emit, full_operands, op
from .select import select_n_p

if TYPE_CHECKING:
    from jax_core.interfaces import Builder, Value

_LN2 = math.log(2)


def _times(g, factor):
    return mul_p.bind(g, factor)


def _one_plus(x):
    return add_p.bind(x, constant(1, x))


def _asinh_slope(x):
    """``1 / sqrt(1 + x^2)``, of floats with ``x`` divided by its size first, as the square overflows where the result does
    not. The result does not depend on what it is divided by, so that counts as a constant."""
    dtype = get_aval(x).dtype
    if dtype.kind == "c":
        parts = real_p.bind(x), imag_p.bind(x)
        size = stop_gradient_p.bind(max_p.bind(*[abs_p.bind(part) for part in parts]))
        size = min_p.bind(select_n_p.bind(gt_p.bind(size, constant(1e6, size)), constant(1, size), size), constant(float(dtypes.finfo(size.dtype).max), size))
        square = square_p.bind(complex_p.bind(*[div_p.bind(part, size) for part in parts]))
        small = div_p.bind(constant(1, size), size)
        rest = add_p.bind(real_p.bind(square), square_p.bind(small))  # the real part alone: the sign of an imaginary zero says the side of the cut
        return mul_p.bind(rsqrt_p.bind(complex_p.bind(rest, imag_p.bind(square))), complex_p.bind(small, constant(0, small)))
    largest = constant(float(dtypes.finfo(dtype).max), x)
    size = stop_gradient_p.bind(min_p.bind(max_p.bind(abs_p.bind(x), constant(1, x)), largest))
    small = div_p.bind(constant(1, x), size)
    return mul_p.bind(small, rsqrt_p.bind(add_p.bind(square_p.bind(small), square_p.bind(div_p.bind(x, size)))))


class _Format:
    """Bits of a float: its dtype, the integer dtype of its width, width of the mantissa, bias of the exponent."""

    def __init__(self, dtype):
        double = dtype == np.float64
        self.dtype = dtype
        self.integer = np.dtype(np.int64 if double else np.int32)
        self.mantissa, self.bias = (52, 1023) if double else (23, 127)


def _power_of_two(b, k, fmt):
    """``2 ** k`` for integers ``k`` in the exponent's range, by writing the exponent."""
    exponent = emit(b, "stablehlo.add", k, b.full(fmt.bias, k.aval))
    bits = emit(b, "stablehlo.shift_left", exponent, b.full(fmt.mantissa, exponent.aval))
    return b.emit(f"stablehlo.bitcast_convert {bits}", bits, out=k.aval.update(dtype=fmt.dtype))


def _exp2_plain(b, x, accuracy=None):
    """``2^n exp(f log 2)`` for ``x = n + f`` with ``|f| <= 1/2``: exact at integers, where ``exp(x log 2)`` loses digits as x
    grows. ``2^n`` is made of two factors, as one may overflow where the result does not."""
    if x.aval.dtype.kind == "c" or accuracy is not None:
        scaled = emit(b, "stablehlo.multiply", x, b.full(_LN2, x.aval))
        return b.emit(f"stablehlo.exponential {scaled}", scaled, out=b.out_avals[0], attrs=accuracy_text(accuracy))
    dtype = x.aval.dtype
    x = b.convert(x, _at_least_float32(dtype))
    fmt = _Format(x.aval.dtype)
    bound = 2 * (fmt.bias - 1)
    low, high = b.full(-bound, x.aval), b.full(bound, x.aval)
    n = emit(b, "stablehlo.round_nearest_even", emit(b, "stablehlo.clamp", low, x, high))
    fraction = emit(b, "stablehlo.multiply", emit(b, "stablehlo.subtract", x, n), b.full(_LN2, x.aval))
    whole = b.convert(n, fmt.integer)
    half = emit(b, "stablehlo.shift_right_arithmetic", whole, b.full(1, whole.aval))
    out = emit(b, "stablehlo.exponential", fraction)
    for k in (half, emit(b, "stablehlo.subtract", whole, half)):
        out = emit(b, "stablehlo.multiply", out, _power_of_two(b, k, fmt))
    return b.convert(out, dtype)


def _log2_plain(b, x, accuracy=None):
    """``e + log(m) / log 2`` for ``x = m 2^e`` with m between sqrt(1/2) and sqrt(2): exact at powers of two. Zero, negative,
    subnormal and infinite numbers and NaN are taken as they are, with ``e = 0``."""
    if x.aval.dtype.kind == "c" or accuracy is not None:
        log = b.emit(f"stablehlo.log {x}", x, out=b.out_avals[0], attrs=accuracy_text(accuracy))
        if x.aval.dtype.kind != "c":
            return emit(b, "stablehlo.divide", log, b.full(_LN2, x.aval))
        part = x.aval.update(dtype=dtypes.finfo(x.aval.dtype).dtype)  # each by itself: infinity over a complex number is NaN
        parts = [emit(b, "stablehlo.divide", b.emit(f"stablehlo.{name} {log}", log, out=part), b.full(_LN2, part)) for name in ("real", "imag")]
        return b.emit(f"stablehlo.complex {parts[0]}, {parts[1]}", *parts, out=b.out_avals[0])
    dtype = x.aval.dtype
    x = b.convert(x, _at_least_float32(dtype))
    m, e = _split_exponent(b, x)
    log = emit(b, "stablehlo.multiply", emit(b, "stablehlo.log", m), b.full(1 / _LN2, x.aval))
    return b.convert(emit(b, "stablehlo.add", e, log), dtype)


def _split_exponent(b, x):
    """``m`` and ``e`` of `_log2_plain`. Adding the distance from sqrt(1/2) to 1 to the bits carries into the exponent exactly
    where m would exceed sqrt(2)."""
    fmt = _Format(x.aval.dtype)
    ints = x.aval.update(dtype=fmt.integer)
    one = fmt.bias << fmt.mantissa
    root = int(np.array(math.sqrt(0.5), x.aval.dtype).view(fmt.integer))
    bits = b.emit(f"stablehlo.bitcast_convert {x}", x, out=ints)
    lowest, top = b.full(1 << fmt.mantissa, ints), b.full((2 * fmt.bias + 1) << fmt.mantissa, ints)
    normal = emit(b, "stablehlo.and", emit_compare(b, "GE", bits, lowest), emit_compare(b, "LT", bits, top))
    shifted = emit(b, "stablehlo.add", bits, b.full(one - root, ints))
    exponent = emit(b, "stablehlo.subtract", emit(b, "stablehlo.shift_right_arithmetic", shifted, b.full(fmt.mantissa, ints)),
                    b.full(fmt.bias, ints))
    m_bits = emit(b, "stablehlo.subtract", bits, emit(b, "stablehlo.shift_left", exponent, b.full(fmt.mantissa, ints)))
    m = b.emit(f"stablehlo.bitcast_convert {m_bits}", m_bits, out=x.aval)
    e = b.convert(exponent, x.aval.dtype)
    zero = b.full(0, x.aval)
    return (b.emit(f"stablehlo.select {normal}, {m}, {x}", normal, m, x, out=x.aval),
            b.emit(f"stablehlo.select {normal}, {e}, {zero}", normal, e, zero, out=x.aval))


def _at_least_float32(dtype):
    return np.dtype(np.float64 if dtype == np.float64 else np.float32)


def _of_parts(combine):
    """The lowering of `sin` and `cos`: that of a complex ``x + iy`` by ``combine(b, sin x, cos x, sinh y, cosh y)``, as the op
    itself subtracts exponentials, which leaves no digit of a small ``y``."""
    def decorate(name: str):
        plain = op(name)

        def lower(b: Builder, z: Value, accuracy=None):
            if z.aval.dtype.kind != "c" or accuracy is not None:
                return plain(b, z, accuracy)
            x, y = _parts(b, z)
            real, imag = combine(b, *_sin_cos(b, x), *_sinh_cosh(b, y))
            return b.emit(f"stablehlo.complex {real}, {imag}", real, imag, out=b.out_avals[0])
        return lower
    return decorate


def _parts(b, z):
    part = z.aval.update(dtype=np.dtype(np.float64 if z.aval.dtype == np.complex128 else np.float32))
    return [b.emit(f"stablehlo.{which} {z}", z, out=part) for which in ("real", "imag")]


def _sin_cos(b, x):
    return [emit(b, f"stablehlo.{name}", x) for name in ("sine", "cosine")]


def _hyperbolic(which):
    """The lowering of `sinh` (0) and `cosh` (1): CHLO's error grows with the argument, to hundreds of units in float64."""
    def lower(b: Builder, z: Value):
        dtype = z.aval.dtype
        if dtype.kind != "c":
            return b.convert(_sinh_cosh(b, b.convert(z, _at_least_float32(dtype)))[which], dtype)
        x, y = _parts(b, z)
        pair, (sin, cos) = _sinh_cosh(b, x), _sin_cos(b, y)
        real, imag = _zero_wins(b, pair[which], cos), _zero_wins(b, pair[1 - which], sin)
        return b.emit(f"stablehlo.complex {real}, {imag}", real, imag, out=b.out_avals[0])
    return lower


def _sinh_cosh(b, y):
    """With ``m = exp(|y|) - 1`` the first is ``(m + m / (m + 1)) / 2``. Near the largest number, where ``exp`` overflows
    before they do, both are ``exp(|y| - c) exp(c) / 2`` for a ``c`` with which the difference is exact."""
    half, one = b.full(0.5, y.aval), b.full(1, y.aval)
    limit, c = (700, 64) if y.aval.dtype == np.float64 else (88, 16)
    size = emit(b, "stablehlo.abs", y)
    edge = emit_compare(b, "GT", size, b.full(limit, y.aval))
    less = emit(b, "stablehlo.subtract", size, b.full(c, y.aval))
    size = b.emit(f"stablehlo.select {edge}, {less}, {size}", edge, less, size, out=y.aval)
    m, e = (emit(b, f"stablehlo.exponential{suffix}", size) for suffix in ("_minus_one", ""))
    sinh = emit(b, "stablehlo.add", m, emit(b, "stablehlo.divide", m, emit(b, "stablehlo.add", m, one)))
    cosh = emit(b, "stablehlo.add", e, emit(b, "stablehlo.divide", one, e))
    out = []
    for large, v in ((m, sinh), (e, cosh)):
        large, v = (emit(b, "stablehlo.multiply", *pair) for pair in ((large, b.full(math.exp(c) / 2, y.aval)), (v, half)))
        out.append(b.emit(f"stablehlo.select {edge}, {large}, {v}", edge, large, v, out=y.aval))
    return [emit(b, "stablehlo.multiply", out[0], emit(b, "stablehlo.sign", y)), out[1]]


def _zero_wins(b, x, y):
    """``x y``, where zero times infinity or NaN is zero, with the sign of the product if there is one."""
    zero, one = b.full(0, x.aval), b.full(1, x.aval)
    either = emit(b, "stablehlo.or", emit_compare(b, "EQ", x, zero), emit_compare(b, "EQ", y, zero))
    signs = []
    for v in (x, y):
        number = emit_compare(b, "EQ", v, v)
        v = b.emit(f"stablehlo.select {number}, {v}, {one}", number, v, one, out=v.aval)
        signs.append(emit(b, "stablehlo.clamp", b.full(-1, v.aval), v, one))
    small, product = (emit(b, "stablehlo.multiply", *pair) for pair in (signs, (x, y)))
    return b.emit(f"stablehlo.select {either}, {small}, {product}", either, small, product, out=x.aval)


_sin_lower = Formulation(narrow=trigonometric.sin, unless="in_sum", otherwise=_of_parts(
    lambda b, s, c, sh, ch: (_zero_wins(b, s, ch), _zero_wins(b, c, sh)))("stablehlo.sine"))
_cos_lower = Formulation(narrow=trigonometric.cos, unless="in_sum", otherwise=_of_parts(
    lambda b, s, c, sh, ch: (_zero_wins(b, c, ch), emit(b, "stablehlo.negate", _zero_wins(b, s, sh))))("stablehlo.cosine"))
_tan_lower = Formulation(op("stablehlo.tan"), narrow=trigonometric.tan, unless="in_sum")
_asin_lower = Formulation(beside_cut("chlo.asin"), narrow=inverse.asin, wide=inverse.asin)
_acos_lower = Formulation(beside_cut("chlo.acos", flipped=True), narrow=inverse.acos, wide=inverse.acos)
_exp2_lower = Formulation(_exp2_plain, narrow=exponential.exp2, wide=exponential.exp2)
_sinh_lower = Formulation(_hyperbolic(0), narrow=exponential.sinh)
_cosh_lower = Formulation(_hyperbolic(1), wide=exponential.cosh)
_log_lower = Formulation(op("stablehlo.log"), wide=logarithmic.log)
# Over short axes a softplus, which is a log1p among other things, takes 0.9 ms of 100,000 numbers as a formula and 0.2 as the compiler has it.
_log2_lower = Formulation(_log2_plain, narrow=logarithmic.log2, wide=logarithmic.log2, short=False)
_log1p_lower = Formulation(op("stablehlo.log_plus_one"), narrow=logarithmic.log1p, wide=logarithmic.log1p, unless="in_sum", short=False)
_asinh_lower = Formulation(beside_cut("chlo.asinh", "real"), narrow=logarithmic.asinh, wide=logarithmic.asinh, short=False)
_acosh_lower = Formulation(beside_cut("chlo.acosh"), narrow=logarithmic.acosh, wide=logarithmic.acosh, short=False)
_atanh_lower = Formulation(op("chlo.atanh"), narrow=logarithmic.atanh, wide=logarithmic.atanh, short=False)
_atan_lower = Formulation(op("chlo.atan"), narrow=inverse.atan, wide=inverse.atan, unless="vector_atan")


def _tanh_lower(b, x, accuracy=None):
    """Of a few numbers on the CPU those beyond 9, where it is 1, are enlarged: from 8 to 20 XLA's formula for float32 gives 0.9999998 without
    fused multiplications, and so a slope; and code for so few is not optimised, so that it has none. From 20 on it gives 1."""
    if x.aval.dtype == np.float32 and x.aval.size <= FEW and b.platform == "cpu" and not b.portable and accuracy is None:
        far = emit_compare(b, "GT", emit(b, "stablehlo.multiply", x, x), b.full(81, x.aval))
        larger = emit(b, "stablehlo.multiply", x, b.full(4, x.aval))
        x = b.emit(f"stablehlo.select {far}, {larger}, {x}", far, larger, x, out=x.aval)
    return b.emit(f"stablehlo.tanh {x}", x, out=b.out_avals[0], attrs=accuracy_text(accuracy))


def _logistic_lower(b, x, accuracy=None):
    """Of float16 in float32: ``exp(-x)`` overflows from -11 on, where the result still has all its digits."""
    out = b.out_avals[0]
    wide = out.update(dtype=np.dtype(np.float32)) if out.dtype == np.float16 else out
    y = b.convert(x, wide.dtype)
    return b.convert(b.emit(f"stablehlo.logistic {y}", y, out=wide, attrs=accuracy_text(accuracy)), out.dtype)


def _atan2_plain(b, y, x):
    y, x = full_operands(b, (y, x))
    if b.platform == "cpu" and not b.portable and y.aval.dtype.kind != "c" and y.aval.dtype != np.float16:
        y, x = (zero_for_subnormal(b, v, v) for v in (y, x))  # XLA compares them, but divides zeros
    angle = emit(b, "stablehlo.atan2", y, x)
    if b.platform != "cpu" or b.portable or y.aval.dtype != np.float64:
        return angle
    bits = y.aval.update(dtype=np.dtype(np.uint64), weak_type=False)  # XLA takes a positive subnormal y for a negative one

    def f(name, *xs):
        return emit(b, f"stablehlo.{name}", *xs, out=bits)
    sign, size = b.full(1 << 63, bits), b.full((1 << 63) - 1, bits)
    signed = f("or", f("and", f("bitcast_convert", y), sign), f("and", f("bitcast_convert", angle), size))
    return emit(b, "stablehlo.bitcast_convert", signed, out=y.aval)


_atan2_lower = Formulation(_atan2_plain, narrow=inverse.atan2, wide=inverse.atan2)


def _logistic_reference(x):
    return 1 / (1 + np.exp(-x))


exp_p: Primitive
sin_p: Primitive
cos_p: Primitive
sinh_p: Primitive
cosh_p: Primitive  # of which the rows below speak
_IN_SUMS, _LOSES_NAN = "in_sums", "loses_nan"
_WITH_ACCURACY_ROWS: list[tuple] = [
    ("exp", 3.0, "stablehlo.exponential", lambda g, y, x: _times(g, y), np.exp, _IN_SUMS, _LOSES_NAN, Algebra.EXPONENTIAL),
    ("exp2", 0.4, _exp2_lower, lambda g, y, x: _times(g, mul_p.bind(y, constant(_LN2, y))), np.exp2, _LOSES_NAN),
    ("expm1", 3.0, "stablehlo.exponential_minus_one", lambda g, y, x: _times(g, exp_p.bind(x)), np.expm1, _IN_SUMS, _LOSES_NAN),
    ("log", 2.1, _log_lower, lambda g, y, x: div_p.bind(g, x), np.log, _IN_SUMS, Algebra.LOGARITHM, Reach.MODERATE),
    ("log2", 0.6, _log2_lower, lambda g, y, x: div_p.bind(g, mul_p.bind(x, constant(_LN2, x))), np.log2, Reach.MODERATE),
    ("log1p", 0.8, _log1p_lower, lambda g, y, x: div_p.bind(g, _one_plus(x)), np.log1p, _IN_SUMS, Reach.MODERATE),
    ("sin", 1.2, _sin_lower, lambda g, y, x: _times(g, cos_p.bind(x)), np.sin, _IN_SUMS, Reach.MODERATE),
    ("cos", 1.2, _cos_lower, lambda g, y, x: _times(g, neg_p.bind(sin_p.bind(x))), np.cos, _IN_SUMS, Reach.MODERATE),
    ("tan", 1.6, _tan_lower, lambda g, y, x: _times(g, _one_plus(square_p.bind(y))), np.tan, Quick.LESS_EXACT, _IN_SUMS),
    ("tanh", 1.9, _tanh_lower, lambda g, y, x: _times(g, one_minus_square_p.bind(y)), np.tanh, _IN_SUMS, Reach.MODERATE),
    ("logistic", 3.5, _logistic_lower, lambda g, y, x: _times(g, mul_p.bind(y, sub_p.bind(constant(1, y), y))),
     _logistic_reference, _IN_SUMS, _LOSES_NAN, Reach.MODERATE),
]
_WITH_ACCURACY = {
    name: elementwise(name, lower if callable(lower) else op(lower), accepts=INEXACT, reference=reference,
                      jvp=(lambda g, out, x, accuracy=None, tangent=tangent: tangent(g, out, x),),
                      cost=cost, quick=Quick.LESS_EXACT if Quick.LESS_EXACT in more else Quick.SAME, in_sums=_IN_SUMS in more, loses_nan=_LOSES_NAN in more,
                      algebra=next((x for x in more if isinstance(x, Algebra)), None), reach=Reach.MODERATE if Reach.MODERATE in more else Reach.ANY)
    for name, cost, lower, tangent, reference, *more in _WITH_ACCURACY_ROWS}
exp_p, exp2_p, expm1_p, log_p, log2_p, log1p_p, sin_p, cos_p, tan_p, tanh_p, logistic_p = _WITH_ACCURACY.values()

_PLAIN_ROWS: list[tuple] = [
    ("sinh", 1.2, _sinh_lower, lambda g, y, x: _times(g, cosh_p.bind(x)), np.sinh, _LOSES_NAN),
    ("cosh", 1.0, _cosh_lower, lambda g, y, x: _times(g, sinh_p.bind(x)), np.cosh, _LOSES_NAN),
    ("asin", 0.5, _asin_lower, lambda g, y, x: _times(g, rsqrt_p.bind(one_minus_square_p.bind(x))), np.arcsin),
    ("acos", 0.5, _acos_lower, lambda g, y, x: _times(g, neg_p.bind(rsqrt_p.bind(one_minus_square_p.bind(x)))), np.arccos),
    ("atan", 0.5, _atan_lower, lambda g, y, x: div_p.bind(g, _one_plus(square_p.bind(x))), np.arctan, Quick.LESS_EXACT),
    ("asinh", 1.4, _asinh_lower, lambda g, y, x: _times(g, _asinh_slope(x)), np.arcsinh),
    ("acosh", 1.2, _acosh_lower, lambda g, y, x: _times(g, mul_p.bind(rsqrt_p.bind(sub_p.bind(x, constant(1, x))),
                                                  rsqrt_p.bind(sub_p.bind(x, constant(-1, x))))), np.arccosh),  # x - -1 keeps an imaginary -0
    ("atanh", 1.2, _atanh_lower, lambda g, y, x: div_p.bind(g, one_minus_square_p.bind(x)), np.arctanh),
]
_PLAIN = {
    name: elementwise(name, lower, accepts=INEXACT, jvp=(tangent,), reference=reference,
                      cost=cost, quick=Quick.LESS_EXACT if Quick.LESS_EXACT in more else Quick.SAME, loses_nan=_LOSES_NAN in more)
    for name, cost, lower, tangent, reference, *more in _PLAIN_ROWS}
sinh_p, cosh_p, asin_p, acos_p, atan_p, asinh_p, acosh_p, atanh_p = _PLAIN.values()


# -- atan2 ---------------------------------------------------------------------------------------------------------------

def _over_radius_squared(part, x, y):
    """``part / (x^2 + y^2)``, where ``part`` is ``x`` or ``y``; 0 at infinity. Both are scaled by a power of two where squares would leave the range.
    Complex numbers have no larger one of both."""
    dtype = dtypes.dtype(part)
    if dtypes.issubdtype(dtype, np.complexfloating):
        return div_p.bind(part, add_p.bind(square_p.bind(x), square_p.bind(y)))
    if dtype == np.float16:  # which has too few exponents for that
        return in_dtype(_over_radius_squared(*[in_dtype(v, np.float32) for v in (part, x, y)]), np.float16)
    size, exponents = max_p.bind(abs_p.bind(x), abs_p.bind(y)), dtypes.finfo(dtype).maxexp
    infinite, large = eq_p.bind(size, constant(np.inf, size)), 2.0 ** (15 * exponents // 32)
    part, x, y = (select_n_p.bind(infinite, v, constant(c, v)) for v, c in ((part, 0), (x, large), (y, large)))
    scale = select_n_p.bind(gt_p.bind(size, constant(large, size)), constant(1, size), constant(2.0 ** (-35 * exponents // 64), size))
    scale = select_n_p.bind(lt_p.bind(size, constant(2.0 ** (-3 * exponents // 8), size)), scale, constant(2.0 ** (3 * exponents // 4), size))
    part, x, y = (mul_p.bind(v, scale) for v in (part, x, y))
    return mul_p.bind(div_p.bind(part, add_p.bind(square_p.bind(x), square_p.bind(y))), scale)


atan2_p = elementwise("atan2", _atan2_lower, accepts=INEXACT, reference=np.arctan2,
                      jvp=(lambda g, out, y, x: _times(g, _over_radius_squared(x, x, y)),
                           lambda g, out, y, x: _times(g, neg_p.bind(_over_radius_squared(y, x, y)))), cost=2.0)

# -- public functions ----------------------------------------------------------------------------------------------------


def exp(x: ArrayLike, *, accuracy: Accuracy | None = None) -> Array:
    """Elementwise exponential. Raises TypeError unless ``x`` is floating or complex.

    Args:
      accuracy: how exact (`lax.Tolerance` or `lax.AccuracyMode`), on devices that have a choice.

    Source: StableHLO `exponential`.

    >>> lax.exp(1.)
    Array(2.7182817, dtype=float32, weak_type=True)
    """
    return with_accuracy(exp_p, x, accuracy)


def exp2(x: ArrayLike, *, accuracy: Accuracy | None = None) -> Array:
    """Elementwise ``2 ** x``. Raises TypeError unless ``x`` is floating or complex.

    Args:
      accuracy: how exact (`lax.Tolerance` or `lax.AccuracyMode`), on devices that have a choice.

    Source: Abramowitz & Stegun, 4.1 and 4.2.

    >>> lax.exp2(5.)
    Array(32., dtype=float32, weak_type=True)
    """
    return with_accuracy(exp2_p, x, accuracy)


def expm1(x: ArrayLike, *, accuracy: Accuracy | None = None) -> Array:
    """Elementwise ``exp(x) - 1``, accurate near 0. Raises TypeError unless ``x`` is floating or complex.

    Args:
      accuracy: how exact (`lax.Tolerance` or `lax.AccuracyMode`), on devices that have a choice.

    Source: StableHLO `exponential_minus_one`.

    >>> lax.expm1(1e-6)
    Array(1.0000005e-06, dtype=float32, weak_type=True)
    """
    return with_accuracy(expm1_p, x, accuracy)


def log(x: ArrayLike, *, accuracy: Accuracy | None = None) -> Array:
    """Elementwise natural logarithm. Raises TypeError unless ``x`` is floating or complex.

    Args:
      accuracy: how exact (`lax.Tolerance` or `lax.AccuracyMode`), on devices that have a choice.

    Source: StableHLO `log`.

    >>> lax.log(2.)
    Array(0.6931472, dtype=float32, weak_type=True)
    """
    return with_accuracy(log_p, x, accuracy)


def log2(x: ArrayLike, *, accuracy: Accuracy | None = None) -> Array:
    """Elementwise logarithm to base 2. Raises TypeError unless ``x`` is floating or complex.

    Args:
      accuracy: how exact (`lax.Tolerance` or `lax.AccuracyMode`), on devices that have a choice.

    Source: Abramowitz & Stegun, 4.1 and 4.2.

    >>> lax.log2(8.)
    Array(3., dtype=float32, weak_type=True)
    """
    return with_accuracy(log2_p, x, accuracy)


def log1p(x: ArrayLike, *, accuracy: Accuracy | None = None) -> Array:
    """Elementwise ``log(1 + x)``, accurate near 0. Raises TypeError unless ``x`` is floating or complex.

    Args:
      accuracy: how exact (`lax.Tolerance` or `lax.AccuracyMode`), on devices that have a choice.

    Source: StableHLO `log_plus_one`.

    >>> lax.log1p(1e-6)
    Array(9.999995e-07, dtype=float32, weak_type=True)
    """
    return with_accuracy(log1p_p, x, accuracy)


def sin(x: ArrayLike, *, accuracy: Accuracy | None = None) -> Array:
    """Elementwise sine. Raises TypeError unless ``x`` is floating or complex.

    Args:
      accuracy: how exact (`lax.Tolerance` or `lax.AccuracyMode`), on devices that have a choice.

    Source: StableHLO `sine`.

    >>> lax.sin(0.5)
    Array(0.47942555, dtype=float32, weak_type=True)
    """
    return with_accuracy(sin_p, x, accuracy)


def cos(x: ArrayLike, *, accuracy: Accuracy | None = None) -> Array:
    """Elementwise cosine. Raises TypeError unless ``x`` is floating or complex.

    Args:
      accuracy: how exact (`lax.Tolerance` or `lax.AccuracyMode`), on devices that have a choice.

    Source: StableHLO `cosine`.

    >>> lax.cos(0.)
    Array(1., dtype=float32, weak_type=True)
    """
    return with_accuracy(cos_p, x, accuracy)


def tan(x: ArrayLike, *, accuracy: Accuracy | None = None) -> Array:
    """Elementwise tangent. Raises TypeError unless ``x`` is floating or complex.

    Args:
      accuracy: how exact (`lax.Tolerance` or `lax.AccuracyMode`), on devices that have a choice.

    Source: StableHLO `tan`.

    >>> lax.tan(0.25)
    Array(0.25534192, dtype=float32, weak_type=True)
    """
    return with_accuracy(tan_p, x, accuracy)


def tanh(x: ArrayLike, *, accuracy: Accuracy | None = None) -> Array:
    """Elementwise hyperbolic tangent. Raises TypeError unless ``x`` is floating or complex.

    Args:
      accuracy: how exact (`lax.Tolerance` or `lax.AccuracyMode`), on devices that have a choice.

    Source: StableHLO `tanh`.

    >>> lax.tanh(0.5)
    Array(0.46211717, dtype=float32, weak_type=True)
    """
    return with_accuracy(tanh_p, x, accuracy)


def logistic(x: ArrayLike, *, accuracy: Accuracy | None = None) -> Array:
    """Elementwise ``1 / (1 + exp(-x))``. Raises TypeError unless ``x`` is floating or complex.

    Args:
      accuracy: how exact (`lax.Tolerance` or `lax.AccuracyMode`), on devices that have a choice.

    Source: StableHLO `logistic`.

    >>> lax.logistic(0.)
    Array(0.5, dtype=float32, weak_type=True)
    """
    return with_accuracy(logistic_p, x, accuracy)


def sinh(x: ArrayLike) -> Array:
    """Elementwise hyperbolic sine. Raises TypeError unless ``x`` is floating or complex. Source: Abramowitz & Stegun, 4.5.

    >>> lax.sinh(1.)
    Array(1.1752012, dtype=float32, weak_type=True)
    """
    return apply(sinh_p, x)


def cosh(x: ArrayLike) -> Array:
    """Elementwise hyperbolic cosine. Raises TypeError unless ``x`` is floating or complex.

    Source: Abramowitz & Stegun, 4.5.

    >>> lax.cosh(0.)
    Array(1., dtype=float32, weak_type=True)
    """
    return apply(cosh_p, x)


def asin(x: ArrayLike) -> Array:
    """Elementwise inverse sine. Raises TypeError unless ``x`` is floating or complex. Source: CHLO `asin`.

    >>> lax.asin(1.)
    Array(1.5707964, dtype=float32, weak_type=True)
    """
    return apply(asin_p, x)


def acos(x: ArrayLike) -> Array:
    """Elementwise inverse cosine. Raises TypeError unless ``x`` is floating or complex. Source: CHLO `acos`.

    >>> lax.acos(1.)
    Array(0., dtype=float32, weak_type=True)
    """
    return apply(acos_p, x)


def atan(x: ArrayLike) -> Array:
    """Elementwise inverse tangent. Raises TypeError unless ``x`` is floating or complex. Source: CHLO `atan`.

    >>> lax.atan(1.)
    Array(0.7853982, dtype=float32, weak_type=True)
    """
    return apply(atan_p, x)


def atan2(x: ArrayLike, y: ArrayLike) -> Array:
    """Elementwise angle of the point whose ordinate is ``x`` and whose abscissa is ``y``, in (-pi, pi].

    Source: StableHLO `atan2`.

    >>> lax.atan2(1., -1.)
    Array(2.3561945, dtype=float32, weak_type=True)
    """
    return apply(atan2_p, x, y)


def asinh(x: ArrayLike) -> Array:
    """Elementwise inverse hyperbolic sine. Raises TypeError unless ``x`` is floating or complex. Source: CHLO `asinh`.

    >>> lax.asinh(1.)
    Array(0.88137364, dtype=float32, weak_type=True)
    """
    return apply(asinh_p, x)


def acosh(x: ArrayLike) -> Array:
    """Elementwise inverse hyperbolic cosine. Raises TypeError unless ``x`` is floating or complex. Source: CHLO `acosh`.

    >>> lax.acosh(1.)
    Array(0., dtype=float32, weak_type=True)
    """
    return apply(acosh_p, x)


def atanh(x: ArrayLike) -> Array:
    """Elementwise inverse hyperbolic tangent. Raises TypeError unless ``x`` is floating or complex. Source: CHLO `atanh`.

    >>> lax.atanh(0.5)
    Array(0.54930615, dtype=float32, weak_type=True)
    """
    return apply(atanh_p, x)
