"""Elementwise functions of one formula each: a row names it, its operation, and how operands are promoted.

Functions that take several steps (division, powers, rounding, parts of floats, ...) are in `arithmetic` and
`floating`; the objects with methods such as ``jnp.add.reduce`` are in `ufunc_objects`.
"""
from __future__ import annotations

from typing import Any, cast

import numpy as np

from jax_core.programs.jit import inlined
from jax_core.representation import dtypes
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike

from .. import lax
from ..lax.nary import kept_wide
from .promotion import (
    check_arraylike,
    convert,
    joined,
    narrowed,
    promote_args_inexact,
    promote_shapes,
    refuse_out,
    settled,
    strong,
    unwrapped,
)
from .rows import adaptive, binary, named, shown, unary

# -- trigonometric and hyperbolic --------------------------------------------------------------------------------------

def _log10(x):
    """Complex numbers by their parts, as a complex factor makes NaN of an infinite one."""
    log = lax.log(strong(x))
    if dtypes.dtype(log).kind != "c":
        return lax.mul(log, _like(x, np.log10(np.e)))
    return lax.complex(*(lax.mul(part, _like(part, np.log10(np.e))) for part in (lax.real(log), lax.imag(log))))


sin = unary("sin", lambda x: lax.sin(x), "inexact", "Sine of an angle in radians.",
    example=">>> jnp.sin(jnp.array([0., 0.5]))\nArray([0.        , 0.47942555], dtype=float32)")
cos = unary("cos", lambda x: lax.cos(x), "inexact", "Cosine of an angle in radians.",
    example=">>> jnp.cos(0.)\nArray(1., dtype=float32, weak_type=True)")
tan = unary("tan", lambda x: lax.tan(x), "inexact", "Tangent of an angle in radians.",
    example=">>> jnp.tan(0.25)\nArray(0.25534192, dtype=float32, weak_type=True)")
arcsin = asin = unary("arcsin", lambda x: lax.asin(x), "inexact", "Inverse sine, in [-pi/2, pi/2]; NaN outside [-1, 1].",
    example=">>> jnp.arcsin(jnp.array([0.5, 2.]))\nArray([0.5235988,       nan], dtype=float32)")
arccos = acos = unary("arccos", lambda x: lax.acos(x), "inexact", "Inverse cosine, in [0, pi]; NaN outside [-1, 1].",
    example=">>> jnp.arccos(1.)\nArray(0., dtype=float32, weak_type=True)")
arctan = atan = unary("arctan", lambda x: lax.atan(x), "inexact", "Inverse tangent, in [-pi/2, pi/2].",
    example=">>> jnp.arctan(jnp.inf)\nArray(1.5707964, dtype=float32, weak_type=True)")
sinh = unary("sinh", lambda x: lax.sinh(x), "inexact", "Hyperbolic sine.",
    example=">>> jnp.sinh(1.)\nArray(1.1752012, dtype=float32, weak_type=True)")
cosh = unary("cosh", lambda x: lax.cosh(x), "inexact", "Hyperbolic cosine.",
    example=">>> jnp.cosh(0.)\nArray(1., dtype=float32, weak_type=True)")
tanh = unary("tanh", lambda x: lax.tanh(x), "inexact", "Hyperbolic tangent.",
    example=">>> jnp.tanh(jnp.array([-9., 0., 0.5]))\nArray([-1.        ,  0.        ,  0.46211717], dtype=float32)")
arcsinh = asinh = unary("arcsinh", lambda x: lax.asinh(x), "inexact", "Inverse hyperbolic sine.",
    example=">>> jnp.arcsinh(1.)\nArray(0.88137364, dtype=float32, weak_type=True)")
arccosh = acosh = unary("arccosh", lambda x: lax.acosh(x), "inexact", "Inverse hyperbolic cosine; NaN below 1.",
    example=">>> jnp.arccosh(jnp.array([1., 0.5]))\nArray([ 0., nan], dtype=float32)")
arctanh = atanh = unary("arctanh", lambda x: lax.atanh(x), "inexact", "Inverse hyperbolic tangent; NaN outside [-1, 1].",
    example=">>> jnp.arctanh(0.5)\nArray(0.54930615, dtype=float32, weak_type=True)")
arctan2 = atan2 = binary("arctan2", lambda x, y: lax.atan2(x, y), "inexact",
                         "Angle of the point with ordinate ``x1`` and abscissa ``x2``, in [-pi, pi].",
    example=">>> jnp.arctan2(jnp.array([1., -1.]), -1.)\nArray([ 2.3561945, -2.3561945], dtype=float32)")
degrees = rad2deg = unary("degrees", lambda x: settled(lax.mul(x, _like(x, 180 / np.pi))), "inexact", "Radians to degrees.",
    example=">>> jnp.degrees(jnp.pi / 4)\nArray(45., dtype=float32, weak_type=True)")
radians = deg2rad = unary("radians", lambda x: settled(lax.mul(x, _like(x, np.pi / 180))), "inexact", "Degrees to radians.",
    example=">>> jnp.radians(jnp.array([90, 180]))\nArray([1.5707964, 3.1415927], dtype=float32)")

# -- exponentials, logarithms, roots -----------------------------------------------------------------------------------

exp = unary("exp", lambda x: lax.exp(x), "inexact", "e to the power of each element.",
    example=">>> jnp.exp(jnp.array([0, 1]))\nArray([1.       , 2.7182817], dtype=float32)")
exp2 = unary("exp2", lambda x: lax.exp2(x), "inexact", "2 to the power of each element.",
    example=">>> jnp.exp2(jnp.array([3., 0.5]))\nArray([8.       , 1.4142135], dtype=float32)")
expm1 = unary("expm1", lambda x: lax.expm1(x), "inexact", "``exp(x) - 1``, accurate for small ``x``.",
    example=">>> jnp.expm1(1e-6)\nArray(1.0000005e-06, dtype=float32, weak_type=True)")
log = unary("log", lambda x: lax.log(x), "inexact", "Natural logarithm; NaN below 0, -inf at 0.",
    example=">>> jnp.log(jnp.array([1., 0., -1.]))\nArray([  0., -inf,  nan], dtype=float32)")
log1p = unary("log1p", lambda x: lax.log1p(x), "inexact", "``log(1 + x)``, accurate for small ``x``.",
    example=">>> jnp.log1p(1e-6)\nArray(9.999995e-07, dtype=float32, weak_type=True)")
log2 = unary("log2", lambda x: lax.log2(x), "inexact", "Logarithm to base 2.",
    example=">>> jnp.log2(jnp.array([8, 10]))\nArray([3.      , 3.321928], dtype=float32)")
log10 = unary("log10", _log10, "inexact", "Logarithm to base 10.",
    example=">>> jnp.log10(1000.)\nArray(3., dtype=float32)")
sqrt = unary("sqrt", lambda x: lax.sqrt(x), "inexact", "Square root; NaN below 0.",
    example=">>> jnp.sqrt(jnp.array([2, 9]))\nArray([1.4142135, 3.       ], dtype=float32)")
cbrt = unary("cbrt", lambda x: lax.cbrt(x), "floats", "Real cube root.",
    example=">>> jnp.cbrt(-27.)\nArray(-3., dtype=float32, weak_type=True)")
square = unary("square", lambda x: lax.square(x), "numeric", "``x * x``.", exact="integers",
    example=">>> jnp.square(jnp.array([3, -4]))\nArray([ 9, 16], dtype=int32)")
reciprocal = unary("reciprocal", lambda x: lax.div(_like(x, 1), x), "inexact", "``1 / x``.",
    example=">>> jnp.reciprocal(8.)\nArray(0.125, dtype=float32, weak_type=True)")

# -- comparisons -------------------------------------------------------------------------------------------------------

equal = binary("equal", lambda x, y: lax.eq(x, y), "truth", "Whether elements are equal.", ("x", "y"), exact="always",
    example=">>> jnp.equal(jnp.array([1, 2]), 2)\nArray([False,  True], dtype=bool)")
not_equal = binary("not_equal", lambda x, y: lax.ne(x, y), "truth", "Whether elements differ.", ("x", "y"), exact="always",
    example=">>> jnp.not_equal(jnp.array([1, 2]), 2)\nArray([ True, False], dtype=bool)")


def _ordered(name: str, op: Any, part: Any, summary: str, example: str = ""):
    """An order comparison; complex numbers are ordered by real part, then by imaginary part."""
    def compare(x: Array, y: Array):
        if not dtypes.issubdtype(lax.dtype(x), np.complexfloating):
            return op(x, y)
        re_x, re_y = lax.real(x), lax.real(y)
        return lax.select(lax.eq(re_x, re_y), op(lax.imag(x), lax.imag(y)), part(re_x, re_y))
    return binary(name, compare, "truth", summary, ("x", "y"), exact="always", example=example)


greater = _ordered("greater", lambda x, y: lax.gt(x, y), lambda x, y: lax.gt(x, y), "Whether ``x > y``.",
    example=">>> jnp.greater(jnp.array([1, 2, 3]), 2)\nArray([False, False,  True], dtype=bool)")
greater_equal = _ordered("greater_equal", lambda x, y: lax.ge(x, y), lambda x, y: lax.gt(x, y), "Whether ``x >= y``.",
    example=">>> jnp.greater_equal(jnp.array([1, 2, 3]), 2)\nArray([False,  True,  True], dtype=bool)")
less = _ordered("less", lambda x, y: lax.lt(x, y), lambda x, y: lax.lt(x, y), "Whether ``x < y``.",
    example=">>> jnp.less(jnp.array([1, 2, 3]), 2)\nArray([ True, False, False], dtype=bool)")
less_equal = _ordered("less_equal", lambda x, y: lax.le(x, y), lambda x, y: lax.lt(x, y), "Whether ``x <= y``.",
    example=">>> jnp.less_equal(jnp.array([1, 2, 3]), 2)\nArray([ True,  True, False], dtype=bool)")

# -- arithmetic of one operation ---------------------------------------------------------------------------------------
# add, subtract, multiply, negative, maximum, minimum are wrapped as ufunc objects by `ufunc_objects`

add = binary("add", lambda x, y: lax.bitwise_or(x, y) if _is_bool(x) else lax.add(x, y), "any", "Sum of elements.",
             exact="integers",
    example=">>> jnp.add(jnp.arange(3), 10)\nArray([10, 11, 12], dtype=int32)\n>>> jnp.add.reduce(jnp.arange(5))\nArray(10, dtype=int32)")
subtract = binary("subtract", lambda x, y: lax.sub(x, y), "numbers", "Difference of elements.", exact="integers",
    example=">>> jnp.subtract(5, jnp.arange(3))\nArray([5, 4, 3], dtype=int32)")


def _times_mask(x1: Any, x2: Any) -> Array | None:
    """A product with booleans as a selection, as which XLA compiles it: 0 where the mask is False, also for infinity and NaN."""
    if getattr(x2, "dtype", None) == np.bool_:
        mask, x = x2, x1
    elif getattr(x1, "dtype", None) == np.bool_:
        mask, x = x1, x2
    else:
        return None
    if not hasattr(x, "dtype") or not dtypes.issubdtype(x.dtype, np.inexact):
        return None
    joined(mask, x)  # which strict promotion refuses
    mask, x = promote_shapes("multiply", mask, x)
    if not np.shape(x):
        x = lax.broadcast(x, np.shape(mask))
    return lax.select(mask, x, lax.full_like(x, 0))


multiply = binary("multiply", lambda x, y: lax.bitwise_and(x, y) if _is_bool(x) else lax.mul(x, y), "any",
                  "Product of elements.", exact="integers", step_by_step=_times_mask,
    example=">>> jnp.multiply.outer(jnp.arange(1, 3), jnp.arange(1, 4))\nArray([[1, 2, 3],\n       [2, 4, 6]], dtype=int32)")
negative = unary("negative", lambda x: lax.neg(x), "numbers", "``-x``.", exact="integers",
    example=">>> jnp.negative(jnp.array([1, -2]))\nArray([-1,  2], dtype=int32)")
maximum = binary("maximum", lambda x, y: lax.max(x, y), "any", "The larger of two elements; NaN if either is NaN.",
                 exact="integers",
    example=">>> jnp.maximum(jnp.array([1., jnp.nan]), 2.)\nArray([ 2., nan], dtype=float32)")
minimum = binary("minimum", lambda x, y: lax.min(x, y), "any", "The smaller of two elements; NaN if either is NaN.",
                 exact="integers",
    example=">>> jnp.minimum(jnp.array([1, 5]), 2)\nArray([1, 2], dtype=int32)")
nextafter = binary("nextafter", lambda x, y: lax.nextafter(x, y), "floats",
                   "The next representable number after ``x`` towards ``y``.", ("x", "y"),
    example=">>> jnp.nextafter(1., 2.) - 1\nArray(1.1920929e-07, dtype=float32, weak_type=True)")
positive = unary("positive", lambda x: x, "any", "``+x``: the elements unchanged.", exact="always",
    example=">>> jnp.positive(-3)\nArray(-3, dtype=int32, weak_type=True)")

# -- bits --------------------------------------------------------------------------------------------------------------

bitwise_and = binary("bitwise_and", lambda x, y: lax.bitwise_and(x, y), "integers", "Bitwise and.", exact="always",
    example=">>> jnp.bitwise_and(12, 10)\nArray(8, dtype=int32, weak_type=True)")
bitwise_or = binary("bitwise_or", lambda x, y: lax.bitwise_or(x, y), "integers", "Bitwise or.", exact="always",
    example=">>> jnp.bitwise_or(12, 10)\nArray(14, dtype=int32, weak_type=True)")
bitwise_xor = binary("bitwise_xor", lambda x, y: lax.bitwise_xor(x, y), "integers", "Bitwise exclusive or.", exact="always",
    example=">>> jnp.bitwise_xor(12, 10)\nArray(6, dtype=int32, weak_type=True)")
bitwise_not = bitwise_invert = invert = unary("invert", lambda x: lax.bitwise_not(x), "integers",
                                              "Each bit flipped; logical not for booleans.",
    example=">>> jnp.invert(jnp.array([0, 5]))\nArray([-1, -6], dtype=int32)")
bitwise_count = unary("bitwise_count", lambda x: lax.convert_element_type(
    lax.population_count(lax.abs(x) if dtypes.issubdtype(lax.dtype(x), np.signedinteger) else x), np.uint8), "bits",
    "Number of one bits of the absolute value, as uint8.", exact="always",
    example=">>> jnp.bitwise_count(jnp.array([7, -8]))\nArray([3, 1], dtype=uint8)")
left_shift = binary("left_shift", lambda x, y: lax.shift_left(x, y), "bits", "Bits of ``x`` moved up by ``y``.", ("x",
                    "y"), exact="always",
    example=">>> jnp.left_shift(3, 2)\nArray(12, dtype=int32, weak_type=True)")
bitwise_left_shift = left_shift
right_shift = bitwise_right_shift = binary(
    "right_shift", lambda x, y: lax.shift_right_logical(x, y) if dtypes.issubdtype(lax.dtype(x), np.unsignedinteger)
    else lax.shift_right_arithmetic(x, y), "bits", "Bits of ``x1`` moved down by ``x2``, keeping the sign.",
    example=">>> jnp.right_shift(jnp.array([-8, 8]), 1)\nArray([-4,  4], dtype=int32)")

# -- logic -------------------------------------------------------------------------------------------------------------


def truth(x: ArrayLike) -> Array:
    """``x != 0`` as a boolean array (``x`` itself if it is one)."""
    value: Any = unwrapped(x)
    if lax.dtype(value) == np.bool_:
        return value
    return settled(lax.ne(whole("a function of truth values", value), _like(value, 0)))


def _logical(name: str, op: Any, summary: str, example: str = ""):
    def fun(x1: ArrayLike, x2: ArrayLike, /) -> Array:
        check_arraylike(name, x1, x2)
        return op(*promote_shapes(name, truth(x1), truth(x2)))
    return adaptive("always")(named(fun, name, f"{summary} Any nonzero element counts as true; the result is boolean.\n\n"
                                      f"    Source: `numpy.{name}`.\n    {shown(example)}"))


logical_and = _logical("logical_and", lambda x, y: lax.bitwise_and(x, y), "Whether both elements are true.",
    example=">>> jnp.logical_and(jnp.array([0, 1, 2]), True)\nArray([False,  True,  True], dtype=bool)")
logical_or = _logical("logical_or", lambda x, y: lax.bitwise_or(x, y), "Whether either element is true.",
    example=">>> jnp.logical_or(jnp.array([0, 1]), False)\nArray([False,  True], dtype=bool)")
logical_xor = _logical("logical_xor", lambda x, y: lax.bitwise_xor(x, y), "Whether exactly one element is true.",
    example=">>> jnp.logical_xor(jnp.array([0, 1]), True)\nArray([ True, False], dtype=bool)")
logical_not = unary("logical_not", lambda x: lax.bitwise_not(truth(x)), "truth",
                    "Whether the element is false (zero); the result is boolean.", exact="always",
    example=">>> jnp.logical_not(jnp.array([0, 3]))\nArray([ True, False], dtype=bool)")

# -- classification ----------------------------------------------------------------------------------------------------


def _is_bool(x: Any) -> bool:
    return lax.dtype(x) == np.bool_


def _is_complex(x: Any) -> bool:
    return dtypes.issubdtype(lax.dtype(x), np.complexfloating)


def _is_inexact(x: Any) -> bool:
    return dtypes.issubdtype(lax.dtype(x), np.inexact)


def whole(name: str, x: ArrayLike) -> Any:
    """``x``, which is known not to be inexact. Raises TypeError where it holds no numbers, as random keys."""
    if isinstance(lax.dtype(x), dtypes.ExtendedDType):
        raise TypeError(f"{name} does not accept dtype {lax.dtype(x)}; it takes numbers")
    return x


def _like(x: Any, value: Any) -> Any:
    """``value`` as a literal of the dtype of ``x`` (and as weak as it)."""
    dtype, weak = dtypes.dtype_and_weak_type(x)
    kind = {"f": float, "c": complex, "i": int}.get(np.dtype(dtype).kind) if weak else None
    if kind is not None and dtypes.dtype(kind) == dtype:  # else an array of a time when x64 was off, or on
        return kind(value)
    return kept_wide(np.dtype(dtype).type(value))


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
    out = lax.bitwise_and(lax.bitwise_not(lax.is_finite(x)), lax.eq(x, x))  # makes no infinity, which debug_infs would find
    return lax.convert_element_type(out, bool) if dtypes.is_weakly_typed(x) else out


isfinite = unary("isfinite", _isfinite, "truth", "Whether an element is neither infinite nor NaN.", exact="always",
    example=">>> jnp.isfinite(jnp.array([1., jnp.inf, jnp.nan]))\nArray([ True, False, False], dtype=bool)")
isinf = unary("isinf", _isinf, "truth", "Whether an element is infinite.", exact="always",
    example=">>> jnp.isinf(jnp.array([1., -jnp.inf]))\nArray([False,  True], dtype=bool)")
isnan = unary("isnan", lambda x: lax.ne(x, x) if _is_inexact(x) or dtypes.is_weakly_typed(x) else _full_bool(x, False), "truth",
              "Whether an element is NaN.", exact="always",
    example=">>> jnp.isnan(jnp.array([1., jnp.nan]))\nArray([False,  True], dtype=bool)")


def _sign_of_inf(name: str, value: float, x: Any, out: Any) -> Any:
    refuse_out(name, out)
    check_arraylike(name, x)
    x = unwrapped(x)
    if _is_complex(x):
        raise ValueError(f"jnp.{name}: complex numbers have no sign; got dtype {lax.dtype(x)}.")
    return lax.eq(x, np.dtype(lax.dtype(x)).type(value)) if _is_inexact(x) else _full_bool(x, False)


@inlined(static_argnames=("out",))
def isposinf(x: ArrayLike, /, out: None = None) -> Array:
    """Whether an element is positive infinity.

    Args:
      out: must be None.

    Source: `numpy.isposinf`.

    >>> jnp.isposinf(jnp.array([-jnp.inf, jnp.inf]))
    Array([False,  True], dtype=bool)
    """
    return _sign_of_inf("isposinf", np.inf, x, out)


@inlined(static_argnames=("out",))
def isneginf(x: ArrayLike, /, out: None = None) -> Array:
    """Whether an element is negative infinity.

    Args:
      out: must be None.

    Source: `numpy.isneginf`.

    >>> jnp.isneginf(jnp.array([-jnp.inf, jnp.inf]))
    Array([ True, False], dtype=bool)
    """
    return _sign_of_inf("isneginf", -np.inf, x, out)


# -- sign, magnitude, complex parts ------------------------------------------------------------------------------------

abs = absolute = unary("absolute", lambda x: x if dtypes.issubdtype(lax.dtype(x), np.unsignedinteger) or _is_bool(x)
                       else lax.abs(x), "modulus", "Absolute value; the modulus of a complex number (as a real).",
                                    exact="integers",
    example=">>> jnp.absolute(jnp.array([-3, 4]))\nArray([3, 4], dtype=int32)\n>>> jnp.abs(3 + 4j)\nArray(5., dtype=float32, weak_type=True)")
fabs = unary("fabs", lambda x: _real_abs(x), "floats", "Absolute value, as a float.",
    example=">>> jnp.fabs(-3)\nArray(3., dtype=float32, weak_type=True)")


def _real_abs(x):
    if _is_complex(x):
        raise TypeError(f"jnp.fabs does not take complex numbers, got dtype {lax.dtype(x)}; use jnp.abs.")
    return lax.abs(x)


sign = unary("sign", lambda x: lax.sign(x), "numbers", "-1, 0 or 1; ``x / |x|`` for complex numbers.", exact="integers",
    example=">>> jnp.sign(jnp.array([-2.5, 0., 7.]))\nArray([-1.,  0.,  1.], dtype=float32)")
floor = unary("floor", lambda x: lax.floor(x) if _is_inexact(x) else whole("floor", x), "real",
              "Largest integer not above each element.", exact="integers",
    example=">>> jnp.floor(jnp.array([-1.5, 1.5]))\nArray([-2.,  1.], dtype=float32)")
ceil = unary("ceil", lambda x: lax.ceil(x) if _is_inexact(x) else whole("ceil", x), "real", "Smallest integer not below each element.",
             exact="integers",
    example=">>> jnp.ceil(jnp.array([-1.5, 1.5]))\nArray([-1.,  2.], dtype=float32)")
real = unary("real", lambda x: lax.real(x) if _is_complex(x) else x, "modulus", "Real part.", "val", exact="always",
    example=">>> jnp.real(1 + 2j)\nArray(1., dtype=float32, weak_type=True)")
imag = unary("imag", lambda x: lax.imag(x) if _is_complex(x) else lax.full_like(x, 0), "modulus",
             "Imaginary part; zeros for real numbers.", "val", exact="always",
    example=">>> jnp.imag(jnp.array([1 + 2j, 3]))\nArray([2., 0.], dtype=float32)")
conj = conjugate = unary("conjugate", lambda x: lax.conj(x) if _is_complex(x) else x, "any", "Complex conjugate.",
    example=">>> jnp.conjugate(1 + 2j)\nArray(1.-2.j, dtype=complex64, weak_type=True)")


@inlined(static_argnames=("deg",))
def angle(z: ArrayLike, deg: bool = False) -> Array:
    """Argument of complex numbers, in (-pi, pi].

    Args:
      z: array of any dtype; real numbers have the angle 0 or pi.
      deg: in degrees.

    Source: `numpy.angle`.

    >>> jnp.angle(jnp.array([1j, -1]), deg=True)
    Array([ 90., 180.], dtype=float32)
    """
    check_arraylike("angle", z)
    z, = promote_args_inexact("angle", z) if _is_inexact(z) else [convert(z, dtypes.default_float_dtype())]
    if _is_complex(z):
        result = lax.atan2(lax.imag(z), lax.real(z))
    else:
        z = strong(z)
        signs = narrowed(z)
        kind = np.dtype(f"int{8 * lax.dtype(signs).itemsize}")
        negative = lax.lt(lax.bitcast_convert_type(signs, kind), kind.type(0))  # -0 too
        result = lax.select(negative, lax.full_like(z, np.pi), lax.full_like(z, 0))
        result = lax.add(result, lax.square(lax.select(lax.ne(z, z), z, lax.full_like(z, 0))))  # NaN, of slope NaN
    return lax.mul(result, _like(result, 180 / np.pi)) if deg else result


@adaptive("always")
def iscomplex(x: ArrayLike) -> Array:
    """Whether the imaginary part of an element is not zero. Source: `numpy.iscomplex`.

    >>> jnp.iscomplex(jnp.array([1j, 2]))
    Array([ True, False], dtype=bool)
    """
    part = imag(x)
    return settled(not_equal(part, _like(part, 0)))


@adaptive("always")
def isreal(x: ArrayLike) -> Array:
    """Whether the imaginary part of an element is zero. Source: `numpy.isreal`.

    >>> jnp.isreal(jnp.array([1j, 2]))
    Array([False,  True], dtype=bool)
    """
    part = imag(x)
    return settled(equal(part, _like(part, 0)))


def iscomplexobj(x: object) -> bool:
    """Whether ``x`` has a complex dtype. Source: `numpy.iscomplexobj`.

    >>> jnp.iscomplexobj(jnp.zeros(2, complex))
    True
    """
    if x is None or isinstance(x, str):
        return False
    try:
        return dtypes.issubdtype(lax.dtype(x), np.complexfloating)
    except TypeError:
        return np.iscomplexobj(cast(Any, x))


def isrealobj(x: object) -> bool:
    """Whether ``x`` does not have a complex dtype. Source: `numpy.isrealobj`.

    >>> jnp.isrealobj(jnp.zeros(2, complex))
    False
    """
    return not iscomplexobj(x)
