"""Random bits from the generator that a core of a TPU has: seeded, then asked for bits, with a state that nobody sees.

The state is hidden memory (`hidden`) of the kernels that draw. Interpreted, bits are
a hash of the seeds, of how often was drawn, and of the position. Compiled, the TPU's own operations take its place: their bits
are others.

Source: the mixing function is the last step of MurmurHash3 (Austin Appleby, public domain), applied to a Weyl sequence.
"""
from __future__ import annotations

import math
from typing import Any, Sequence

import numpy as np

from jax_core.references.primitives import ref_primitive, strong
from jax_core.representation import dtypes
from jax_core.representation.aval import ShapedArray, get_aval
from jax_core.representation.typing import ArrayLike, DTypeLike

from .. import lax, numpy as jnp
from .hidden import hidden
from .spaces import SMEM

_STATE = SMEM((2,), np.uint32)
"""What a generator's state is: the hash of the seeds, and how often was drawn."""
_WEYL = np.uint32(0x9E3779B9)


def _state(name: str) -> Any:
    return hidden(name, "generator_of_the_core", _STATE, " jax.random has random numbers for other functions.")


def _mixed(x: Any) -> Any:
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        x = (x ^ lax.shift_right_logical(x, jnp.full_like(x, shift))) * np.uint32(factor)
    return x


def _seed(contents, *seeds):
    found = np.uint32(0)
    for seed in seeds:
        found = _mixed(found ^ strong(seed).astype(np.uint32) + _WEYL)
    return [], jnp.stack([found, np.uint32(0)])


def _bits(contents, *, shape):
    seed, count = contents[0], contents[1] + np.uint32(1)
    first = _mixed(seed ^ _mixed(count * _WEYL))
    numbers = lax.iota(np.uint32, math.prod(shape)) * _WEYL + first
    bits = _mixed(_mixed(numbers) ^ first)
    return lax.bitcast_convert_type(jnp.reshape(bits, shape), np.int32), jnp.stack([seed, count])


seed_p = ref_primitive("prng_seed", out_type=lambda ref, *seeds: (), on_contents=_seed, multiple_results=True)
bits_p = ref_primitive("prng_random_bits", out_type=lambda ref, *, shape: ShapedArray(shape, np.dtype(np.int32)), on_contents=_bits)


def prng_seed(*seeds: ArrayLike) -> None:
    """Seed the generator of the core that runs this kernel; integers, such as a seed and the step of the grid.

    Raises:
      ValueError: outside of a kernel, or a seed that is no integer scalar.

    >>> from jax.experimental import pallas as pl
    >>> from jax.experimental.pallas import tpu as pltpu
    >>> def kernel(o_ref):
    ...     pltpu.prng_seed(7)
    ...     o_ref[...] = pltpu.prng_random_bits((8, 128))
    >>> pl.pallas_call(kernel, jax.ShapeDtypeStruct((8, 128), jnp.int32), interpret=True)().shape
    (8, 128)
    """
    state = _state("prng_seed")
    for seed in seeds:
        aval = get_aval(seed)
        if aval.shape or not dtypes.issubdtype(aval.dtype, np.integer):
            raise ValueError(f"prng_seed: {aval.str_short()} was given as a seed; seeds are integer scalars.")
    seed_p.bind(state, *(np.int32(s) if isinstance(s, (int, np.integer)) else s.astype(np.int32) for s in seeds))  # type: ignore[union-attr]


def prng_random_bits(shape: Sequence[int]) -> Any:
    """Random bits, ``int32[shape]``, of the generator that `prng_seed` has seeded.

    >>> from jax.experimental import pallas as pl
    >>> from jax.experimental.pallas import tpu as pltpu
    >>> def kernel(out):
    ...     pltpu.prng_seed(0)
    ...     out[...] = pltpu.prng_random_bits((2, 3))
    >>> bits = pl.pallas_call(kernel, jax.ShapeDtypeStruct((2, 3), jnp.int32), interpret=True)()
    >>> len(set(bits.ravel().tolist()))
    6
    """
    return bits_p.bind(_state("prng_random_bits"), shape=tuple(shape))


def stateful_bits(shape: Sequence[int] = (), dtype: DTypeLike = np.uint32) -> Any:
    """Random bits of the generator, as unsigned integers of 32 bits or fewer.

    >>> from jax.experimental import pallas as pl
    >>> from jax.experimental.pallas import tpu as pltpu
    >>> def kernel(o_ref):
    ...     pltpu.prng_seed(7)
    ...     o_ref[...] = pltpu.stateful_bits((8, 128))
    >>> pl.pallas_call(kernel, jax.ShapeDtypeStruct((8, 128), jnp.uint32), interpret=True)().shape
    (8, 128)
    """
    bits = lax.bitcast_convert_type(prng_random_bits(shape), np.uint32)
    dtype = np.dtype(dtype)
    if dtype.kind != "u" or dtype.itemsize > 4:
        raise ValueError(f"stateful_bits: {dtype.name} was asked for; bits are uint8, uint16 or uint32.")
    return bits if dtype.itemsize == 4 else lax.shift_right_logical(bits, jnp.full_like(bits, 32 - 8 * dtype.itemsize)).astype(dtype)


def stateful_uniform(shape: Sequence[int] = (), dtype: DTypeLike = np.float32, minval: ArrayLike = 0.0, maxval: ArrayLike = 1.0) -> Any:
    """Samples of the generator from the interval ``[minval, maxval)``; in float32 the unit draw is a multiple of 2**-23.

    >>> from jax.experimental import pallas as pl
    >>> from jax.experimental.pallas import tpu as pltpu
    >>> def kernel(o_ref):
    ...     pltpu.prng_seed(7)
    ...     o_ref[...] = pltpu.stateful_uniform((8, 128), jnp.float32)
    >>> x = pl.pallas_call(kernel, jax.ShapeDtypeStruct((8, 128), jnp.float32), interpret=True)()
    >>> bool(((x >= 0) & (x < 1)).all())
    True
    """
    one = lax.shift_right_logical(stateful_bits(shape), jnp.full(tuple(shape), 9, np.uint32)) | np.uint32(0x3F800000)
    unit = lax.bitcast_convert_type(one, np.float32) - np.float32(1)
    return jnp.maximum(unit * (maxval - minval) + minval, minval).astype(dtype)  # type: ignore[operator]  # numbers and arrays


def stateful_normal(shape: Sequence[int] = (), dtype: DTypeLike = np.float32) -> Any:
    """Samples of the generator from the standard normal distribution, by the inverse of its distribution function.

    >>> from jax.experimental import pallas as pl
    >>> from jax.experimental.pallas import tpu as pltpu
    >>> def kernel(o_ref):
    ...     pltpu.prng_seed(7)
    ...     o_ref[...] = pltpu.stateful_normal((8, 128), jnp.float32)
    >>> x = pl.pallas_call(kernel, jax.ShapeDtypeStruct((8, 128), jnp.float32), interpret=True)()
    >>> bool(abs(x.mean()) < 0.2), bool(abs(x.std() - 1) < 0.2)
    (True, True)
    """
    unit = stateful_uniform(shape, np.float32, np.nextafter(np.float32(-1), np.float32(0)), 1.0)
    return (lax.erf_inv(unit) * np.float32(math.sqrt(2))).astype(dtype)


def stateful_bernoulli(p: ArrayLike = 0.5, shape: Sequence[int] = ()) -> Any:
    """Booleans of the generator that are true with probability ``p``.

    >>> from jax.experimental import pallas as pl
    >>> from jax.experimental.pallas import tpu as pltpu
    >>> def kernel(o_ref):
    ...     pltpu.prng_seed(7)
    ...     o_ref[...] = pltpu.stateful_bernoulli(0.25, (8, 128)).astype(jnp.float32)
    >>> x = pl.pallas_call(kernel, jax.ShapeDtypeStruct((8, 128), jnp.float32), interpret=True)()
    >>> bool(abs(x.mean() - 0.25) < 0.1)
    True
    """
    return stateful_uniform(shape) < p
