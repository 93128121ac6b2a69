"""Operations on bits: and, or, xor, not, shifts, counts. Booleans are one bit wide.

A shift by a negative amount, or by the width of the dtype or more, shifts every bit out: it gives 0, or for
`shift_right_arithmetic` the sign in every bit.

Source: StableHLO specification, `and`, `or`, `xor`, `not`, `shift_left`, `shift_right_arithmetic`, `shift_right_logical`,
`popcnt`, `count_leading_zeros`.
"""
from __future__ import annotations

import numpy as np

from jax_core.representation import dtypes
from jax_core.representation.array import Array
from jax_core.representation.marks import ZERO
from jax_core.representation.typing import ArrayLike

from .nary import BITS, INTEGER, apply, elementwise, emit, whole_bytes


def _width(x) -> int:
    return dtypes.itemsize_bits(np.asarray(x).dtype)


def _unsigned(x):
    return np.asarray(x).view(f"u{np.asarray(x).dtype.itemsize}")


def _shift_reference(shift, beyond):
    """The NumPy ``shift`` where the amount is in range; elsewhere ``beyond(x)``."""
    def reference(x: ArrayLike, y: ArrayLike):
        x, y = np.asarray(x), np.asarray(y)
        inside = (y >= 0) & (y < _width(x))
        return np.where(inside, shift(x, np.where(inside, y, np.zeros((), y.dtype))), beyond(x)).astype(x.dtype)
    return reference


def _logical_right(x, y):
    return (_unsigned(x) >> _unsigned(y)).view(x.dtype)


def _clz_reference(x):
    bits = _unsigned(x)
    if bits.dtype.itemsize <= 4:  # a float64 holds them, whose exponent counts them
        return (_width(x) - np.frexp(bits.astype(np.float64))[1]).astype(np.asarray(x).dtype)
    bits = bits.astype(np.uint64)
    used = np.zeros(bits.shape, np.int64)
    for shift in (32, 16, 8, 4, 2, 1):
        high = bits >> np.uint64(shift)
        used = np.where(high != 0, used + shift, used)
        bits = np.where(high != 0, high, bits)
    return (_width(x) - used - (bits != 0)).astype(np.asarray(x).dtype)


def _popcount_reference(x):
    x = np.asarray(x)
    return np.bitwise_count(x.view(f"u{x.dtype.itemsize}")).astype(x.dtype)  # of signed integers NumPy counts the absolute values


def _arithmetic_right(x, y):
    """Of narrow dtypes the bits stand lowest in their bytes."""
    up = 8 * x.dtype.itemsize - _width(x)
    signed = np.dtype(f"i{x.dtype.itemsize}")
    return ((x.view(signed) << up >> y.astype(signed)) >> up).astype(x.dtype) if up else (x.view(signed) >> y.view(signed)).view(x.dtype)


def _popcount_lower(b, x):
    """XLA's CPU code counts the bits of the byte that a narrow integer stands in, of which a negative one sets all the upper."""
    whole = whole_bytes(b, x)
    if whole is x:
        return emit(b, "stablehlo.popcnt", x)
    mask = b.full((1 << dtypes.itemsize_bits(x.aval.dtype)) - 1, whole.aval)
    return b.convert(emit(b, "stablehlo.popcnt", emit(b, "stablehlo.and", whole, mask)), x.aval.dtype)


def _bitwise(name, op, reference, accepts=BITS):
    return elementwise(name, op, accepts=accepts, jvp=ZERO, reference=reference, exact=True)


and_p = _bitwise("and", "stablehlo.and", np.bitwise_and)
or_p = _bitwise("or", "stablehlo.or", np.bitwise_or)
xor_p = _bitwise("xor", "stablehlo.xor", np.bitwise_xor)
not_p = _bitwise("not", "stablehlo.not", np.invert)
shift_left_p = _bitwise("shift_left", "stablehlo.shift_left", _shift_reference(np.left_shift, np.zeros_like), INTEGER)
shift_right_arithmetic_p = _bitwise(
    "shift_right_arithmetic", "stablehlo.shift_right_arithmetic",
    _shift_reference(_arithmetic_right, lambda x: _arithmetic_right(x, np.full(x.shape, _width(x) - 1, x.dtype))), INTEGER)
shift_right_logical_p = _bitwise("shift_right_logical", "stablehlo.shift_right_logical",
                                 _shift_reference(_logical_right, np.zeros_like), INTEGER)
population_count_p = _bitwise("population_count", _popcount_lower, _popcount_reference, INTEGER)
clz_p = _bitwise("clz", "stablehlo.count_leading_zeros", _clz_reference, INTEGER)


def bitwise_and(x: ArrayLike, y: ArrayLike) -> Array:
    """Elementwise ``x & y`` of integers or booleans. Raises TypeError if dtypes differ. Source: StableHLO `and`.

    >>> lax.bitwise_and(12, 10)
    Array(8, dtype=int32, weak_type=True)
    """
    return apply(and_p, x, y)


def bitwise_or(x: ArrayLike, y: ArrayLike) -> Array:
    """Elementwise ``x | y`` of integers or booleans. Raises TypeError if dtypes differ. Source: StableHLO `or`.

    >>> lax.bitwise_or(12, 10)
    Array(14, dtype=int32, weak_type=True)
    """
    return apply(or_p, x, y)


def bitwise_xor(x: ArrayLike, y: ArrayLike) -> Array:
    """Elementwise ``x ^ y`` of integers or booleans. Raises TypeError if dtypes differ. Source: StableHLO `xor`.

    >>> lax.bitwise_xor(12, 10)
    Array(6, dtype=int32, weak_type=True)
    """
    return apply(xor_p, x, y)


def bitwise_not(x: ArrayLike) -> Array:
    """Elementwise ``~x`` of integers or booleans. Source: StableHLO `not`.

    >>> lax.bitwise_not(5)
    Array(-6, dtype=int32, weak_type=True)
    """
    return apply(not_p, x)


def shift_left(x: ArrayLike, y: ArrayLike) -> Array:
    """Elementwise ``x << y`` of integers; amounts outside [0, width) give 0. Source: StableHLO `shift_left`.

    >>> lax.shift_left(3, 2)
    Array(12, dtype=int32, weak_type=True)
    """
    return apply(shift_left_p, x, y)


def shift_right_arithmetic(x: ArrayLike, y: ArrayLike) -> Array:
    """Elementwise ``x >> y`` of integers, filling with the sign bit; amounts outside [0, width) leave only the sign.

    Source: StableHLO `shift_right_arithmetic`.

    >>> lax.shift_right_arithmetic(-8, 1)
    Array(-4, dtype=int32, weak_type=True)
    """
    return apply(shift_right_arithmetic_p, x, y)


def shift_right_logical(x: ArrayLike, y: ArrayLike) -> Array:
    """Elementwise ``x >> y`` of integers, filling with zeros; amounts outside [0, width) give 0.

    Source: StableHLO `shift_right_logical`.

    >>> lax.shift_right_logical(jnp.uint8(200), jnp.uint8(3))
    Array(25, dtype=uint8)
    """
    return apply(shift_right_logical_p, x, y)


def population_count(x: ArrayLike) -> Array:
    """Number of set bits of each integer, in its dtype. Source: StableHLO `popcnt`.

    >>> lax.population_count(jnp.array([7, 8]))
    Array([3, 1], dtype=int32)
    """
    return apply(population_count_p, x)


def clz(x: ArrayLike) -> Array:
    """Number of leading zero bits of each integer, in its dtype. Source: StableHLO `count_leading_zeros`.

    >>> lax.clz(jnp.int32(5))
    Array(29, dtype=int32)
    """
    return apply(clz_p, x)
