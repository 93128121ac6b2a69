"""Elementwise functions of one formula each: a row names it, its operation, and how operands are promoted.

Functions that take several steps (division, powers, rounding, parts of floats, ...) are in `arithmetic` and
`floating`; the objects with methods such as ``jnp.add.reduce`` are in `ufunc_objects`.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from jax_core.representation import dtypes
from jax_core.programs.jit import inlined
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike

from .. import lax
from .promotion import check_arraylike, convert, promote_args_inexact, promote_shapes, refuse_out, strong, unwrapped
from .rows import adaptive, binary, named, unary

# -- trigonometric and hyperbolic --------------------------------------------------------------------------------------

sin = unary("sin", lambda x: lax.sin(x), "inexact", "Sine of an angle in radians.")
cos = unary("cos", lambda x: lax.cos(x), "inexact", "Cosine of an angle in radians.")
tan = unary("tan", lambda x: lax.tan(x), "inexact", "Tangent of an angle in radians.")
arcsin = asin = unary("arcsin", lambda x: lax.asin(x), "inexact", "Inverse sine, in [-pi/2, pi/2]; NaN outside [-1, 1].")
arccos = acos = unary("arccos", lambda x: lax.acos(x), "inexact", "Inverse cosine, in [0, pi]; NaN outside [-1, 1].")
arctan = atan = unary("arctan", lambda x: lax.atan(x), "inexact", "Inverse tangent, in [-pi/2, pi/2].")
sinh = unary("sinh", lambda x: lax.sinh(x), "inexact", "Hyperbolic sine.")
cosh = unary("cosh", lambda x: lax.cosh(x), "inexact", "Hyperbolic cosine.")
tanh = unary("tanh", lambda x: lax.tanh(x), "inexact", "Hyperbolic tangent.")
arcsinh = asinh = unary("arcsinh", lambda x: lax.asinh(x), "inexact", "Inverse hyperbolic sine.")
arccosh = acosh = unary("arccosh", lambda x: lax.acosh(x), "inexact", "Inverse hyperbolic cosine; NaN below 1.")
arctanh = atanh = unary("arctanh", lambda x: lax.atanh(x), "inexact", "Inverse hyperbolic tangent; NaN outside [-1, 1].")
arctan2 = atan2 = binary("arctan2", lambda x, y: lax.atan2(x, y), "inexact",
                         "Angle of the point with ordinate ``x1`` and abscissa ``x2``, in [-pi, pi].")
degrees = rad2deg = unary("degrees", lambda x: lax.mul(x, _like(x, 180 / np.pi)), "inexact", "Radians to degrees.")
radians = deg2rad = unary("radians", lambda x: lax.mul(x, _like(x, np.pi / 180)), "inexact", "Degrees to radians.")

# -- exponentials, logarithms, roots -----------------------------------------------------------------------------------

exp = unary("exp", lambda x: lax.exp(x), "inexact", "e to the power of each element.")
exp2 = unary("exp2", lambda x: lax.exp2(x), "inexact", "2 to the power of each element.")
expm1 = unary("expm1", lambda x: lax.expm1(x), "inexact", "``exp(x) - 1``, accurate for small ``x``.")
log = unary("log", lambda x: lax.log(x), "inexact", "Natural logarithm; NaN below 0, -inf at 0.")
log1p = unary("log1p", lambda x: lax.log1p(x), "inexact", "``log(1 + x)``, accurate for small ``x``.")
log2 = unary("log2", lambda x: lax.log2(x), "inexact", "Logarithm to base 2.")
log10 = unary("log10", lambda x: lax.mul(lax.log(strong(x)), _like(x, np.log10(np.e))), "inexact", "Logarithm to base 10.")
sqrt = unary("sqrt", lambda x: lax.sqrt(x), "inexact", "Square root; NaN below 0.")
cbrt = unary("cbrt", lambda x: lax.cbrt(x), "inexact", "Real cube root.")
square = unary("square", lambda x: lax.square(x), "numeric", "``x * x``.", exact="integers")
reciprocal = unary("reciprocal", lambda x: lax.div(_like(x, 1), x), "inexact", "``1 / x``.")

# -- comparisons -------------------------------------------------------------------------------------------------------

equal = binary("equal", lambda x, y: lax.eq(x, y), "any", "Whether elements are equal.", ("x", "y"), exact="always")
not_equal = binary("not_equal", lambda x, y: lax.ne(x, y), "any", "Whether elements differ.", ("x", "y"), exact="always")


def _ordered(name: str, op: Any, part: Any, summary: str):
    """An order comparison; complex numbers are ordered by real part, then by imaginary part."""
    def compare(x, y):
        if not dtypes.issubdtype(lax.dtype(x), np.complexfloating):
            return op(x, y)
        re_x, re_y = lax.real(x), lax.real(y)
        return lax.select(lax.eq(re_x, re_y), op(lax.imag(x), lax.imag(y)), part(re_x, re_y))
    return binary(name, compare, "any", summary, ("x", "y"), exact="always")


greater = _ordered("greater", lambda x, y: lax.gt(x, y), lambda x, y: lax.gt(x, y), "Whether ``x > y``.")
greater_equal = _ordered("greater_equal", lambda x, y: lax.ge(x, y), lambda x, y: lax.gt(x, y), "Whether ``x >= y``.")
less = _ordered("less", lambda x, y: lax.lt(x, y), lambda x, y: lax.lt(x, y), "Whether ``x < y``.")
less_equal = _ordered("less_equal", lambda x, y: lax.le(x, y), lambda x, y: lax.lt(x, y), "Whether ``x <= y``.")

# -- arithmetic of one operation ---------------------------------------------------------------------------------------
# add, subtract, multiply, negative, maximum, minimum are wrapped as ufunc objects by `ufunc_objects`

add = binary("add", lambda x, y: lax.bitwise_or(x, y) if _is_bool(x) else lax.add(x, y), "any", "Sum of elements.",
             exact="integers")
subtract = binary("subtract", lambda x, y: lax.sub(x, y), "any", "Difference of elements.", exact="integers")
multiply = binary("multiply", lambda x, y: lax.bitwise_and(x, y) if _is_bool(x) else lax.mul(x, y), "any",
                  "Product of elements.", exact="integers")
negative = unary("negative", lambda x: lax.neg(x), "any", "``-x``.", exact="integers")
maximum = binary("maximum", lambda x, y: lax.max(x, y), "any", "The larger of two elements; NaN if either is NaN.",
                 exact="integers")
minimum = binary("minimum", lambda x, y: lax.min(x, y), "any", "The smaller of two elements; NaN if either is NaN.",
                 exact="integers")
nextafter = binary("nextafter", lambda x, y: lax.nextafter(x, y), "inexact",
                   "The next representable number after ``x`` towards ``y``.", ("x", "y"))
positive = unary("positive", lambda x: x, "any", "``+x``: the elements unchanged.", exact="always")

# -- bits --------------------------------------------------------------------------------------------------------------

bitwise_and = binary("bitwise_and", lambda x, y: lax.bitwise_and(x, y), "any", "Bitwise and.", exact="always")
bitwise_or = binary("bitwise_or", lambda x, y: lax.bitwise_or(x, y), "any", "Bitwise or.", exact="always")
bitwise_xor = binary("bitwise_xor", lambda x, y: lax.bitwise_xor(x, y), "any", "Bitwise exclusive or.", exact="always")
bitwise_not = bitwise_invert = invert = unary("invert", lambda x: lax.bitwise_not(x), "any",
                                              "Each bit flipped; logical not for booleans.")
bitwise_count = unary("bitwise_count", lambda x: lax.convert_element_type(
    lax.population_count(lax.abs(x) if dtypes.issubdtype(lax.dtype(x), np.signedinteger) else x), np.uint8), "numeric",
    "Number of one bits of the absolute value, as uint8.", exact="always")
left_shift = binary("left_shift", lambda x, y: lax.shift_left(x, y), "numeric", "Bits of ``x`` moved up by ``y``.", ("x",
                    "y"), exact="always")
bitwise_left_shift = left_shift
right_shift = bitwise_right_shift = binary(
    "right_shift", lambda x, y: lax.shift_right_logical(x, y) if dtypes.issubdtype(lax.dtype(x), np.unsignedinteger)
    else lax.shift_right_arithmetic(x, y), "numeric", "Bits of ``x1`` moved down by ``x2``, keeping the sign.")

# -- logic -------------------------------------------------------------------------------------------------------------


def truth(x: Any) -> Any:
    """``x != 0`` as a boolean array (``x`` itself if it is one)."""
    x = unwrapped(x)
    if lax.dtype(x) == np.bool_:
        return x
    return lax.ne(x, _like(x, 0))


def _logical(name: str, op: Any, summary: str):
    def fun(x1: ArrayLike, x2: ArrayLike, /) -> Array:
        check_arraylike(name, x1, x2)
        return op(*promote_shapes(name, truth(x1), truth(x2)))
    return adaptive("always")(named(fun, name, f"{summary} Any nonzero element counts as true; the result is boolean.\n\n"
                                      f"    Source: `numpy.{name}`.\n    "))


logical_and = _logical("logical_and", lambda x, y: lax.bitwise_and(x, y), "Whether both elements are true.")
logical_or = _logical("logical_or", lambda x, y: lax.bitwise_or(x, y), "Whether either element is true.")
logical_xor = _logical("logical_xor", lambda x, y: lax.bitwise_xor(x, y), "Whether exactly one element is true.")
logical_not = unary("logical_not", lambda x: lax.bitwise_not(truth(x)), "any",
                    "Whether the element is false (zero); the result is boolean.", exact="always")

# -- classification ----------------------------------------------------------------------------------------------------


def _is_bool(x: Any) -> bool:
    return lax.dtype(x) == np.bool_


def _is_complex(x: Any) -> bool:
    return dtypes.issubdtype(lax.dtype(x), np.complexfloating)


def _is_inexact(x: Any) -> bool:
    return dtypes.issubdtype(lax.dtype(x), np.inexact)


def _like(x: Any, value: Any) -> Any:
    """``value`` as a literal of the dtype of ``x`` (and as weak as it)."""
    dtype, weak = dtypes.dtype_and_weak_type(x)
    if not weak:
        return np.dtype(dtype).type(value)
    return {"f": float, "c": complex, "i": int, "u": int}[np.dtype(dtype).kind](value)


def _full_bool(x: Any, value: bool) -> Any:
    return lax.full(np.shape(unwrapped(x)), value, np.bool_)


def _isfinite(x):
    if not _is_inexact(x):
        return _full_bool(x, True)
    if _is_complex(x):
        return lax.bitwise_and(lax.is_finite(lax.real(x)), lax.is_finite(lax.imag(x)))
    return lax.is_finite(x)


def _isinf(x):
    if not _is_inexact(x):
        return _full_bool(x, False)
    if _is_complex(x):
        return lax.bitwise_or(_isinf(lax.real(x)), _isinf(lax.imag(x)))
    return lax.eq(lax.abs(x), _like(x, np.inf))


isfinite = unary("isfinite", _isfinite, "any", "Whether an element is neither infinite nor NaN.", exact="always")
isinf = unary("isinf", _isinf, "any", "Whether an element is infinite.", exact="always")
isnan = unary("isnan", lambda x: lax.ne(x, x) if _is_inexact(x) else _full_bool(x, False), "any",
              "Whether an element is NaN.", exact="always")


def _sign_of_inf(name: str, value: float, x: Any, out: Any) -> Any:
    refuse_out(name, out)
    check_arraylike(name, x)
    x = unwrapped(x)
    if _is_complex(x):
        raise ValueError(f"jnp.{name}: complex numbers have no sign; got dtype {lax.dtype(x)}.")
    return lax.eq(x, _like(x, value)) if _is_inexact(x) else _full_bool(x, False)


@inlined(static_argnames=("out",))
def isposinf(x: ArrayLike, /, out: None = None):
    """Whether an element is positive infinity. Source: `numpy.isposinf`."""
    return _sign_of_inf("isposinf", np.inf, x, out)


@inlined(static_argnames=("out",))
def isneginf(x: ArrayLike, /, out: None = None):
    """Whether an element is negative infinity. Source: `numpy.isneginf`."""
    return _sign_of_inf("isneginf", -np.inf, x, out)


# -- sign, magnitude, complex parts ------------------------------------------------------------------------------------

abs = absolute = unary("absolute", lambda x: x if dtypes.issubdtype(lax.dtype(x), np.unsignedinteger) or _is_bool(x)
                       else lax.abs(x), "any", "Absolute value; the modulus of a complex number (as a real).",
                                    exact="integers")
fabs = unary("fabs", lambda x: _real_abs(x), "inexact", "Absolute value, as a float.")


def _real_abs(x):
    if _is_complex(x):
        raise TypeError(f"jnp.fabs does not take complex numbers, got dtype {lax.dtype(x)}; use jnp.abs.")
    return lax.abs(x)


sign = unary("sign", lambda x: lax.sign(x), "any", "-1, 0 or 1; ``x / |x|`` for complex numbers.", exact="integers")
floor = unary("floor", lambda x: lax.floor(x) if _is_inexact(x) else x, "any",
              "Largest integer not above each element.", exact="integers")
ceil = unary("ceil", lambda x: lax.ceil(x) if _is_inexact(x) else x, "any", "Smallest integer not below each element.",
             exact="integers")
real = unary("real", lambda x: lax.real(x) if _is_complex(x) else x, "any", "Real part.", "val", exact="always")
imag = unary("imag", lambda x: lax.imag(x) if _is_complex(x) else lax.full_like(x, 0), "any",
             "Imaginary part; zeros for real numbers.", "val", exact="always")
conj = conjugate = unary("conjugate", lambda x: lax.conj(x) if _is_complex(x) else x, "any", "Complex conjugate.")


@inlined(static_argnames=("deg",))
def angle(z: ArrayLike, deg: bool = False) -> Array:
    """Argument of complex numbers, in (-pi, pi].

    Args:
      z: array of any dtype; real numbers have the angle 0 or pi.
      deg: in degrees.

    Source: `numpy.angle`.
    """
    check_arraylike("angle", z)
    z, = promote_args_inexact("angle", z) if _is_inexact(z) else [convert(z, dtypes.default_float_dtype())]
    if _is_complex(z):
        result = lax.atan2(lax.imag(z), lax.real(z))
    else:
        z = strong(z)
        negative_zero = lax.bitwise_and(lax.eq(z, _like(z, 0)), lax.lt(lax.div(_like(z, 1), z), _like(z, 0)))
        result = lax.select(lax.bitwise_or(lax.lt(z, _like(z, 0)), negative_zero), lax.full_like(z, np.pi),
                            lax.full_like(z, 0))
        result = lax.select(lax.ne(z, z), z, result)
    return lax.mul(result, _like(result, 180 / np.pi)) if deg else result


def iscomplex(x: ArrayLike) -> Array:
    """Whether the imaginary part of an element is not zero. Source: `numpy.iscomplex`."""
    part = imag(x)
    return not_equal(part, 0)


def isreal(x: ArrayLike) -> Array:
    """Whether the imaginary part of an element is zero. Source: `numpy.isreal`."""
    return equal(imag(x), 0)


def iscomplexobj(x: object) -> bool:
    """Whether ``x`` has a complex dtype. Source: `numpy.iscomplexobj`."""
    if x is None or isinstance(x, str):
        return False
    try:
        return dtypes.issubdtype(lax.dtype(x), np.complexfloating)
    except TypeError:
        return np.iscomplexobj(x)


def isrealobj(x: object) -> bool:
    """Whether ``x`` does not have a complex dtype. Source: `numpy.isrealobj`."""
    return not iscomplexobj(x)
