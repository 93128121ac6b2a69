"""Uniform numbers: floats from an interval, integers from a range, coin flips.

A float is made from random bits without division: the bits fill the mantissa of a number in [1, 2), and 1 is
subtracted. So float32 draws are multiples of 2**-23, float64 of 2**-52, float16 of 2**-10, bfloat16 of 2**-7.

The functions ``draw_*`` take raw keys, which may be batched; the public functions check their arguments and run them
compiled.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from jax_core.programs.jit import inlined
from jax_core.representation import dtypes
from jax_core.representation.array import Array
from jax_core.representation.aval import get_aval
from jax_core.representation.tracebacks import api_boundary
from jax_core.representation.typing import ArrayLike, DTypeLike, Placement, Shape
from jax_numpy_api import lax

from .api import draw_bits
from .checks import broadcast_shape, check_array, check_dtype, check_shape, key_words, run, sampler
from .impls import PRNGImpl, is_partitionable
from .primitives import random_split_p

_FEW_BITS = 8  # mantissas shorter than this get 8 random bits


def split_words(words: object, impl: PRNGImpl, num: int = 2) -> list[Any]:
    """``num`` raw keys from one (or batches of them)."""
    keys = random_split_p.bind(words, impl=impl, shape=(num,), partitionable=is_partitionable())
    axis = keys.ndim - len(impl.key_shape) - 1
    return [lax.index_in_dim(keys, i, axis, keepdims=False) for i in range(num)]


def convert(x: ArrayLike, dtype: np.dtype) -> Any:
    """``x`` (array or number) as strongly typed ``dtype``."""
    if isinstance(x, (bool, int, float, complex, np.generic, np.ndarray)):
        return np.asarray(x).astype(dtype)[()]
    return lax.convert_element_type(x, dtype)


def aligned(x: ArrayLike, shape: tuple[int, ...]) -> Any:
    """``x`` with axes of length 1 put in front, so that it combines with arrays of ``shape``; scalars as they are."""
    rank = np.ndim(x)
    if rank in (0, len(shape)):
        return x
    return lax.expand_dims(x, tuple(range(len(shape) - rank)))


def broadcast_to(x: ArrayLike, shape: tuple[int, ...]) -> Any:
    """``x`` repeated to ``shape``, axes aligned at the end."""
    rank = np.ndim(x)
    return lax.broadcast_in_dim(x, shape, tuple(range(len(shape) - rank, len(shape))))


# -- floats ------------------------------------------------------------------------------------------------------------

def bits_drawn(dtype: DTypeLike | None) -> int:
    """How many random bits a float is made of."""
    return _FEW_BITS if dtypes.finfo(dtype).nmant < _FEW_BITS else 8 * np.dtype(dtype).itemsize


def draw_unit(words: Array, impl: PRNGImpl, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
    """Floats from [0, 1)."""
    dtype = np.dtype(dtype)
    mantissa, width, drawn = dtypes.finfo(dtype).nmant, 8 * dtype.itemsize, bits_drawn(dtype)
    unsigned = np.dtype(f"u{dtype.itemsize}")
    bits = draw_bits(words, impl, drawn, shape)
    if drawn != width:
        bits = lax.convert_element_type(bits, unsigned)
    one = np.ones((), dtype).view(unsigned)[()]
    bits = lax.bitwise_or(lax.shift_right_logical(bits, unsigned.type(drawn - mantissa)), one)
    return lax.sub(lax.bitcast_convert_type(bits, dtype), dtype.type(1))


def draw_uniform(words: Array, impl: PRNGImpl, shape: tuple[int, ...], dtype: np.dtype, minval: ArrayLike = 0.0,
                 maxval: ArrayLike = 1.0) -> Any:
    """Floats from [minval, maxval)."""
    unit = draw_unit(words, impl, shape, dtype)
    if type(minval) is float and type(maxval) is float and (minval, maxval) == (0.0, 1.0):
        return unit
    low, high = (aligned(convert(x, dtype), shape) for x in (minval, maxval))
    return lax.max(low, lax.add(lax.mul(unit, lax.sub(high, low)), low))


@sampler
def _unit(words, *, impl, shape, dtype):
    return draw_unit(words, impl, shape, dtype)


@sampler
def _uniform(words, minval, maxval, *, impl, shape, dtype):
    return draw_uniform(words, impl, shape, dtype, minval, maxval)


@api_boundary
def uniform(key: ArrayLike, shape: Shape = (), dtype: DTypeLike | None = None, minval: ArrayLike = 0.0,
            maxval: ArrayLike = 1.0, *, out_sharding: Placement | None = None) -> Array:
    """Independent samples from the interval ``[minval, maxval)``.

    Args:
      key: one key.
      shape: of the result.
      dtype: any float; default float32, or float64 where x64 is enabled.
      minval, maxval: broadcast to ``shape``. For the shape () they may hold one element each in any shape.
      out_sharding: placement of the result.

    Returns:
      ``dtype[shape]``; of the bounds' shape where that is () and both have axes (flashbax). In float32 the unit draw is a multiple of 2**-23.

    Raises:
      ValueError: dtype is not a float, key is an array of keys, bounds that do not broadcast to ``shape``.

    >>> x = jax.random.uniform(jax.random.key(0), (100,), minval=2., maxval=3.)
    >>> bool((x >= 2).all() and (x < 3).all())
    True
    """
    words, impl = key_words("uniform", key)
    dtype = check_dtype("uniform", dtype)
    shape = check_shape("uniform", shape)
    if type(minval) is float and type(maxval) is float and minval == 0.0 and maxval == 1.0:
        return run(_unit, out_sharding, words, impl=impl, shape=shape, dtype=dtype)
    minval, maxval = check_array("uniform", "minval", minval), check_array("uniform", "maxval", maxval)
    low, high = np.shape(minval), np.shape(maxval)
    if shape == () and (low or high) and {*low, *high} == {1}:
        drawn = run(_uniform, out_sharding, words, lax.reshape(minval, ()), lax.reshape(maxval, ()), impl=impl, shape=shape, dtype=dtype)
        return lax.reshape(drawn, max(low, high, key=len)) if low and high else drawn
    broadcast_shape("uniform", shape, minval, maxval)
    return run(_uniform, out_sharding, words, minval, maxval, impl=impl, shape=shape, dtype=dtype)


# -- integers ----------------------------------------------------------------------------------------------------------

def draw_randint(words: Array, impl: PRNGImpl, shape: tuple[int, ...], dtype: np.dtype, minval: ArrayLike, maxval: ArrayLike) -> Any:
    """Integers from [minval, maxval), by the remainder of twice as many bits as the type has.

    A range of one element or none gives ``minval``; bounds are first brought into the range of the dtype.
    """
    dtype = np.dtype(dtype)
    wanted, info = dtype, dtypes.iinfo(dtype)
    lowest, highest = int(info.min), int(info.max)
    if dtype.itemsize < 4:  # drawn as int32, where the range may end one beyond the largest number
        dtype = np.dtype(np.int32)
        minval = _clipped(minval, lowest, highest, dtype)
        maxval = _clipped(maxval, lowest, highest + 1, dtype)
        beyond = None
    else:
        beyond = _is_above(maxval, highest)
        minval, maxval = _clipped(minval, lowest, highest, dtype), _clipped(maxval, lowest, highest, dtype)
    low, high = aligned(minval, shape), aligned(maxval, shape)
    unsigned = np.dtype(f"u{dtype.itemsize}")
    first, second = split_words(words, impl)
    upper, lower = (draw_bits(k, impl, 8 * dtype.itemsize, shape) for k in (first, second))
    if isinstance(beyond, (bool, np.bool_)) and beyond and isinstance(minval, np.generic) and minval == lowest:
        return lax.add(low, lax.convert_element_type(lower, dtype))  # all numbers: XLA would divide by their count as a constant, which is 0
    span = convert(lax.sub(high, low), unsigned)
    span = lax.select_n(lax.le(high, low), span, _like(span, unsigned.type(1)))
    if beyond is not None:  # the range includes the largest number, so its end has no representation
        whole = lax.bitwise_and(aligned(beyond, shape), lax.gt(high, low))
        span = lax.select_n(whole, span, lax.add(span, unsigned.type(1)))
    half = lax.rem(_like(span, unsigned.type(1 << (4 * dtype.itemsize))), span)
    multiplier = lax.rem(lax.mul(half, half), span)
    offset = lax.add(lax.mul(lax.rem(upper, span), multiplier), lax.rem(lower, span))
    drawn = lax.add(low, lax.convert_element_type(lax.rem(offset, span), dtype))
    return lax.convert_element_type(drawn, wanted) if wanted != dtype else drawn


def _like(x, value):
    """``value`` in the shape of ``x``."""
    return lax.full(np.shape(x), value) if np.shape(x) else value


def _clipped(x, lowest, highest, dtype):
    """``x`` brought into a range and converted; exact for numbers of any integer type."""
    if isinstance(x, (bool, int, float, np.generic, np.ndarray)):
        return np.asarray(np.clip(np.trunc(x) if np.asarray(x).dtype.kind == "f" else np.asarray(x).astype(object),
                                  lowest, highest)).astype(dtype)[()]
    kind = get_aval(x).dtype
    if dtypes.issubdtype(kind, np.integer):
        info = dtypes.iinfo(kind)
        low, high = max(lowest, int(info.min)), min(highest, int(info.max))
    else:
        low, high = lowest, highest
    return lax.convert_element_type(lax.clamp(lax.full_like(x, low, shape=()), x, lax.full_like(x, high, shape=())), dtype)


def _is_above(x, highest):
    """Whether ``x`` is greater than ``highest``; None where its type cannot be."""
    if isinstance(x, (bool, int, float, np.generic, np.ndarray)):
        above = np.asarray(np.asarray(x).astype(object) > highest).astype(bool)[()]
        return above if np.any(above) else None
    kind = get_aval(x).dtype
    if dtypes.issubdtype(kind, np.integer) and int(dtypes.iinfo(kind).max) <= highest:
        return None
    return lax.gt(x, kind.type(highest))


@sampler
def _randint(words, minval, maxval, *, impl, shape, dtype):
    return draw_randint(words, impl, shape, dtype, minval, maxval)


@inlined(static_argnames=("impl", "shape", "dtype", "minval", "maxval"))
def _randint_static(words, *, impl, shape, dtype, minval, maxval):
    return draw_randint(words, impl, shape, dtype, minval, maxval)


@api_boundary
def randint(key: ArrayLike, shape: Shape, minval: ArrayLike, maxval: ArrayLike, dtype: DTypeLike | None = None, *,
            out_sharding: Placement | None = None) -> Array:
    """Independent integers from the range ``[minval, maxval)``.

    Args:
      key: one key.
      shape: of the result.
      minval, maxval: integers, broadcast to ``shape``; ``maxval`` may be one more than the dtype's largest number. Where
        the range is empty the result is ``minval``.
      dtype: integer dtype; default int32, or int64 where x64 is enabled.
      out_sharding: placement of the result.

    Raises:
      TypeError: the dtype is not an integer. ValueError: key is an array of keys, bounds that do not broadcast.
      OverflowError: bounds that neither the dtype nor the default integers hold.

    >>> sorted(set(jax.random.randint(jax.random.key(0), (100,), 0, 3).tolist()))
    [0, 1, 2]
    """
    words, impl = key_words("randint", key)
    shape = check_shape("randint", shape)
    dtype = dtypes.default_int_dtype() if dtype is None else dtypes.canonicalize_user_dtype(dtype, "randint")
    if not dtypes.issubdtype(dtype, np.integer):
        raise TypeError(f"randint only accepts integer dtypes, got {dtype}")
    if type(minval) is int and type(maxval) is int:  # constant ranges make constant divisors, which are fast
        limits = max(dtypes.iinfo(dtype), dtypes.iinfo(dtypes.default_int_dtype()), key=lambda info: info.bits)
        if min(minval, maxval) < min(limits.min, -1) or max(minval, maxval) > int(limits.max) + 1:
            raise OverflowError(f"randint: minval={minval} and maxval={maxval} must lie in the range of {limits.dtype}")
        return run(_randint_static, out_sharding, words, impl=impl, shape=shape, dtype=dtype, minval=minval, maxval=maxval)
    minval, maxval = check_array("randint", "minval", minval), check_array("randint", "maxval", maxval)
    broadcast_shape("randint", shape, minval, maxval)
    return run(_randint, out_sharding, words, minval, maxval, impl=impl, shape=shape, dtype=dtype)


# -- coins -------------------------------------------------------------------------------------------------------------

def draw_bernoulli(words: Array, impl: PRNGImpl, shape: tuple[int, ...], p: ArrayLike, mode: str = "low") -> Any:
    """Whether uniform draws are below ``p``; mode "high" draws twice as many bits, so that tiny ``p`` are exact."""
    dtype = get_aval(p).dtype
    p = aligned(p, shape)
    if mode == "low":
        return lax.lt(draw_unit(words, impl, shape, dtype), p)
    coarse, fine = lax.unstack(draw_unit(words, impl, (2, *shape), dtype), 0)
    return lax.lt(lax.mul(fine, dtype.type(dtypes.finfo(dtype).eps)), lax.sub(p, coarse))


@inlined(static_argnames=("impl", "shape", "mode", "dtype"))
def _bernoulli(words, p, *, impl, shape, mode, dtype):
    return draw_bernoulli(words, impl, shape, convert(p, dtype), mode)


@api_boundary
def bernoulli(key: ArrayLike, p: ArrayLike = 0.5, shape: Shape | None = None, mode: str = "low", *,
              out_sharding: Placement | None = None) -> Array:
    """Independent booleans that are True with probability ``p``.

    Args:
      key: one key.
      p: probabilities, floats.
      shape: of the result, default that of ``p``, which must broadcast to it.
      mode: "low" compares one uniform draw of the dtype of ``p``, and so rounds ``p`` up to a multiple of 2**-23 in float32;
        "high" draws twice as many bits.
      out_sharding: placement of the result.

    Raises:
      TypeError: ``p`` is not a float. ValueError: another mode; ``p`` does not broadcast to ``shape``.

    >>> jax.random.bernoulli(jax.random.key(0), 1., (3,))
    Array([ True,  True,  True], dtype=bool)
    """
    words, impl = key_words("bernoulli", key)
    p = check_array("bernoulli", "p", p, sequences=False)
    dtype = get_aval(p).dtype
    if not dtypes.issubdtype(dtype, np.floating):
        raise TypeError(f"bernoulli probability `p` must have a floating dtype, got {dtype}.")
    if mode not in ("high", "low"):
        raise ValueError(f"bernoulli: got mode={mode!r}, expected 'high' or 'low'")
    shape = broadcast_shape("bernoulli", shape, p)
    return run(_bernoulli, out_sharding, words, p, impl=impl, shape=shape, mode=mode, dtype=dtype)
