"""Elementwise functions that look at how numbers are stored: rounding, parts of floats, NaN, closeness, sinc.
"""
from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from jax_core.programs.jit import inlined
from jax_core.representation import dtypes
from jax_core.representation.arguments import integer, joint_shape
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike
from jax_core.transformations.custom_jvp import custom_jvp

from .. import lax
from .arithmetic import floor_divide, select
from .creation import array, asarray
from .promotion import (
    as_array,
    check_arraylike,
    check_numbers,
    convert,
    narrowed,
    promote_args,
    promote_args_inexact,
    promote_dtypes_inexact,
    promote_shapes,
    refuse_out,
    settled,
    shape_of,
    strong,
    unwrapped,
)
from .reductions import all as all_of
from .ufuncs import _is_complex, _is_inexact, _like, equal, isfinite, isnan, logical_and, logical_or, whole

# -- rounding ----------------------------------------------------------------------------------------------------------


def _parts(op, x):
    """``op`` on the real numbers, or on both parts of complex ones."""
    return lax.complex(op(lax.real(x)), op(lax.imag(x))) if _is_complex(x) else op(x)


def _to_even(x):
    return lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN)


@inlined
def rint(x: ArrayLike, /) -> Array:
    """Nearest integer, halves to the even one; of integers and booleans in the default float dtype. Source: `numpy.rint`.

    >>> jnp.rint(jnp.array([0.5, 1.5]))
    Array([0., 2.], dtype=float32)
    """
    check_arraylike("rint", x)
    x = unwrapped(x)
    return as_array(_parts(_to_even, x if _is_inexact(x) else convert(whole("rint", x), dtypes.default_float_dtype())))


def round(a: ArrayLike, decimals: int = 0, out: None = None) -> Array:
    """``a`` rounded to a number of decimals, halves to the even digit.

    Args:
      a: array of numbers; integers stay integers.
      decimals: digits after the point; negative ones count before it.
      out: must be None.

    Source: `numpy.round`.

    >>> jnp.round(2.6)
    Array(3., dtype=float32, weak_type=True)
    """
    refuse_out("round", out)
    check_arraylike("round", a)
    return _round(a, integer("round: decimals", decimals))


around = round


@inlined(static_argnums=(1,))
def _round(a, decimals):
    a = unwrapped(a)
    dtype = lax.dtype(a)
    check_numbers("round", dtype)
    if not _is_inexact(a):
        if decimals >= 0 or dtype == np.bool_:
            return as_array(a)
        return _round_integer(a, 10 ** -decimals)

    def nearest(x: Array):
        if decimals == 0:
            return _to_even(x)
        narrow = lax.dtype(x)
        x = convert(x, np.float32, False) if np.dtype(narrow).itemsize < 4 else x  # 10**decimals may not fit
        scale = _like(x, 10.0 ** (decimals if decimals > 0 else -decimals))
        x = lax.div(_to_even(lax.mul(x, scale)), scale) if decimals > 0 else lax.mul(_to_even(lax.div(x, scale)), scale)
        return convert(x, narrow)
    return _parts(nearest, a)


def _round_integer(a, step):
    """Integers to a multiple of ``step``, halves to the even multiple."""
    half = step // 2
    quotient = floor_divide(a, step)
    rest = lax.sub(a, lax.mul(quotient, _like(a, step)))
    odd = lax.eq(lax.bitwise_and(quotient, _like(a, 1)), _like(a, 1))
    up = lax.bitwise_or(lax.gt(rest, _like(a, half)), lax.bitwise_and(lax.eq(rest, _like(a, half)), odd))
    return lax.mul(lax.add(quotient, lax.convert_element_type(up, lax.dtype(a))), _like(a, step))


@inlined()
def trunc(x: ArrayLike) -> Array:
    """The integer part: rounded towards zero. Integers are returned as they are. Source: `numpy.trunc`.

    >>> jnp.trunc(jnp.array([-1.7, 1.7]))
    Array([-1.,  1.], dtype=float32)
    """
    check_arraylike("trunc", x)
    x = unwrapped(x)
    if not _is_inexact(x):
        return as_array(whole("trunc", x))
    return select(lax.lt(x, _like(x, 0)), lax.ceil(x), lax.floor(x))


@inlined(static_argnames=("out",))
def modf(x: ArrayLike, /, out: None = None) -> tuple[Array, Array]:
    """Fractional and integer part of real numbers, both with the sign of ``x``.

    Returns:
      a pair of arrays of the (floating-point) dtype of ``x``.

    Raises:
      TypeError: complex numbers.

    Source: `numpy.modf`.

    >>> [float(x) for x in jnp.modf(-2.5)]
    [-0.5, -2.0]
    """
    refuse_out("modf", out)
    x, = promote_args_inexact("modf", x)
    if _is_complex(x):
        raise TypeError("jnp.modf does not take complex numbers; take real and imaginary part first.")
    whole = select(lax.ge(x, _like(x, 0)), lax.floor(x), lax.ceil(x))
    return lax.sub(x, whole), whole


# -- bits of floats ----------------------------------------------------------------------------------------------------

def _layout(dtype: Any) -> tuple[np.dtype, int, int]:
    """Unsigned integer of the same width, number of stored mantissa bits, and exponent bias of a float dtype."""
    info = dtypes.finfo(dtype)
    return np.dtype(f"uint{info.bits}"), info.nmant, 1 - int(info.minexp)


@inlined()
def signbit(x: ArrayLike, /) -> Array:
    """Whether the sign bit is set: true for negative numbers, -0.0, and NaN with a sign. Source: `numpy.signbit`.

    Raises:
      ValueError: ``x`` is complex.

    >>> jnp.signbit(jnp.array([-0., 0.]))
    Array([ True, False], dtype=bool)
    """
    check_arraylike("signbit", x)
    x = unwrapped(x)
    dtype = np.dtype(lax.dtype(x))
    if dtypes.issubdtype(dtype, np.integer):
        return lax.lt(x, dtype.type(0))
    if dtype == np.bool_:
        return lax.full(shape_of(x), False, np.bool_)
    if not dtypes.issubdtype(dtype, np.floating):
        raise ValueError(f"jax.numpy.signbit is not well defined for {dtype}")
    unsigned, _, _ = _layout(dtype)
    bits = lax.bitcast_convert_type(x, unsigned)
    top = unsigned.type(8 * unsigned.itemsize - 1)
    return lax.ne(lax.shift_right_logical(bits, top), unsigned.type(0))


@inlined()
def copysign(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The magnitude of ``x1`` with the sign of ``x2``. Source: `numpy.copysign`.

    Raises:
      TypeError: an argument is complex.

    >>> jnp.copysign(3., jnp.array([-0., 1.]))
    Array([-3.,  3.], dtype=float32)
    """
    x1, x2 = promote_args_inexact("copysign", x1, x2)
    if _is_complex(x1):
        raise TypeError("jnp.copysign does not take complex numbers.")
    magnitude = lax.abs(x1)
    out = select(signbit(x2), lax.neg(magnitude), magnitude)
    return out if dtypes.dtype_and_weak_type(x2)[1] else strong(out)


@inlined()
def ldexp(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """``x1 * 2**x2`` for integers ``x2``, right also where ``2**x2`` overflows.

    Raises:
      ValueError: complex numbers, or an exponent that is not an integer.

    Source: `numpy.ldexp`.

    >>> jnp.ldexp(0.75, 2)
    Array(3., dtype=float32)
    """
    check_arraylike("ldexp", x1, x2)
    x1, x2 = unwrapped(x1), unwrapped(x2)
    if _is_complex(x1) or _is_complex(x2):
        raise ValueError("ldexp not supported for complex inputs")
    if not (dtypes.issubdtype(lax.dtype(x2), np.integer) or lax.dtype(x2) == np.bool_):
        raise ValueError(f"ldexp not supported for input types {(lax.dtype(x1), lax.dtype(x2))}")
    x1 = narrowed(*promote_dtypes_inexact(x1))
    if lax.dtype(x2) in _BEYOND_INT32:  # what does not fit would be another exponent
        x2 = lax.min(x2, _like(x2, 1 << 20)) if lax.dtype(x2) != np.int64 else lax.clamp(_like(x2, -1 << 20), x2, _like(x2, 1 << 20))
    x1, x2 = promote_shapes("ldexp", x1, convert(x2, np.dtype(np.int32)))
    dtype = np.dtype(lax.dtype(x1))
    if dtype.itemsize < 4:
        return convert(_scaled(convert(x1, np.dtype(np.float32)), x2), dtype)
    return _scaled(x1, x2)


_BEYOND_INT32 = frozenset(map(np.dtype, ("uint32", "int64", "uint64")))


def _scaled(x, exponent):
    """Three multiplications by powers of two, each in range, so that only the last can round or overflow."""
    dtype = np.dtype(lax.dtype(x))
    unsigned, mantissa, bias = _layout(dtype)
    low, high = np.int32(-bias + 1), np.int32(bias)

    def power_of_two(e):
        biased = lax.convert_element_type(lax.add(e, np.int32(bias)), unsigned)
        return lax.bitcast_convert_type(lax.shift_left(biased, unsigned.type(mantissa)), dtype)

    shift = np.int32(mantissa + 1)
    exponent = lax.clamp(np.int32(-4 * bias), exponent, np.int32(4 * bias))
    for _ in range(2):
        part = lax.clamp(np.int32(low + shift), exponent, high)
        x, exponent = lax.mul(x, power_of_two(part)), lax.sub(exponent, part)
    part = lax.clamp(low, exponent, high)
    return lax.mul(x, power_of_two(part))


@inlined()
def frexp(x: ArrayLike, /) -> tuple[Array, Array]:
    """Mantissa in [0.5, 1) with the sign of ``x``, and exponent (int32), such that ``x == mantissa * 2**exponent``.

    Zeros, infinities and NaN are their own mantissa, with exponent 0. Source: `numpy.frexp`.

    Raises:
      TypeError: ``x`` is complex.

    >>> jnp.frexp(10.)
    (Array(0.625, dtype=float32), Array(4, dtype=int32))
    """
    x = narrowed(*promote_args_inexact("frexp", x))
    if _is_complex(x):
        raise TypeError("frexp does not support complex-valued inputs")
    dtype = np.dtype(lax.dtype(x))
    if dtype.itemsize < 4:
        mantissa, exponent = frexp(convert(x, np.dtype(np.float32)))
        return convert(mantissa, dtype), exponent
    return tuple(_frexp(strong(x)))


@custom_jvp
def _frexp(x):
    dtype = np.dtype(x.dtype)
    unsigned, stored, bias = _layout(dtype)
    tiny = lax.lt(lax.abs(x), _like(x, np.finfo(dtype).tiny))
    lifted = select(tiny, lax.mul(x, _like(x, 2.0 ** (stored + 2))), x)
    bits = lax.bitcast_convert_type(lifted, unsigned)
    width = 8 * unsigned.itemsize - stored - 1
    field = lax.bitwise_and(lax.shift_right_logical(bits, unsigned.type(stored)), unsigned.type((1 << width) - 1))
    exponent = lax.sub(lax.convert_element_type(field, np.int32), np.int32(bias - 1))
    exponent = select(tiny, lax.sub(exponent, np.int32(stored + 2)), exponent)
    keep = unsigned.type(((1 << 8 * unsigned.itemsize) - 1) ^ (((1 << width) - 1) << stored))
    mantissa_bits = lax.bitwise_or(lax.bitwise_and(bits, keep), unsigned.type((bias - 1) << stored))
    mantissa = lax.bitcast_convert_type(mantissa_bits, dtype)
    special = lax.bitwise_or(lax.eq(lifted, _like(x, 0)), lax.bitwise_not(lax.is_finite(x)))  # subnormal numbers may count as zero
    return select(special, x, mantissa), select(special, np.int32(0), exponent)


@_frexp.defjvp
def _frexp_jvp(primals, tangents):
    """The mantissa is the number divided by a power of two, which is constant nearly everywhere."""
    (x,), (t,) = primals, tangents
    mantissa, exponent = _frexp(x)
    return (mantissa, exponent), (ldexp(t, lax.neg(exponent)), np.zeros(shape_of(x), dtypes.float0))


@inlined()
def spacing(x: ArrayLike, /) -> Array:
    """Distance to the next representable number away from zero, with the sign of ``x``; in float16, as in NumPy, to the next larger one.

    Source: `numpy.spacing`.

    Raises:
      ValueError: ``x`` is complex.

    >>> jnp.spacing(jnp.float32(1024))
    Array(0.00012207, dtype=float32)
    """
    x = narrowed(strong(*promote_args_inexact("spacing", x)))
    if _is_complex(x):
        raise ValueError("jnp.spacing is not defined for complex inputs.")
    if x.dtype == np.float16:
        return lax.sub(lax.nextafter(select(isfinite(x), x, _like(x, np.nan)), _like(x, np.inf)), x)
    away = lax.mul(_like(x, np.inf), select(signbit(x), _like(x, -1), _like(x, 1)))
    distance = lax.sub(lax.nextafter(*promote_shapes("spacing", x, away)), x)
    unsigned, stored, _ = _layout(x.dtype)
    word = unsigned.type
    bits = lax.bitcast_convert_type(x, unsigned)
    sign = lax.bitwise_and(bits, word(1 << 8 * unsigned.itemsize - 1))
    field = lax.shift_right_logical(lax.bitwise_xor(bits, sign), word(stored))
    tiny = lax.shift_left(word(1), lax.sub(lax.max(field, word(1)), word(1)))  # subnormal, which subtraction may give as 0
    return select(lax.le(field, word(stored)), lax.bitcast_convert_type(lax.bitwise_or(tiny, sign), x.dtype), distance)


# -- NaN and closeness -------------------------------------------------------------------------------------------------

@inlined(static_argnames=("copy",))
def nan_to_num(x: ArrayLike, copy: bool = True, nan: ArrayLike = 0.0, posinf: ArrayLike | None = None,
               neginf: ArrayLike | None = None) -> Array:
    """NaN and infinities replaced by finite numbers.

    Args:
      x: array of any dtype; integers are returned as they are.
      copy: has no meaning here, as arrays are immutable.
      nan: replacement for NaN.
      posinf, neginf: replacements for the infinities; by default the largest and lowest finite number.

    Source: `numpy.nan_to_num`.

    >>> jnp.nan_to_num(jnp.array([jnp.nan, 1.]), nan=-1.)
    Array([-1.,  1.], dtype=float32)
    """
    check_arraylike("nan_to_num", x, *(r for r in (nan, posinf, neginf) if r is not None))
    x = unwrapped(x)
    if not _is_inexact(x):
        return as_array(x)
    x = narrowed(x)
    if _is_complex(x):
        return lax.complex(nan_to_num(lax.real(x), copy, nan, posinf, neginf),
                           nan_to_num(lax.imag(x), copy, nan, posinf, neginf))
    dtype = lax.dtype(x)
    info = dtypes.finfo(dtype)
    posinf = info.max if posinf is None else posinf
    neginf = info.min if neginf is None else neginf
    x = _replaced(lax.ne(x, x), nan, x, dtype)
    x = _replaced(lax.eq(x, _like(x, np.inf)), posinf, x, dtype)
    return _replaced(lax.eq(x, _like(x, -np.inf)), neginf, x, dtype)


def _replaced(condition, value, x, dtype):
    return select(condition, convert(unwrapped(value), np.dtype(dtype)), x)


@inlined(static_argnames=("equal_nan",))
def isclose(a: ArrayLike, b: ArrayLike, rtol: ArrayLike = 1e-05, atol: ArrayLike = 1e-08, equal_nan: bool = False) -> Array:
    """Whether ``|a - b| <= atol + rtol * |b|``; infinities are close to themselves only.

    Args:
      a, b: arrays; promoted to one inexact dtype and broadcast.
      rtol, atol: tolerances.
      equal_nan: count NaN as close to NaN.

    Source: `numpy.isclose`.

    >>> jnp.isclose(1., jnp.array([1.0000001, 1.1]))
    Array([ True, False], dtype=bool)
    """
    check_arraylike("isclose", a, b, rtol, atol)
    a, b = promote_args("isclose", a, b)
    exact = lax.eq(a, b)
    if dtypes.issubdtype(lax.dtype(a), dtypes.extended):  # keys are equal or not
        return exact
    if dtypes.issubdtype(lax.dtype(a), np.integer) or lax.dtype(a) == np.bool_:
        a, b = promote_dtypes_inexact(a, b)
    real = np.dtype(dtypes.to_floating_dtype(lax.dtype(a)))
    distance = lax.abs(lax.sub(a, b))
    limit = lax.add(convert(unwrapped(atol), real), lax.mul(convert(unwrapped(rtol), real), lax.abs(b)))
    close = lax.bitwise_and(lax.le(*promote_shapes("isclose", distance, limit)), isfinite(b))
    result = lax.bitwise_or(close, exact)
    if equal_nan:
        result = lax.bitwise_or(result, lax.bitwise_and(isnan(a), isnan(b)))
    return result


@inlined(static_argnames=("equal_nan",))
def allclose(a: ArrayLike, b: ArrayLike, rtol: ArrayLike = 1e-05, atol: ArrayLike = 1e-08,
             equal_nan: bool = False) -> Array:
    """Whether all elements are close in the sense of `isclose`; a boolean array of rank 0.

    Args:
      a, b: arrays that can be broadcast together.
      rtol, atol: how far they may be apart: ``atol + rtol * abs(b)``.
      equal_nan: whether NaN is close to NaN.

    Source: `numpy.allclose`.

    >>> jnp.allclose(jnp.array([1., 2.]), jnp.array([1., 2.00001]))
    Array(True, dtype=bool)
    """
    return all_of(isclose(a, b, rtol, atol, equal_nan))


def array_equal(a1: ArrayLike | Sequence[Any], a2: ArrayLike | Sequence[Any], equal_nan: bool = False) -> Array:
    """Whether two arrays have the same shape and equal elements; a boolean array of rank 0.

    Args:
      a1, a2: arrays, or what can be made one.
      equal_nan: count NaN as equal to NaN.

    Raises:
      TypeError: what cannot be made an array, such as a string.

    Source: `numpy.array_equal`.

    >>> jnp.array_equal(jnp.arange(3), jnp.array([0, 1, 2]))
    Array(True, dtype=bool)
    """
    a1, a2 = asarray(a1), asarray(a2)
    if a1.shape != a2.shape:
        return array(False)
    same = equal(a1, a2)
    if equal_nan:
        same = logical_or(same, logical_and(isnan(a1), isnan(a2)))
    return all_of(same)


def array_equiv(a1: ArrayLike | Sequence[Any], a2: ArrayLike | Sequence[Any]) -> Array:
    """Whether two arrays are equal once broadcast; a boolean array of rank 0.

    Args:
      a1, a2: arrays or numbers.

    Source: `numpy.array_equiv`.

    >>> jnp.array_equiv(jnp.ones((2, 3)), jnp.ones(3))
    Array(True, dtype=bool)
    """
    a1, a2 = asarray(a1), asarray(a2)
    try:
        joint_shape(a1.shape, a2.shape)
    except ValueError:  # not of one shape: not equivalent, as in NumPy
        return array(False)
    rank = max(a1.ndim, a2.ndim)
    return all_of(equal(*(lax.expand_dims(a, range(rank - a.ndim)) for a in (a1, a2))))


# -- sinc --------------------------------------------------------------------------------------------------------------

@inlined()
def sinc(x: ArrayLike, /) -> Array:
    """``sin(pi x) / (pi x)``, which is 1 at 0.

    The sine is that of the distance to the nearest integer, which is exact where ``pi x`` is not; that of small arguments over its
    argument is a power series, so that derivatives of every order are right at 0. Source: `numpy.sinc`.

    >>> jnp.sinc(jnp.array([0., 0.5]))
    Array([1.        , 0.63661975], dtype=float32)
    """
    x = narrowed(*promote_args_inexact("sinc", x))
    dtype = np.dtype(lax.dtype(x))
    if dtype.itemsize < 4:
        return convert(settled(_real_sinc(convert(x, np.dtype(np.float32)))), dtype)
    return settled(_complex_sinc(x) if _is_complex(x) else _real_sinc(x))


def _real_sinc(x):
    """With ``k`` the integer nearest to ``x`` and ``r = x - k``: ``sin(pi r) / (pi r)``, times ``(-1)**k r / x`` unless k is 0."""
    most = _like(x, dtypes.finfo(lax.dtype(x)).max)  # the infinities count as integers
    inside = lax.clamp(lax.neg(most), x, most)
    k = lax.round(inside, lax.RoundingMethod.TO_NEAREST_EVEN)
    near, half = lax.eq(k, _like(k, 0)), lax.mul(k, _like(k, 0.5))
    value = _series(lax.square(lax.mul(lax.sub(inside, k), _like(x, np.pi))), 8 if lax.dtype(x).itemsize < 8 else 12)
    size, whole_size = lax.abs(inside), lax.abs(k)
    rest = select(lax.eq(half, lax.floor(half)), lax.sub(size, whole_size), lax.sub(whole_size, size))  # 0, not -0, at integers
    return lax.mul(value, select(near, _like(x, 1), lax.div(rest, select(near, _like(x, 1), lax.abs(x)))))


def _series(u, terms):
    """``sin(y) / y`` of ``u = y * y``: 1 - u/6 (1 - u/20 (1 - ...)). For |y| <= pi/2 the first of the terms that are left out after 8 is
    below 1e-11, after 12 below 2e-21."""
    series = lax.full_like(u, 1)
    for k in range(terms, 0, -1):
        series = lax.sub(_like(u, 1), lax.mul(lax.mul(u, _like(u, 1 / (2 * k * (2 * k + 1)))), series))
    return series


def _complex_sinc(x):
    """The power series near 0; elsewhere the sine of the distance to the nearest integer, which is analytic beside it. It is bounded along a
    line of constant height, so the limit there is 0."""
    y = lax.mul(x, _like(x, np.pi))
    near = lax.lt(lax.abs(y), _like(lax.abs(y), 0.5))
    series = _series(lax.square(select(near, y, _like(y, 0))), 8)
    infinite, height = (lax.eq(lax.abs(part), _like(part, np.inf)) for part in (lax.real(x), lax.imag(x)))
    endless = lax.bitwise_and(infinite, lax.bitwise_not(height))
    plain = lax.bitwise_or(near, endless)
    z = select(plain, _like(x, 0), x)
    k = lax.round(lax.real(z), lax.RoundingMethod.TO_NEAREST_EVEN)
    half = lax.mul(k, _like(k, 0.5))
    rest = lax.sub(z, lax.complex(k, lax.full_like(k, 0)))
    rest = select(lax.eq(half, lax.floor(half)), rest, lax.neg(rest))
    far = lax.div(lax.sin(lax.mul(rest, _like(x, np.pi))), select(plain, _like(y, 1), y))
    return select(near, series, select(endless, lax.full_like(far, 0), far))
