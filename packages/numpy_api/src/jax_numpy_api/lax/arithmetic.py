"""Arithmetic: neg, add, sub, mul, div, rem, max, min, powers and roots, rounding, nextafter, polynomial.

Integer division truncates; by zero it gives -1 (all bits set), and the remainder by zero is the dividend: XLA's
semantics. `max` and `min` propagate NaN, order complex numbers by real part, then imaginary, and share the tangent
equally between equal operands, so the result does not depend on their order.

Derivatives are written so that all that depends on primal values is one factor: then reverse mode keeps one array.

Source: StableHLO specification.
"""
from __future__ import annotations

import enum
import functools
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from jax_core.representation import dtypes, partial_sums
from jax_core.representation.arguments import integer
from jax_core.representation.array import Array
from jax_core.representation.aval import get_aval
from jax_core.representation.marks import ELEMENTWISE, LINEAR, ZERO
from jax_core.representation.primitive import Primitive, Zero, is_linear, none
from jax_core.representation.traits import ARITHMETIC, Algebra, Kind, Quick, Reach, Traits
from jax_core.representation.typing import ArrayLike, DTypeLike, host_value
from jax_core.traces.structural import convert_element_type_p
from jax_core.transformations.forward import jvp_flat

from .accuracy import Accuracy
from .compare import emit_compare, eq_p, gt_p, zero_for_subnormal
from .cuts import beside_cut
from .elementary_cpu import powers
from .elementary_cpu.lanes import Formulation
from .nan_cpu import drops_nan, emit_choice
from .nary import (
    ANY,
    FLOAT,
    INEXACT,
    INTEGER,
    NUMERIC,
    Elementwise,
    apply,
    as_operand,
    check_dtype,
    constant,
    elementwise,
    emit,
    full_operands,
    integers,
    like,
    nary_result,
    nary_type,
    op,
    quiet,
    unbroadcast,
)
from .select import select_n_p

if TYPE_CHECKING:
    from jax_core.interfaces import Builder, Value

class RoundingMethod(enum.IntEnum):
    """What `round` does with numbers half-way between two integers.

    >>> lax.round(jnp.array([0.5, 1.5, 2.5]), lax.RoundingMethod.TO_NEAREST_EVEN)
    Array([0., 2., 2.], dtype=float32)
    """

    AWAY_FROM_ZERO = 0
    TO_NEAREST_EVEN = 1


# -- sums ----------------------------------------------------------------------------------------------------------------

neg_p: Primitive = elementwise("neg", "stablehlo.negate", accepts=NUMERIC, jvp=LINEAR, transpose=lambda ct, x: neg_p.bind(ct),
                    reference=np.negative, exact=integers, cost=ARITHMETIC, in_sums=True, reach=Reach.AS_OPERANDS)


def _add_transpose(ct, x, y):
    return (unbroadcast(ct, x) if is_linear(x) else None, unbroadcast(ct, y) if is_linear(y) else None)


def _sub_transpose(ct, x, y):
    return (unbroadcast(ct, x) if is_linear(x) else None,
            unbroadcast(neg_p.bind(ct), y) if is_linear(y) else None)


def _sub_jvp(primals, tangents):
    """One op for both tangents, as ``sub`` is linear."""
    (x, y), (dx, dy) = primals, tangents
    out = sub_p.bind(x, y)
    if isinstance(dy, Zero):
        return out, dx if isinstance(dx, Zero) else like(dx, out)
    if isinstance(dx, Zero):
        return out, like(neg_p.bind(dy), out)
    return out, sub_p.bind(dx, dy)


def _add_jvp(primals, tangents):
    (x, y), (dx, dy) = primals, tangents
    out = add_p.bind(x, y)
    if isinstance(dy, Zero):
        return out, dx if isinstance(dx, Zero) else like(dx, out)
    if isinstance(dx, Zero):
        return out, like(dy, out)
    return out, add_p.bind(dx, dy)


add_p = elementwise("add", "stablehlo.add", accepts=NUMERIC, jvp=_add_jvp, transpose=_add_transpose, reference=np.add,
                    exact=integers, cost=ARITHMETIC, algebra=Algebra.SUM, in_sums=True, reach=Reach.AS_OPERANDS, sums=partial_sums.linear)
sub_p = elementwise("sub", "stablehlo.subtract", accepts=NUMERIC, jvp=_sub_jvp, transpose=_sub_transpose, reference=np.subtract,
                    exact=integers, cost=ARITHMETIC, algebra=Algebra.SUM, in_sums=True, reach=Reach.AS_OPERANDS, sums=partial_sums.linear)

# -- products ------------------------------------------------------------------------------------------------------------

def _mul_transpose(ct, x, y, *, out_dtype=None):
    if is_linear(x):
        return unbroadcast(mul_p.bind(ct, y) if out_dtype is None else _factor(ct, y, x.aval.dtype, out_dtype), x), None
    return None, unbroadcast(mul_p.bind(x, ct) if out_dtype is None else _factor(ct, x, y.aval.dtype, out_dtype), y)


def _factor(ct, other, dtype, out_dtype):
    """The cotangent of a factor of ``dtype``. It is found in that dtype, unless a part of a complex number is dropped on one way."""
    if any(np.issubdtype(d, np.complexfloating) for d in (dtype, get_aval(other).dtype, out_dtype)):
        return in_dtype(mul_p.bind(ct, in_dtype(other, out_dtype)), dtype)
    return mul_p.bind(ct, other, out_dtype=dtype)


def _mul_tangent(out, x, y, params):
    if params and not dtypes.issubdtype(get_aval(out).dtype, np.inexact):
        return Zero.of(out)
    return mul_p.bind(x, y, **params)


def _mul_type(x, y, *, out_dtype=None):
    if out_dtype is None:
        return nary_type("mul", NUMERIC)(x, y)
    dtype = dtypes.canonicalize_dtype(out_dtype)
    return nary_type("mul", NUMERIC, lambda *_: dtype, equal=False)(x, y).update(weak_type=False)


def _mul_lower(b, x, y, *, out_dtype=None):
    if out_dtype is not None:
        dtype = b.out_avals[0].dtype
        x, y = b.convert(x, dtype), b.convert(y, dtype)
    return b.elementwise("stablehlo.multiply", x, y)


def in_dtype(x, dtype):
    return convert_element_type_p.bind(x, new_dtype=np.dtype(dtype), weak_type=False, sharding=None)


def _mul_reference(x, y, *, out_dtype=None):
    return np.multiply(x, y) if out_dtype is None else np.multiply(np.asarray(x).astype(out_dtype), np.asarray(y).astype(out_dtype))


mul_p: Primitive = Elementwise(
    "mul", out_type=_mul_type,
    jvp=(lambda g, out, x, y, **params: _mul_tangent(out, g, y, params), lambda g, out, x, y, **params: _mul_tangent(out, x, g, params)),
    transpose=_mul_transpose, batch=ELEMENTWISE, lower=_mul_lower, reference=_mul_reference,
    exact=lambda *avals, out_dtype=None: integers(*avals) and out_dtype is None,
    traits=Traits(Kind.ELEMENTWISE, ARITHMETIC, algebra=Algebra.PRODUCT, in_sums=True),
    sums=partial_sums.bilinear)


def _div_jvp(primals, tangents):
    """``(dx - (x/y) dy) / y``: one division, whose transpose serves both operands."""
    (x, y), (gx, gy) = primals, tangents
    out = div_p.bind(x, y)
    if isinstance(gy, Zero):
        return out, Zero.of(out) if isinstance(gx, Zero) else div_p.bind(like(gx, out), y)
    moved = mul_p.bind(gy, out)
    if isinstance(gx, Zero) and isinstance(x, (float, np.generic)) and x == 1:  # a reciprocal, which is all that its slope needs
        return out, neg_p.bind(mul_p.bind(moved, out))
    return out, div_p.bind(neg_p.bind(moved) if isinstance(gx, Zero) else sub_p.bind(gx, moved), y)


def _div_transpose(ct, x, y):
    if is_linear(y):
        raise NotImplementedError("lax.div is linear in its first operand only")
    return unbroadcast(div_p.bind(ct, y), x), None


def _truncated_quotient(x, y):
    """Integer division as XLA defines it."""
    x, y = np.asarray(x), np.asarray(y)
    if x.dtype.kind not in "iu":
        return np.divide(x, y)
    zero = y == 0
    safe = np.where(zero, np.ones((), y.dtype), y)
    with np.errstate(over="ignore"):  # the lowest integer by -1
        out = x // safe
    if x.dtype.kind == "i":
        out = out + ((out < 0) & (out * safe != x))  # the floor of a negative quotient is one too low
    return np.where(zero, np.asarray(-1).astype(x.dtype), out).astype(x.dtype)


def _truncated_remainder(x, y):
    x, y = np.asarray(x), np.asarray(y)
    if x.dtype.kind not in "iu":
        return np.fmod(x, y)
    zero = y == 0
    return np.where(zero, x, np.fmod(x, np.where(zero, np.ones((), y.dtype), y))).astype(x.dtype)


div_p = elementwise("div", "stablehlo.divide", accepts=NUMERIC, transpose=_div_transpose, jvp=_div_jvp,
                    reference=_truncated_quotient, exact=integers, cost=0.19, algebra=Algebra.QUOTIENT, in_sums=True, sums=partial_sums.linear_in_first)


def _rem_tangent_y(g, out, x, y):
    """``x - out`` is a multiple of ``y``; rounding undoes the error of the division."""
    times = round_p.bind(div_p.bind(sub_p.bind(x, out), y), rounding_method=RoundingMethod.TO_NEAREST_EVEN)
    return mul_p.bind(g, neg_p.bind(times))


rem_p = elementwise("rem", "stablehlo.remainder", accepts=INTEGER + FLOAT,
                    jvp=(lambda g, out, x, y: like(g, out), _rem_tangent_y),
                    reference=_truncated_remainder, exact=integers, cost=33.0)


def _mulhi_lower(b, x, y):
    """The upper half of the double-width product; of 64-bit integers, from four products of halves."""
    x, y = full_operands(b, (x, y))
    aval = b.out_avals[0]
    bits = dtypes.itemsize_bits(aval.dtype)
    if bits < 64:
        wide = aval.update(dtype=np.dtype(f"{aval.dtype.kind}{bits // 4}") if bits < 32 else np.dtype(f"{aval.dtype.kind}8"))
        x, y = b.convert(x, wide.dtype), b.convert(y, wide.dtype)
        product = emit(b, "stablehlo.multiply", x, y)
        shift = "arithmetic" if aval.dtype.kind == "i" else "logical"
        return b.convert(emit(b, f"stablehlo.shift_right_{shift}", product, b.full(bits, wide)), aval.dtype)
    return _mulhi_64(b, x, y, aval)


def _mulhi_64(b, x, y, aval):
    def f(name, *xs):
        return emit(b, f"stablehlo.{name}", *xs)
    low, width = b.full(0xFFFFFFFF, aval), b.full(32, aval)
    shift = "shift_right_arithmetic" if aval.dtype.kind == "i" else "shift_right_logical"
    xl, xh, yl, yh = f("and", x, low), f(shift, x, width), f("and", y, low), f(shift, y, width)
    carry = f("shift_right_logical", f("multiply", xl, yl), width)
    middle = f("add", f("multiply", xh, yl), carry)
    second = f("add", f("multiply", xl, yh), f("and", middle, low))
    return f("add", f("add", f("multiply", xh, yh), f(shift, middle, width)), f(shift, second, width))


def _mulhi_reference(x, y):
    bits = np.asarray(x).dtype.itemsize * 8
    product = np.asarray(x).astype(object) * np.asarray(y).astype(object)
    return np.asarray(product // 2**bits).astype(np.asarray(x).dtype)


mulhi_p = elementwise("mulhi", _mulhi_lower, accepts=INTEGER, jvp=ZERO, reference=_mulhi_reference)

# -- max and min ---------------------------------------------------------------------------------------------------------

def _extremum_lower(op_name, direction):
    def lower(b: Builder, x: Any, y: Any):
        x, y = full_operands(b, (x, y))
        if drops_nan(b, x.aval):
            return emit_choice(b, op_name, x, y)
        if x.aval.dtype.kind != "c":
            return emit(b, op_name, x, y, out=b.out_avals[0])
        keep = complex_order(b, direction, x, y)
        return b.emit(f"stablehlo.select {keep}, {x}, {y}", keep, x, y, out=b.out_avals[0])
    return lower


def complex_order(b: Builder, direction: str, x: Value, y: Value):
    """Whether ``x`` comes before ``y`` (GT or LT): by real parts, and where these are equal by imaginary parts."""
    part = x.aval.update(dtype=dtypes.to_floating_dtype(x.aval.dtype))
    xr, yr, xi, yi = (b.emit(f"stablehlo.{name} {v}", v, out=part) for name in ("real", "imag") for v in (x, y))
    by_imag = emit_compare(b, direction, xi, yi)
    by_real, equal = emit_compare(b, direction, xr, yr), emit_compare(b, "EQ", xr, yr)
    return b.emit(f"stablehlo.select {equal}, {by_imag}, {by_real}", equal, by_imag, by_real, out=by_real.aval)


def _share(chosen, other, direction):
    """The weight of the tangent of ``chosen``: 1 where it is the result, 1/2 where both are equal."""
    half, one, zero = (constant(v, chosen) for v in (0.5, 1, 0))
    wins = gt_p.bind(chosen, other) if direction == "GT" else gt_p.bind(other, chosen)
    return select_n_p.bind(eq_p.bind(chosen, other), select_n_p.bind(wins, zero, one), half)


def _extremum(name, op_name, direction, reference):
    def weight(g: Array, out, chosen, other: object):
        if get_aval(out).dtype.kind == "c":
            raise NotImplementedError(f"lax.{name} of complex numbers has no derivative: the order of complex numbers is not "
                                      "smooth. Apply it to real parts or to abs.")
        return mul_p.bind(g, _share(chosen, other, direction))
    return elementwise(name, _extremum_lower(op_name, direction), accepts=ANY, reference=reference, exact=integers, reach=Reach.AS_OPERANDS,
                       jvp=(lambda g, out, x, y: weight(g, out, x, y), lambda g, out, x, y: weight(g, out, y, x)))


max_p = _extremum("max", "stablehlo.maximum", "GT", np.maximum)
min_p = _extremum("min", "stablehlo.minimum", "LT", np.minimum)

# -- powers and roots ----------------------------------------------------------------------------------------------------

def _twice(g, x):
    return mul_p.bind(g, mul_p.bind(x, constant(2, x)))


def _square_lower(b, x):
    """CHLO's op is for floats (for complex numbers it is more exact than a product); integers are multiplied."""
    return emit(b, "chlo.square", x) if dtypes.issubdtype(x.aval.dtype, np.inexact) else b.elementwise("stablehlo.multiply", x, x)


square_p = elementwise("square", _square_lower, accepts=NUMERIC, jvp=(lambda g, out, x: _twice(g, x),), reference=np.square,
                       exact=integers, cost=ARITHMETIC, reads=2, in_sums=True)


def _one_minus_square_lower(b, x):
    """As (1 - x)(1 + x): where x is near 1, 1 - x is exact and 1 - x*x is not. Of complex numbers both are made of ``x`` less a real number,
    which keeps the sign of an imaginary zero: roots of the result depend on it."""
    one = b.full(1, x.aval)
    if x.aval.dtype.kind == "c":
        low, high = emit(b, "stablehlo.negate", emit(b, "stablehlo.subtract", x, one)), emit(b, "stablehlo.subtract", x, b.full(-1, x.aval))
        return emit(b, "stablehlo.multiply", low, high)
    low, high = emit(b, "stablehlo.subtract", one, x), emit(b, "stablehlo.add", one, x)
    return emit(b, "stablehlo.multiply", low, high)


one_minus_square_p = elementwise(
    "one_minus_square", _one_minus_square_lower, accepts=NUMERIC,
    jvp=(lambda g, out, x: mul_p.bind(g, mul_p.bind(x, constant(-2, x))),), reference=lambda x: (1 - x) * (1 + x), reads=2)


@functools.lru_cache(maxsize=None)
def addition_chain(n: int) -> tuple[tuple[int, int], ...]:
    """The multiplications that make the n-th power: step k multiplies two earlier powers (0 is the base itself).

    Shortest for n up to 128 (by search of star chains, which are shortest for all n < 12509); binary above.
    Source: Knuth, The Art of Computer Programming 2, 4.6.3.

    Raises:
      ValueError: ``n`` is below 1.

    >>> jax.lax.addition_chain(7)  # squared, times the base, that squared, times the base
    ((0, 0), (1, 1), (2, 1), (3, 0))
    """
    if n < 1:
        raise ValueError(f"addition_chain: n must be at least 1, got {n}")
    n = int(n)
    if n > 128:
        half = addition_chain(n // 2)
        steps = (*half, (len(half), len(half)))
        return steps if n % 2 == 0 else (*steps, (len(steps), 0))
    depth = (n - 1).bit_length()
    while True:
        found = _star_chain([1], [], n, depth)
        if found is not None:
            return tuple(found)
        depth += 1


def _star_chain(powers, steps, n, depth):
    if powers[-1] == n:
        return steps
    left = depth - len(steps)
    if left <= 0 or powers[-1] << left < n:
        return None
    for i in range(len(powers) - 1, -1, -1):
        if powers[-1] + powers[i] <= n:
            found = _star_chain(powers + [powers[-1] + powers[i]], steps + [(len(powers) - 1, i)], n, depth)
            if found is not None:
                return found
    return None


def _integer_pow_type(x, *, y):
    check_dtype("integer_pow", x, NUMERIC)
    if y < 0 and dtypes.issubdtype(x.dtype, np.integer):
        raise TypeError(f"lax.integer_pow: integers cannot be raised to negative powers, got {x.str_short()} and y={y}; "
                        "convert the operand to a float.")
    return nary_result("integer_pow", (x,), x.dtype)


def _integer_pow_lower(b, x, *, y):
    if y == 0:
        return b.full(1, b.out_avals[0])
    powers = [x]
    for i, j in addition_chain(abs(y)):
        powers.append(b.elementwise("stablehlo.multiply", powers[i], powers[j]))
    if y > 0:
        return powers[-1]
    return emit(b, "stablehlo.divide", b.full(1, x.aval), powers[-1], out=b.out_avals[0])


def _integer_pow_reference(x, *, y):
    x = np.asarray(x)
    if y == 0:
        return np.ones_like(x)
    powers = [x]
    for i, j in addition_chain(abs(y)):
        powers.append((powers[i] * powers[j]).astype(x.dtype))
    return powers[-1] if y > 0 else (1 / powers[-1]).astype(x.dtype)


def _integer_pow_tangent(g, out, x, *, y):
    if y == 0:
        return Zero.of(out)
    return mul_p.bind(g, mul_p.bind(integer_pow(x, y - 1), constant(y, x)))


integer_pow_p = Primitive(
    "integer_pow", out_type=_integer_pow_type, jvp=(_integer_pow_tangent,),
    transpose=none("lax.integer_pow is not linear, so it has no transpose"), batch=ELEMENTWISE, lower=_integer_pow_lower,
    reference=_integer_pow_reference, exact=lambda x, y: integers(x), traits=Traits(Kind.ELEMENTWISE, in_sums=True, reads=lambda *, y: abs(y)))


def _scaled(g, factor, *terms):
    """``g * factor * terms[0] * ...`` with one multiplication by ``g``."""
    out = terms[0]
    for term in terms[1:]:
        out = mul_p.bind(out, term)
    return mul_p.bind(g, mul_p.bind(out, constant(factor, out)))


def _sqrt_tangent(g, out, x, accuracy=None):
    if dtypes.issubdtype(dtypes.dtype(out), np.complexfloating):  # division by what is infinite in both parts is NaN
        zero = like(constant(0, out), out)
        infinite = select_n_p.bind(eq_p.bind(out, zero), eq_p.bind(out, add_p.bind(out, out)), like(np.bool_(False), out))
        g, out = select_n_p.bind(infinite, g, zero), select_n_p.bind(infinite, out, like(constant(1, out), out))
    return div_p.bind(g, mul_p.bind(out, constant(2, out)))


sqrt_p = elementwise("sqrt", beside_cut("stablehlo.sqrt"), accepts=INEXACT, reference=lambda x, accuracy=None: np.sqrt(x),
                     jvp=(_sqrt_tangent,), cost=0.25, in_sums=True, reach=Reach.MODERATE)
rsqrt_p = elementwise("rsqrt", op("stablehlo.rsqrt"), accepts=INEXACT, reference=lambda x, accuracy=None: 1 / np.sqrt(x),
                      jvp=(lambda g, out, x, accuracy=None: _scaled(g, -0.5, div_p.bind(out, x)),), cost=1.4, algebra=Algebra.POWER, in_sums=True)


def _cbrt_plain(b, x, accuracy=None):
    """XLA's for the CPU gives -5.6e-16 for every subnormal float32, of both signs; they count as 0. Those of float16 are no subnormal float32."""
    out = op("stablehlo.cbrt")(b, x, accuracy=accuracy)
    if b.platform != "cpu" or b.portable or x.aval.dtype == np.float16:
        return out
    return zero_for_subnormal(b, x, out)


cbrt_p = elementwise("cbrt", Formulation(_cbrt_plain, narrow=powers.cbrt, wide=powers.cbrt), accepts=FLOAT,
                     reference=lambda x, accuracy=None: np.cbrt(x),
                     jvp=(lambda g, out, x, accuracy=None: _scaled(g, 1 / 3, integer_pow(out, -2)),),
                     cost=1.5, quick=Quick.LESS_EXACT)

# -- polynomial ----------------------------------------------------------------------------------------------------------

def _horner(x, coefficients):
    total = coefficients[-1]
    for c in coefficients[-2::-1]:
        total = add_p.bind(mul_p.bind(total, x), c)
    return like(total, x)


def _polynomial_type(x, *coefficients):
    if not coefficients:
        raise ValueError("lax.polynomial: coeffs must have at least one entry")
    return nary_type("polynomial", INEXACT)(x, *coefficients)


def _polynomial_jvp(primals, tangents):
    out = polynomial_p.bind(*primals)
    _, (tangent,) = jvp_flat(lambda x, *cs: [_horner(x, cs)], primals, tangents)
    return out, tangent


def _polynomial_reference(x, *coefficients):
    """Not `np.polyval`, which begins with 0 times ``x``."""
    x = np.asarray(x)
    return functools.reduce(lambda total, c: (total * x + c).astype(x.dtype), coefficients[-2::-1], np.broadcast_to(coefficients[-1], x.shape))


polynomial_p = Elementwise(
    "polynomial", out_type=_polynomial_type, jvp=_polynomial_jvp,
    transpose=none("lax.polynomial is not linear in its variable, so it has no transpose"), batch=ELEMENTWISE,
    lower=lambda b, x, *coefficients: b.fun(_horner_flat, x, *coefficients)[0],
    reference=quiet(_polynomial_reference))


def _horner_flat(x, *coefficients):
    return [_horner(x, coefficients)]

# -- rounding ------------------------------------------------------------------------------------------------------------

def _round_lower(b, x, *, rounding_method):
    suffix = "afz" if rounding_method == RoundingMethod.AWAY_FROM_ZERO else "even"
    return b.emit(f"stablehlo.round_nearest_{suffix} {x}", x, out=b.out_avals[0])


def _round_reference(x, *, rounding_method):
    if rounding_method == RoundingMethod.TO_NEAREST_EVEN:
        return np.rint(x)
    whole = np.trunc(x)
    return np.where(np.abs(x - whole) >= 0.5, whole + np.sign(x), whole).astype(np.asarray(x).dtype)


floor_p = elementwise("floor", "stablehlo.floor", accepts=FLOAT, jvp=ZERO, reference=np.floor)
ceil_p = elementwise("ceil", "stablehlo.ceil", accepts=FLOAT, jvp=ZERO, reference=np.ceil)
round_p = Primitive(
    "round", out_type=lambda x, *, rounding_method: nary_type("round", FLOAT)(x), jvp=ZERO, batch=ELEMENTWISE,
    lower=_round_lower, reference=_round_reference)


def _nextafter_lower(b, x, y):
    return emit(b, "chlo.next_after", *full_operands(b, (x, y)), out=b.out_avals[0])


# within rounding it is ``x``; the tangent of the direction is dropped
nextafter_p = elementwise("nextafter", _nextafter_lower, accepts=FLOAT, reference=np.nextafter,
                          jvp=(lambda g, out, x, y: like(g, out), lambda g, out, x, y: Zero.of(out)))

# -- public functions ----------------------------------------------------------------------------------------------------

def neg(x: ArrayLike) -> Array:
    """Elementwise ``-x``. Raises TypeError for booleans. Source: StableHLO `negate`.

    >>> lax.neg(jnp.array([1, -2]))
    Array([-1,  2], dtype=int32)
    """
    return apply(neg_p, x)


def add(x: ArrayLike, y: ArrayLike) -> Array:
    """Elementwise ``x + y``. Raises TypeError if dtypes differ or shapes do not fit. Source: StableHLO `add`.

    >>> lax.add(jnp.array([1, 2]), jnp.array([10, 20]))
    Array([11, 22], dtype=int32)
    """
    return apply(add_p, x, y)


def sub(x: ArrayLike, y: ArrayLike) -> Array:
    """Elementwise ``x - y``. Raises TypeError if dtypes differ or shapes do not fit. Source: StableHLO `subtract`.

    >>> lax.sub(jnp.array([5, 6]), jnp.array([1, 2]))
    Array([4, 4], dtype=int32)
    """
    return apply(sub_p, x, y)


def mul(x: ArrayLike, y: ArrayLike, *, out_dtype: DTypeLike | None = None) -> Array:
    """Elementwise ``x * y``; with ``out_dtype``, computed in that dtype. Raises TypeError if dtypes differ and ``out_dtype`` is not given.

    Source: StableHLO `multiply`.

    >>> lax.mul(jnp.array([1, 2]), jnp.array([3, 4]))
    Array([3, 8], dtype=int32)
    """
    if out_dtype is None:
        return apply(mul_p, x, y)
    return apply(mul_p, x, y, out_dtype=dtypes.canonicalize_dtype(out_dtype))


def div(x: ArrayLike, y: ArrayLike) -> Array:
    """Elementwise ``x / y``; integers truncate, and give -1 (all bits) where ``y`` is 0. Raises TypeError if dtypes differ.

    Source: StableHLO `divide`.

    >>> lax.div(7, 2)
    Array(3, dtype=int32, weak_type=True)
    """
    return apply(div_p, x, y)


def rem(x: ArrayLike, y: ArrayLike) -> Array:
    """Elementwise remainder with the sign of ``x``; of integers ``x`` itself where ``y`` is 0. Raises TypeError if dtypes differ.

    Source: StableHLO `remainder`.

    >>> lax.rem(jnp.array([7, -7]), jnp.array([3, 3]))
    Array([ 1, -1], dtype=int32)
    """
    return apply(rem_p, x, y)


def mulhi(x: ArrayLike, y: ArrayLike, /) -> Array:
    """The upper half of the bits of the double-width product of integers.

    Args:
      x, y: integers of one dtype and shape, or scalars.

    Source: the product in twice as many bits: Warren, "Hacker's Delight", chapter 8.

    >>> jax.lax.mulhi(jnp.uint32(1 << 31), jnp.uint32(6))
    Array(3, dtype=uint32)
    """
    return apply(mulhi_p, x, y)


def max(x: ArrayLike, y: ArrayLike) -> Array:
    """Elementwise maximum; NaN where either is NaN; complex by real, then imaginary part. Raises TypeError if dtypes differ.

    Args:
      x, y: of one dtype and shape, or scalars.

    Source: StableHLO `maximum`.

    >>> lax.max(jnp.array([1, 5]), jnp.array([4, 2]))
    Array([4, 5], dtype=int32)
    """
    return apply(max_p, x, y)


def min(x: ArrayLike, y: ArrayLike) -> Array:
    """Elementwise minimum; NaN where either is NaN; complex by real, then imaginary part. Raises TypeError if dtypes differ.

    Args:
      x, y: of one dtype and shape, or scalars.

    Source: StableHLO `minimum`.

    >>> lax.min(jnp.array([1, 5]), jnp.array([4, 2]))
    Array([1, 2], dtype=int32)
    """
    return apply(min_p, x, y)


def square(x: ArrayLike) -> Array:
    """Elementwise ``x * x``. Raises TypeError for booleans. Source: CHLO `square`; of real numbers StableHLO `multiply`.

    >>> lax.square(3)
    Array(9, dtype=int32, weak_type=True)
    """
    return apply(square_p, x)


def one_minus_square(x: ArrayLike) -> Array:
    """Elementwise ``1 - x * x``, accurate near 1. Raises TypeError unless ``x`` is floating or complex.

    Source: ``(1 - x) (1 + x)``.

    >>> x = jnp.float32(0.9999)
    >>> jax.lax.one_minus_square(x), 1 - x * x  # 0.0002000232 is right
    (Array(0.00020002, dtype=float32), Array(0.00020003, dtype=float32))
    """
    return apply(one_minus_square_p, x)


def integer_pow(x: ArrayLike, y: int) -> Array:
    """Elementwise ``x ** y`` for a fixed integer ``y``, by the fewest multiplications.

    Raises:
      TypeError: ``x`` holds booleans, or integers while ``y`` is negative.

    Source: Knuth, The Art of Computer Programming 2, 4.6.3 (addition chains).

    >>> lax.integer_pow(2., -2)
    Array(0.25, dtype=float32, weak_type=True)
    """
    x = as_operand("integer_pow", x, 0)
    if not isinstance(y, (float, np.floating)):
        y = integer("lax.integer_pow: y", y)
    if y != y or y != int(y):
        raise TypeError(f"lax.integer_pow: y must be an integer, got {y!r}; use lax.pow")
    y = int(y)
    return x if y == 1 and not host_value(x) else integer_pow_p.bind(x, y=y)


def reciprocal(x: ArrayLike) -> Array:
    """Elementwise ``1 / x``. Raises TypeError unless ``x`` is floating or complex. Source: StableHLO `divide`.

    >>> lax.reciprocal(4.)
    Array(0.25, dtype=float32, weak_type=True)
    """
    return integer_pow(x, -1)


def sqrt(x: ArrayLike, *, accuracy: Accuracy | None = None) -> Array:
    """Elementwise square root, NaN for negative numbers, the principal one of complex numbers.

    Args:
      accuracy: how exact (`lax.Tolerance` or `lax.AccuracyMode`), on devices that have a choice.

    Source: StableHLO `sqrt`.

    >>> lax.sqrt(9.)
    Array(3., dtype=float32, weak_type=True)
    """
    return with_accuracy(sqrt_p, x, accuracy)


def rsqrt(x: ArrayLike, *, accuracy: Accuracy | None = None) -> Array:
    """Elementwise ``1 / sqrt(x)``.

    Args:
      accuracy: how exact (`lax.Tolerance` or `lax.AccuracyMode`), on devices that have a choice.

    Source: StableHLO `rsqrt`.

    >>> lax.rsqrt(4.)
    Array(0.5, dtype=float32, weak_type=True)
    """
    return with_accuracy(rsqrt_p, x, accuracy)


def cbrt(x: ArrayLike, *, accuracy: Accuracy | None = None) -> Array:
    """Elementwise cube root of real numbers.

    Args:
      accuracy: how exact (`lax.Tolerance` or `lax.AccuracyMode`), on devices that have a choice.

    Source: StableHLO `cbrt`.

    >>> lax.cbrt(27.)
    Array(3., dtype=float32, weak_type=True)
    """
    return with_accuracy(cbrt_p, x, accuracy)


def with_accuracy(prim: Primitive, x: ArrayLike, accuracy: object) -> Any:
    """Bind a primitive that can take the parameter ``accuracy``; without it where there is none to ask for."""
    return apply(prim, x) if accuracy is None else apply(prim, x, accuracy=accuracy)


def polynomial(x: ArrayLike, coeffs: Sequence[ArrayLike], *, unroll: int | None = None) -> Array:
    """The polynomial with coefficients ``coeffs``, lowest power first, at each ``x``, by Horner's rule.

    Args:
      x: array of numbers.
      coeffs: scalars, converted to the dtype of ``x``; none make zeros.
      unroll: accepted for compatibility: the steps are always written out.

    Source: Knuth, The Art of Computer Programming 2, 4.6.4.

    >>> jax.lax.polynomial(jnp.array([0.0, 2.0]), [1.0, 0.0, 3.0])  # 1 + 3 x**2
    Array([ 1., 13.], dtype=float32)
    """
    x = as_operand("polynomial", x, 0)
    dtype = dtypes.dtype(x)
    terms = [c if dtypes.dtype(c) == dtype else convert_element_type_p.bind(c, new_dtype=dtype, weak_type=False, sharding=None)
             for c in [as_operand("polynomial", c, i) for i, c in enumerate(coeffs if len(coeffs) else (0,), 1)]]
    return _horner(x, terms) if dtypes.issubdtype(dtype, np.integer) else apply(polynomial_p, x, *terms)


def floor(x: ArrayLike) -> Array:
    """Elementwise largest integer not above ``x``, as a float. Raises TypeError unless ``x`` is real floating.

    Source: StableHLO `floor`.

    >>> lax.floor(-1.2)
    Array(-2., dtype=float32, weak_type=True)
    """
    return apply(floor_p, x)


def ceil(x: ArrayLike) -> Array:
    """Elementwise smallest integer not below ``x``, as a float. Raises TypeError unless ``x`` is real floating.

    Source: StableHLO `ceil`.

    >>> lax.ceil(1.2)
    Array(2., dtype=float32, weak_type=True)
    """
    return apply(ceil_p, x)


def round(x: ArrayLike, rounding_method: RoundingMethod = RoundingMethod.AWAY_FROM_ZERO) -> Array:
    """Elementwise nearest integer, as a float; halves as ``rounding_method`` says. Raises TypeError unless real floating.

    Source: StableHLO `round_nearest_afz`, `round_nearest_even`.

    >>> lax.round(jnp.array([0.5, 1.5]), lax.RoundingMethod.TO_NEAREST_EVEN)
    Array([0., 2.], dtype=float32)
    """
    return apply(round_p, x, rounding_method=RoundingMethod(rounding_method))


def nextafter(x1: ArrayLike, x2: ArrayLike) -> Array:
    """Elementwise the next float after ``x1`` in the direction of ``x2``.

    Source: CHLO `next_after`; IEEE 754, nextUp and nextDown.

    >>> lax.nextafter(1., 0.) - 1
    Array(-5.9604645e-08, dtype=float32, weak_type=True)
    """
    return apply(nextafter_p, x1, x2)
