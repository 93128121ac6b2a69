"""Random bits from the compiler's generator, whose values may differ from platform to platform.

`jax.random` is the interface for users; these are the operations below its ``rbg`` keys.

Source: StableHLO specification, `rng_bit_generator`, `rng`.
"""
from __future__ import annotations

import enum
from typing import Any, Sequence

import numpy as np

from jax_core.representation import dtypes, splits
from jax_core.representation.arguments import integers
from jax_core.representation.array import Array
from jax_core.representation.aval import ShapedArray
from jax_core.representation.marks import ZERO
from jax_core.representation.primitive import Primitive, none
from jax_core.representation.typing import ArrayLike, DTypeLike, Placement
from jax_core.traces import structural

from .control_flow.map import map as lax_map
from .nary import FLOAT, INTEGER, as_operand, check_dtype


class RandomAlgorithm(enum.IntEnum):
    """The algorithms of `rng_bit_generator`; the default is the platform's fastest."""

    RNG_DEFAULT = 0
    RNG_THREE_FRY = 1
    RNG_PHILOX = 2

    def __str__(self):
        return self.name


_U32, _U64 = np.dtype(np.uint32), np.dtype(np.uint64)


def _bits_type(key, *, shape, dtype, algorithm, out_sharding=None):
    if key.shape not in ((4,), (2,)) or key.dtype != (_U32 if key.shape == (4,) else _U64):
        raise TypeError(f"lax.rng_bit_generator: key must be uint32[4] or uint64[2], got {key.str_short()}.")
    if dtype not in (np.dtype(f"u{n}") for n in (1, 2, 4, 8)):
        raise TypeError(f"lax.rng_bit_generator: dtype={dtype} must be uint8, uint16, uint32 or uint64.")
    if out_sharding is not None:
        splits.check_fits("rng_bit_generator", out_sharding, shape)
    return [ShapedArray(key.shape, key.dtype), ShapedArray(shape, dtype, sharding=out_sharding)]


def _bits_splits(prim, avals, outs, params):
    """The state is whole; the bits too, where no one says how they are split."""
    return [(None,), None if params.get("out_sharding") is not None else (None,) * len(outs[1].shape)]


def _bits_lower(b, key, *, shape, dtype, algorithm, out_sharding=None):
    """Bits of less than 32 are the lowest of 32, as the generator has no narrower ones on every platform."""
    state_aval, out = ShapedArray((2,), _U64), b.out_avals[1]
    state = key
    if key.aval.dtype == _U32:
        pairs = b.emit(f"stablehlo.reshape {key}", key, out=ShapedArray((2, 2), _U32))
        state = b.emit(f"stablehlo.bitcast_convert {pairs}", pairs, out=state_aval)
    name = RandomAlgorithm(algorithm).name.removeprefix("RNG_")
    wide = out.update(dtype=_U32 if out.dtype.itemsize < 4 else out.dtype)
    state, bits = b.emit(f"stablehlo.rng_bit_generator {state}, algorithm = {name}", state, out=[state_aval, wide])
    if key.aval.dtype == _U32:
        pairs = b.emit(f"stablehlo.bitcast_convert {state}", state, out=ShapedArray((2, 2), _U32))
        state = b.emit(f"stablehlo.reshape {pairs}", pairs, out=key.aval)
    return [state, b.convert(bits, out.dtype)]


def _bits_batch(axis, args, dims, **params):
    """One key after the other: a generator has one state."""
    keys = structural.moved(args[0], dims[0], 0)
    return lax_map(lambda key: rng_bit_generator_p.bind(key, **params), keys), [0, 0]


rng_bit_generator_p = Primitive(
    "rng_bit_generator", multiple_results=True, out_type=_bits_type, jvp=ZERO, batch=_bits_batch, lower=_bits_lower,
    splits=_bits_splits)


def rng_bit_generator(key: ArrayLike, shape: Sequence[int], dtype: DTypeLike = np.uint32,
                      algorithm: RandomAlgorithm = RandomAlgorithm.RNG_DEFAULT, *,
                      out_sharding: Placement | None = None) -> tuple[Any, Any]:
    """The next key, and an array of random bits.

    Args:
      key: uint32[4] or uint64[2].
      shape: of the bits.
      dtype: an unsigned integer dtype.
      algorithm: of the generator.
      out_sharding: placement of the bits.

    Raises:
      TypeError: other dtypes, or a key of another shape. ValueError: ``out_sharding`` does not fit the shape.

    Source: StableHLO `rng_bit_generator`.

    >>> state, bits = jax.lax.rng_bit_generator(jnp.zeros(4, jnp.uint32), (2,))
    >>> state.shape, bits.dtype
    ((4,), dtype('uint32'))
    """
    sizes = integers("lax.rng_bit_generator: shape", shape)
    if any(n < 0 for n in sizes):
        raise ValueError(f"lax.rng_bit_generator: shape={sizes} has a negative length")
    state, bits = rng_bit_generator_p.bind(as_operand("rng_bit_generator", key, 0), shape=sizes,
                                           dtype=dtypes.canonicalize_user_dtype(dtype, "rng_bit_generator"),
                                           algorithm=RandomAlgorithm(algorithm), out_sharding=structural.resolved(out_sharding))
    return state, bits


def _uniform_type(low, high, *, shape):
    if low.dtype != high.dtype:
        raise ValueError(f"lax.rng_uniform: bounds must have one dtype, got {low.str_short()} and {high.str_short()}.")
    check_dtype("rng_uniform", low, FLOAT + INTEGER)
    if low.shape or high.shape:
        raise ValueError(f"lax.rng_uniform: bounds must be scalars, got {low.str_short()} and {high.str_short()}.")
    return ShapedArray(shape, low.dtype)


def _uniform_lower(b, low, high, *, shape):
    sizes = b.constant(np.asarray(shape, np.int64))
    return b.emit(f"stablehlo.rng {low}, {high}, {sizes}, distribution = UNIFORM", low, high, sizes, out=b.out_avals[0])


rng_uniform_p = Primitive(
    "rng_uniform", out_type=_uniform_type, jvp=ZERO, lower=_uniform_lower,
    batch=none("lax.rng_uniform cannot be mapped: it draws from the platform's generator, which has no state of its own"))


def rng_uniform(a: ArrayLike, b: ArrayLike, shape: Sequence[int]) -> Array:
    """Numbers from ``[a, b)`` by the platform's stateful generator: not reproducible, `jax.random.uniform` is.

    Args:
      a, b: scalars of one dtype.
      shape: of the result.

    Source: StableHLO `rng`.

    >>> jax.lax.rng_uniform(0.0, 1.0, (2, 3)).shape
    (2, 3)
    """
    return rng_uniform_p.bind(a, b, shape=integers("lax.rng_uniform: shape", shape))


