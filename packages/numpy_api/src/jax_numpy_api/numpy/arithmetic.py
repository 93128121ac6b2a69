"""Elementwise arithmetic in several steps: division in its variants, powers, and functions of two numbers.

Integer division and remainder round towards minus infinity (NumPy's rule) where the hardware and StableHLO round
towards zero: one division, one multiplication and one selection correct that. Formulas are chosen so that derivatives
are finite where the function's are: what a branch does not use is computed from a harmless value.
"""
from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from jax_core.programs.jit import inlined
from jax_core.representation import dtypes
from jax_core.representation.arguments import joint_shape
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike
from jax_core.traces.trace import Tracer
from jax_core.transformations.custom_jvp import SymbolicZero, custom_jvp

from .. import lax
from .promotion import (
    as_array,
    broadcast_shape,
    broadcast_to,
    broadcast_together,
    check_arraylike,
    concrete,
    convert,
    joined,
    promote_args,
    promote_args_inexact,
    promote_args_numeric,
    promote_dtypes,
    promote_shapes,
    settled,
    shape_of,
    strong,
    unwrapped,
)
from .rows import adaptive, binary
from .ufuncs import _is_complex, _is_inexact, _like, truth

if TYPE_CHECKING:
    from jax_core.representation.typing import PyTree


def where(condition: ArrayLike, x: ArrayLike, y: ArrayLike) -> Any:
    """Selection for use inside this package: ``x`` where ``condition`` holds, else ``y``; promoted and broadcast."""
    x, y = promote_dtypes(x, y)
    return select(truth(condition), x, y)


def select(condition: ArrayLike, x: ArrayLike, y: ArrayLike) -> Any:
    """`where` for operands of one dtype."""
    shapes = shape_of(condition), shape_of(x), shape_of(y)
    full = broadcast_shape("where", *shapes, kind=ValueError)
    if not shapes[0]:
        return lax.select_n_p.bind(condition, *broadcast_together((y, x), full))
    return lax.select_n_p.bind(*broadcast_together((condition, y, x), full))


# -- division ----------------------------------------------------------------------------------------------------------

divide = true_divide = binary("divide", lambda x, y: lax.div(x, y), "inexact",
                              "Quotient of elements, as floats; integers are converted first.",
    example=">>> jnp.divide(jnp.array([1, 2]), 4)\nArray([0.25, 0.5 ], dtype=float32)")


def _opposite(x, y):
    """Where one of two integers is negative and the other is not."""
    zero = _like(x, 0)
    return lax.ne(lax.lt(x, zero), lax.lt(y, zero))


def _integer_quotient(x, y):
    """Floor quotient of integers; a zero divisor gives what StableHLO gives (-1)."""
    quotient = lax.div(x, y)
    if dtypes.issubdtype(lax.dtype(x), np.unsignedinteger):
        return quotient
    inexact = lax.ne(lax.mul(quotient, y), x)  # no remainder, which would be a second division to compile
    return select(lax.bitwise_and(inexact, _opposite(x, y)), lax.sub(quotient, _like(quotient, 1)), quotient)


def _integer_remainder(x, y):
    """Remainder of integers with the sign of the divisor, and 0 where that is 0."""
    rest = lax.rem(x, y)
    if not dtypes.issubdtype(lax.dtype(x), np.unsignedinteger):
        wrong = lax.bitwise_and(lax.ne(rest, _like(rest, 0)), _opposite(rest, y))
        rest = select(wrong, lax.add(rest, y), rest)
    return _zero_by_zero(rest, y)


def _float_divmod(x, y):
    """Floor quotient and remainder of floats: the remainder is exact, the quotient is rounded from ``x - remainder``."""
    remainder = lax.rem(x, y)
    zero = _like(x, 0)
    is_zero = lax.eq(y, zero)
    quotient = lax.div(select(is_zero, x, lax.sub(x, remainder)), y)
    wrong = lax.bitwise_and(lax.ne(remainder, zero), lax.ne(lax.sign(y), lax.sign(remainder)))
    quotient = select(wrong, lax.sub(quotient, _like(x, 1)), quotient)
    remainder = select(wrong, lax.add(remainder, y), remainder)
    return lax.round(quotient), remainder


def _real_operands(name, x1, x2):
    x1, x2 = promote_args_numeric(name, x1, x2)
    if _is_complex(x1):
        raise TypeError(f"jnp.{name} does not take complex numbers, got dtype {lax.dtype(x1)}; they have no order.")
    return x1, x2


@adaptive("integers")
def floor_divide(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """``floor(x1 / x2)`` in the dtype of the operands.

    Args:
      x1, x2: arrays or numbers; promoted to one dtype and broadcast.

    Returns:
      an array of the promoted dtype. A quotient by integer 0 is -1.

    Raises:
      TypeError: not arrays, or shapes that do not broadcast.

    Source: `numpy.floor_divide`.

    >>> jnp.floor_divide(jnp.array([7, -7]), 2)
    Array([ 3, -4], dtype=int32)
    """
    x1, x2 = _real_operands("floor_divide", x1, x2)
    return _float_divmod(x1, x2)[0] if _is_inexact(x1) else _integer_quotient(x1, x2)


def _zero_by_zero(rest, divisor):
    """``rest``, and 0 where the divisor, an integer, is 0: NumPy's convention, where StableHLO gives the dividend."""
    zero = _like(rest, 0)
    return select(lax.eq(divisor, zero), zero, rest)


@adaptive("integers")
def remainder(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Remainder with the sign of the divisor, ``x1 - x2 * floor(x1 / x2)``.

    Args:
      x1, x2: real arrays or numbers; promoted to one dtype and broadcast.

    Returns:
      an array of the promoted dtype. The remainder by integer 0 is 0.

    Source: `numpy.remainder`.

    >>> jnp.mod(jnp.array([7, -7]), 3)
    Array([1, 2], dtype=int32)
    """
    x1, x2 = promote_args_numeric("remainder", x1, x2)
    if not _is_inexact(x1):
        return _integer_remainder(x1, x2)
    rest, zero = lax.rem(x1, x2), _like(x1, 0)
    wrong = lax.bitwise_and(lax.ne(rest, zero), lax.ne(lax.lt(rest, zero), lax.lt(x2, zero)))
    return select(wrong, lax.add(rest, x2), rest)


mod = remainder


@adaptive("integers")
def divmod(x1: ArrayLike, x2: ArrayLike, /) -> tuple[Array, Array]:
    """Pair of `floor_divide` and `remainder`. Source: `numpy.divmod`.

    >>> jnp.divmod(-7, 3)
    (Array(-3, dtype=int32, weak_type=True), Array(2, dtype=int32, weak_type=True))
    """
    x1, x2 = _real_operands("divmod", x1, x2)
    if _is_inexact(x1):
        return _float_divmod(x1, x2)
    quotient = _integer_quotient(x1, x2)
    return quotient, _zero_by_zero(lax.sub(x1, lax.mul(quotient, x2)), x2)


@adaptive("integers")
def fmod(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Remainder with the sign of the dividend, as in C; by integer 0 it is 0.

    Args:
      x1, x2: arrays or numbers, which broadcast.

    Source: `numpy.fmod`.

    >>> jnp.fmod(jnp.array([7, -7]), 3)
    Array([ 1, -1], dtype=int32)
    """
    x1, x2 = promote_args_numeric("fmod", x1, x2)
    rest = lax.rem(x1, x2)
    return rest if _is_inexact(x1) else _zero_by_zero(rest, x2)


# -- powers ------------------------------------------------------------------------------------------------------------

@inlined(static_argnums=(1,))
def _static_power(x, exponent, /):
    """``x`` to a power that is a Python integer: repeated squaring."""
    if lax.dtype(x) == np.bool_:
        x = convert(x, np.dtype(np.int32))  # with 64 bits too, as the public release does
    if _is_inexact(x) or exponent >= 0:
        return lax.integer_pow(x, exponent)
    raise TypeError(f"Integers cannot be raised to negative powers, got integer_pow({lax.dtype(x)}"
                    f"[{','.join(map(str, shape_of(x)))}], {exponent}); convert the base to a float.")


@inlined()
def _power(x1, x2, /):
    dtype, weak = joined(x1, x2)
    if dtypes.issubdtype(dtype, np.inexact):
        weak = weak and not _is_strong_integer(x2)
        return lax.pow(*promote_shapes("power", convert(x1, dtype, weak), convert(x2, dtype, weak)))
    x1, x2 = promote_args_numeric("power", x1, x2)
    return _power_of_integers(x1, x2)


def _is_strong_integer(x):
    dtype, weak = dtypes.dtype_and_weak_type(x)
    return not weak and dtypes.issubdtype(dtype, np.integer)


def _power_of_integers(base, exponent):
    """Binary exponentiation. Accelerators take all bits in one pass; the CPU a few, and more as long as some exponent has a bit left."""
    shape = joint_shape(shape_of(base), shape_of(exponent))
    base, exponent = broadcast_together((strong(base), strong(exponent)), shape)
    one, zero = _like(base, 1), _like(base, 0)

    def more(state: PyTree):
        return lax.reduce_or(lax.ne(state[2], zero), tuple(range(len(shape))))

    def step(state: PyTree):
        result, base, exponent = state
        odd = lax.eq(lax.bitwise_and(exponent, one), one)
        result = select(odd, lax.mul(result, base), result)
        return result, lax.mul(base, base), lax.shift_right_logical(exponent, one)

    def steps(count, base, exponent):
        state = lax.full_like(base, 1), base, exponent
        for _ in range(count):
            state = step(state)
        return state
    bits = 8 * np.dtype(base.dtype).itemsize
    return lax.platform_dependent(base, exponent, cpu=lambda *args: lax.while_loop(more, step, steps(min(_COMMON_BITS, bits), *args))[0],
                                  default=lambda *args: steps(bits, *args)[0])


_COMMON_BITS = 6  # of an exponent. A power with more bits overflows, unless its base is 0, 1 or -1


def power(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """``x1`` to the power ``x2``.

    Args:
      x1, x2: arrays or numbers; promoted to one dtype and broadcast. An ``x2`` that is one integer, of Python, NumPy or in an array without axes whose
        contents are known, becomes repeated multiplication.

    Returns:
      an array of the promoted dtype; of that of ``x1``, where ``x2`` is such an integer.

    Raises:
      TypeError: an integer base and a negative Python integer exponent.

    Source: `numpy.power`.

    >>> jnp.pow(jnp.arange(4), 2)
    Array([0, 1, 4, 9], dtype=int32)
    """
    check_arraylike("power", x1, x2)
    exponent = x2 if isinstance(x2, (int, np.integer)) else _known_integer(x2) if getattr(x2, "ndim", None) == 0 else None
    if exponent is None or isinstance(exponent, bool):
        return _power(x1, x2)
    return _static_power(x1, operator.index(exponent))


def _known_integer(x: ArrayLike) -> int | None:
    """The number in an array without axes, if it is an integer and known now."""
    if isinstance(x, Tracer) or not dtypes.issubdtype(dtypes.dtype(unwrapped(x)), np.integer):
        return None
    found = concrete(x)
    return None if found is None else int(found)


pow = power


@inlined()
def float_power(x: ArrayLike, y: ArrayLike, /) -> Array:
    """``x`` to the power ``y``, as floats. Source: `numpy.float_power`.

    >>> jnp.float_power(2, -1)
    Array(0.5, dtype=float32, weak_type=True)
    """
    return lax.pow(*promote_args_inexact("float_power", x, y))


# -- functions of two numbers ------------------------------------------------------------------------------------------

@inlined()
def hypot(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """``sqrt(x1**2 + x2**2)`` without overflow of the squares; an infinite side wins over NaN. Its slope at (0, 0) is 0.

    Args:
      x1, x2: real arrays or numbers; promoted to one float dtype and broadcast.

    Raises:
      ValueError: an argument is complex.

    Source: `numpy.hypot`.

    >>> jnp.hypot(3., 4.)
    Array(5., dtype=float32, weak_type=True)
    """
    x1, x2 = promote_args_inexact("hypot", x1, x2)
    if _is_complex(x1):
        raise ValueError(f"jnp.hypot does not take complex numbers, got dtype {lax.dtype(x1)}.")
    return _hypot(x1, x2)


def _tiny(x):
    """The smallest normal number. What is below may count as 0 in one operation of the machine and not in the next."""
    return float(dtypes.finfo(x.dtype).tiny)


@custom_jvp
def _hypot(x1: Array, x2: Array) -> Array:
    """`hypot` of two floats of one dtype."""
    sizes = [lax.abs(x1), lax.abs(x2)]
    infinite = [lax.eq(size, _like(size, np.inf)) for size in sizes]
    scale, lesser = lax.max(*sizes), lax.min(*sizes)
    ratio = lax.div(lesser, lax.max(scale, _like(scale, _tiny(scale))))
    length = lax.mul(scale, lax.sqrt(lax.add(_like(x1, 1), lax.square(ratio))))
    return select(lax.bitwise_or(*infinite), _like(x1, np.inf), length)


@_hypot.defjvp
def _hypot_jvp(primals, tangents):
    """The tangents, each times its side over the length, both divided by the longer side, as the length may overflow. The quotients do not
    depend on what is divided by, so that counts as a constant."""
    length = _hypot(*primals)
    zero, one, infinity = (_like(length, v) for v in (0, 1, np.inf))
    longer = lax.stop_gradient(lax.max(*map(lax.abs, primals)))
    infinite, flat = lax.eq(longer, infinity), lax.lt(longer, _like(length, _tiny(length)))
    plain = lax.bitwise_or(flat, infinite)
    ratios = [select(plain, zero, lax.div(x, select(plain, one, longer))) for x in primals]
    whole = lax.sqrt(select(plain, one, lax.add(*map(lax.square, ratios))))

    def slope(x, ratio):
        return select(infinite, select(lax.eq(lax.abs(x), infinity), lax.sign(x), zero), lax.div(ratio, whole))
    return length, lax.add(*(lax.mul(t, slope(x, r)) for x, r, t in zip(primals, ratios, tangents)))


@inlined()
def logaddexp(x1: Array, x2: Array, /):
    """``log(exp(x1) + exp(x2))`` without overflow.

    Args:
      x1, x2: arrays or numbers; promoted to one inexact dtype and broadcast.

    Source: `numpy.logaddexp`.

    >>> jnp.logaddexp(jnp.array([0.0, 1000.0]), 0.0)
    Array([6.931472e-01, 1.000000e+03], dtype=float32)
    """
    finite = _is_finite_number(x1) or _is_finite_number(x2)
    x1, x2 = promote_args_inexact("logaddexp", x1, x2)
    if _is_complex(x1):
        return _complex_logaddexp(x1, x2)
    return _log_sum(x1, x2, True, finite)


@inlined()
def logaddexp2(x1: Array, x2: Array, /):
    """``log2(2**x1 + 2**x2)`` without overflow. Source: `numpy.logaddexp2`.

    >>> jnp.logaddexp2(3.0, 3.0)
    Array(4., dtype=float32, weak_type=True)
    """
    x1, x2 = promote_args_inexact("logaddexp2", x1, x2)
    if _is_complex(x1):
        ln2 = _like(x1, np.log(2))
        return lax.div(_complex_logaddexp(lax.mul(x1, ln2), lax.mul(x2, ln2)), ln2)
    return settled(_log_sum(x1, x2, False, False))


@functools.partial(custom_jvp, nondiff_argnums=(2, 3))
def _log_sum(x1: Array, x2: Array, natural: bool, finite: bool) -> Array:
    """`logaddexp`, or `logaddexp2`, of two floats of one dtype, one of which may be known to be ``finite``."""
    larger, share, _ = _larger_and_share(x1, x2, natural, finite)
    log = lax.log1p(share)
    return lax.add(larger, log if natural else lax.div(log, _like(x1, np.log(2))))


@functools.partial(_log_sum.defjvp, symbolic_zeros=True)
def _log_sum_jvp(natural, finite, primals, tangents):
    """Each tangent by the operand's share of the sum: one product, so that infinite tangents do not meet with opposite signs."""
    _, share, second = _larger_and_share(*primals, natural, finite)
    one = _like(share, 1)
    whole = lax.add(one, share)
    parts = [lax.mul(t, lax.div(select(second, *numerators), whole)) for t, numerators in zip(tangents, ((share, one), (one, share)))
             if not isinstance(t, SymbolicZero)]
    return _log_sum(*primals, natural, finite), functools.reduce(lax.add, parts)


def _larger_and_share(x1, x2, natural, finite):
    """The larger operand, what the other is beside it before the logarithm, and whether the second is the larger."""
    larger, gap, second = _larger_and_gap(x1, x2, finite)
    return larger, lax.exp(gap) if natural else lax.exp2(gap), second


def _is_finite_number(x: Any) -> bool:
    return type(x) in (int, float) and abs(x) < 100  # which is finite in any dtype


def _larger_and_gap(x1, x2, finite=False):
    """The larger operand, the smaller one less it, and whether the second is the larger; the gap is 0 for equal infinities, of which there
    are none if one is ``finite``.

    One comparison decides for all, so that their derivatives belong together where the operands are equal.
    """
    second, difference = lax.lt(x1, x2), lax.sub(x1, x2)  # of the larger one, read twice, XLA's CPU compiler would make a kernel
    gap = select(second, difference, lax.neg(difference))
    if not finite:
        same = lax.bitwise_and(lax.eq(x1, x2), lax.bitwise_not(lax.is_finite(x1)))
        gap = select(same, _like(gap, 0), gap)
    return select(second, x2, x1), gap, second


def _gap(large, small, finite):
    """``small - large``; 0 where both are the same and not ``finite``. NaN stays NaN."""
    same = lax.bitwise_and(lax.eq(large, small), lax.bitwise_not(finite))
    return select(same, _like(large, 0), lax.sub(small, large))


def _complex_logaddexp(x1, x2):
    """By the operand of larger real part; the result's imaginary part is brought into (-pi, pi]."""
    first = lax.gt(lax.real(x1), lax.real(x2))
    large, small = select(first, x1, x2), select(first, x2, x1)
    gap = _gap(large, small, lax.is_finite(lax.real(large)))
    angle = lax.imag(large)  # of a large one, beside which nothing of the logarithm's would be left, what is beyond whole turns
    angle = select(lax.gt(lax.abs(angle), _like(angle, np.pi)), lax.atan2(lax.sin(angle), lax.cos(angle)), angle)
    out = lax.add(lax.complex(lax.real(large), angle), lax.log1p(lax.exp(gap)))
    imaginary, turn = lax.imag(out), 2 * np.pi
    turns = lax.ceil(lax.div(lax.sub(imaginary, _like(imaginary, np.pi)), _like(imaginary, turn)))
    return lax.complex(lax.real(out), lax.sub(imaginary, lax.mul(turns, _like(imaginary, turn))))


@adaptive("integers")
def fmax(x1: ArrayLike, x2: ArrayLike) -> Array:
    """The larger of two elements; where one is NaN, the other.

    Args:
      x1, x2: arrays or numbers, which broadcast.

    Source: `numpy.fmax`.

    >>> jnp.fmax(jnp.array([1., jnp.nan]), 0.)
    Array([1., 0.], dtype=float32)
    """
    x1, x2 = promote_args("fmax", x1, x2)
    larger = lax.max(x1, x2)
    if not _is_inexact(x1):
        return larger
    return select(lax.ne(x1, x1), x2, select(lax.ne(x2, x2), x1, larger))


@adaptive("integers")
def fmin(x1: ArrayLike, x2: ArrayLike) -> Array:
    """The smaller of two elements; where one is NaN, the other.

    Args:
      x1, x2: arrays or numbers, which broadcast.

    Source: `numpy.fmin`.

    >>> jnp.fmin(jnp.array([1., jnp.nan]), 2.)
    Array([1., 2.], dtype=float32)
    """
    x1, x2 = promote_args("fmin", x1, x2)
    smaller = lax.min(x1, x2)
    if not _is_inexact(x1):
        return smaller
    return select(lax.ne(x1, x1), x2, select(lax.ne(x2, x2), x1, smaller))


@inlined()
def heaviside(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """0 where ``x1`` is negative, 1 where it is positive, ``x2`` where it is zero. Source: `numpy.heaviside`.

    >>> jnp.heaviside(jnp.array([-1., 0., 1.]), 0.5)
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    many = np.ndim(x1) > 0
    x1, x2 = promote_args_inexact("heaviside", x1, x2)
    zero, one = _like(x1, 0), _like(x1, 1)
    step = select(lax.lt(x1, zero), zero, select(lax.gt(x1, zero), one, x2))
    result = select(lax.ne(x1, x1), x1, step)
    return settled(result) if many else result


def _integers(name, x1, x2):
    x1, x2 = promote_args(name, x1, x2)
    if not dtypes.issubdtype(lax.dtype(x1), np.integer):
        raise ValueError(f"Arguments to jax.numpy.{name} must be integers, got dtype {lax.dtype(x1)}.")
    shape = joint_shape(shape_of(x1), shape_of(x2))
    return broadcast_to(x1, shape), broadcast_to(x2, shape)


def _gcd(x1, x2):
    """Euclid's algorithm, on all elements until every remainder is zero."""
    def more(pair):
        return lax.reduce_or(lax.ne(pair[1], _like(pair[1], 0)), tuple(range(len(shape_of(pair[1])))))

    def step(pair):
        a, b = pair
        done = lax.eq(b, _like(b, 0))
        return select(done, a, b), select(done, b, lax.rem(a, select(done, _like(b, 1), b)))
    return lax.while_loop(more, step, (_magnitude(x1), _magnitude(x2)))[0]


def _magnitude(x):
    return x if dtypes.issubdtype(lax.dtype(x), np.unsignedinteger) else lax.abs(x)


@inlined()
def gcd(x1: ArrayLike, x2: ArrayLike) -> Array:
    """Greatest common divisor of integers, never negative.

    Args:
      x1, x2: integers, which broadcast.

    Source: `numpy.gcd`; Euclid's algorithm.

    >>> jnp.gcd(12, jnp.array([18, 7]))
    Array([6, 1], dtype=int32)
    """
    return _gcd(*_integers("gcd", x1, x2))


@inlined()
def lcm(x1: ArrayLike, x2: ArrayLike) -> Array:
    """Least common multiple of integers, never negative; 0 where either is 0.

    Args:
      x1, x2: integers, which broadcast.

    Source: `numpy.lcm`.

    >>> jnp.lcm(4, 6)
    Array(12, dtype=int32, weak_type=True)
    """
    x1, x2 = map(_magnitude, _integers("lcm", x1, x2))
    divisor = _gcd(x1, x2)
    zero = _like(x1, 0)
    safe = select(lax.eq(divisor, zero), _like(x1, 1), divisor)
    return lax.mul(x1, lax.div(x2, safe))


# -- clipping and differences ------------------------------------------------------------------------------------------

@adaptive("integers")
def _clip(arr, low, high):
    bounds = [b for b in (low, high) if b is not None]
    check_arraylike("clip", arr, *bounds)
    if any(_is_complex(x) for x in (arr, *bounds)):
        raise ValueError("jax.numpy.clip: complex numbers have no order, and arr, min or max is complex; clip the real and the "
                         "imaginary part")
    if low is not None:
        arr = lax.max(*promote_args("clip", low, arr))
    if high is not None:
        arr = lax.min(*promote_args("clip", arr, high))
    return as_array(arr)


def clip(arr: ArrayLike | None = None, /, min: ArrayLike | None = None, max: ArrayLike | None = None) -> Array:
    """``arr`` limited to the interval from ``min`` to ``max``, either of which may be None.

    Args:
      arr: real array or number.
      min, max: arrays or numbers that broadcast against ``arr``; all are promoted to one dtype. Where ``min`` exceeds
        ``max``, the result is ``max``.

    Raises:
      ValueError: complex numbers, which have no order.

    Source: `numpy.clip`.

    >>> jnp.clip(jnp.arange(6), 2, 4)
    Array([2, 2, 2, 3, 4, 4], dtype=int32)
    """
    if arr is None:
        raise ValueError("jax.numpy.clip: arr is missing; give the array to clip")
    return _clip(*map(unwrapped, (arr, min, max)))
