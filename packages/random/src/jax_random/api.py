"""Keys and bits: the functions that everything else in `jax.random` is made from.

Both kinds of keys are taken everywhere: typed (`key`) and old-style, plain uint32 arrays (`PRNGKey`).
"""
from __future__ import annotations

import math
from typing import Any, Hashable, Sequence

import numpy as np

from jax_core import backends
from jax_core.configuration import context, flags
from jax_core.programs.jit import inlined
from jax_core.representation import dtypes
from jax_core.representation.array import Array
from jax_core.representation.aval import get_aval
from jax_core.representation.tracebacks import api_boundary
from jax_core.representation.typing import ArrayLike, DTypeLike, Placement, Shape
from jax_core.traces.structural import convert_element_type_p
from jax_core.traces.trace import EVAL, Tracer
from jax_numpy_api import lax, numpy as jnp  # also gives arrays of keys their methods and operators

from . import threefry
from .checks import as_given, check_dtype, check_key_data, check_shape, raw_key, raw_keys, run
from .impls import BUILT_IN, PRNGImpl, PRNGSpec, default_impl, is_partitionable, resolve, threefry_prng_impl
from .keys import KeyType, PRNGKeyArray
from .primitives import random_bits_p, random_fold_in_p, random_seed_p, random_split_p, random_wrap_p

_U32 = np.dtype(np.uint32)


# -- making keys -------------------------------------------------------------------------------------------------------

@api_boundary
def PRNGKey(seed: ArrayLike, *, impl: str | Hashable | None = None) -> Array:
    """An old-style key: a plain array of uint32 words.

    Args:
      seed: an integer. Without x64 its low 32 bits count.
      impl: name of an implementation; default `jax_default_prng_impl`.

    Returns:
      ``uint32[2]`` for threefry2x32, ``uint32[4]`` for rbg; a typed key where `jax_enable_custom_prng` is set.

    Raises:
      TypeError: the seed is not an integer scalar. ValueError: unknown implementation.

    Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011, for the default
    implementation.

    >>> jax.random.PRNGKey(7)
    Array([0, 7], dtype=uint32)
    """
    chosen = resolve(impl)
    words = _seeded("PRNGKey", seed, chosen)
    return random_wrap_p.bind(words, impl=chosen) if flags.enable_custom_prng.value else words


@api_boundary
def key(seed: ArrayLike, *, impl: str | Hashable | None = None, dtype: DTypeLike | None = None) -> Array:
    """A typed key: a scalar array of dtype ``key<...>``.

    Args:
      seed: an integer. Without x64 its low 32 bits count.
      impl: name of an implementation; default `jax_default_prng_impl`.
      dtype: a key dtype, in place of ``impl``.

    Raises:
      TypeError: the seed is not an integer scalar. ValueError: unknown implementation, or both impl and dtype.

    Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011, for the default
    implementation.

    >>> jax.random.key(0).shape
    ()
    """
    if dtype is not None:
        if impl is not None:
            raise ValueError(f"key: impl={impl!r} and dtype={dtype!r} name the generator twice; give one of them")
        if not isinstance(dtype, (KeyType, str)):
            raise TypeError(f"key: dtype={dtype!r} is not a key dtype; see jax.random.key_dtype")
        impl = dtype
    chosen = resolve(impl)
    return random_wrap_p.bind(_seeded("key", seed, chosen), impl=chosen)


def _seeded(name: str, seed: Any, impl: PRNGImpl) -> Any:
    """Raw words for a seed."""
    seed = _checked_seed(name, seed)
    if isinstance(seed, Tracer) or not (impl is threefry_prng_impl and context.state.trace is EVAL):
        return random_seed_p.bind(seed, impl=impl)
    value = int(seed)
    words = np.array([value >> 32 & 0xFFFFFFFF if get_aval(seed).dtype.itemsize == 8 else 0, value & 0xFFFFFFFF], _U32)
    return backends.get().from_host(words)


def _checked_seed(name, seed):
    offset = flags.random_seed_offset.value
    if type(seed) in (int, bool):
        seed += offset
        seed = np.int64(seed) if flags.enable_x64.value else _wrapped_int32(seed)
        return seed
    if isinstance(getattr(seed, "dtype", None), dtypes.ExtendedDType):
        raise TypeError(f"{name} accepts a scalar seed, but was given a PRNG key.")
    try:
        aval = get_aval(seed)
    except TypeError as error:
        raise TypeError(f"{name}: the seed must be an integer, got {seed!r} of type {type(seed).__name__}") from error
    if aval.shape:
        raise TypeError(f"{name} accepts a scalar seed, but was given an array of shape {aval.shape} != (). Use jax.vmap "
                        "for batching")
    if not dtypes.issubdtype(aval.dtype, np.integer):
        raise TypeError(f"{name}: PRNG key seed must be an integer; got {aval.str_short()}")
    if isinstance(seed, np.generic | np.ndarray):
        seed = seed[()]
        if seed.dtype != aval.dtype:
            seed = _wrapped_int32(int(seed)) if aval.dtype == np.int32 else np.uint32(int(seed) & 0xFFFFFFFF)
    return seed + seed.dtype.type(offset) if offset else seed


def _wrapped_int32(value: int) -> Any:
    """The low 32 bits, once the value is known to fit 64."""
    np.int64(value)  # raises OverflowError, as the reference does
    return np.array(value & 0xFFFFFFFF, np.uint32).astype(np.int32)[()]


# -- keys and their words ------------------------------------------------------------------------------------------------

@api_boundary
def key_data(keys: ArrayLike) -> Array:
    """The uint32 words of keys: ``uint32[*keys.shape, *key_shape]``. Old-style keys are returned as they are.

    Raises:
      TypeError: not keys.

    >>> jax.random.key_data(jax.random.key(7))
    Array([0, 7], dtype=uint32)
    """
    words, _, typed = raw_keys("key_data", keys)
    return words if typed else jnp.asarray(words)


@api_boundary
def wrap_key_data(key_bits_array: ArrayLike, *, impl: str | Hashable | None = None,
                  dtype: DTypeLike | None = None) -> Array:
    """Typed keys of their words.

    Args:
      key_bits_array: ``uint32[..., *key_shape]``.
      impl: name of the implementation; default `jax_default_prng_impl`.
      dtype: a key dtype, in place of ``impl``.

    Raises:
      TypeError: wrong dtype or shape. ValueError: unknown implementation, or both impl and dtype.

    >>> jax.random.wrap_key_data(jax.random.PRNGKey(7)).shape
    ()
    """
    if impl is not None and dtype is not None:
        raise ValueError(f"wrap_key_data: impl={impl!r} and dtype={dtype!r} name the generator twice; give one of them")
    chosen = resolve(dtype if impl is None else impl)
    if isinstance(key_bits_array, (list, tuple)):
        key_bits_array = np.asarray(key_bits_array)
    check_key_data("wrap_key_data", key_bits_array, chosen)
    return random_wrap_p.bind(key_bits_array, impl=chosen)


@api_boundary
def key_impl(keys: ArrayLike) -> Any:
    """The implementation of keys, as `key` and `wrap_key_data` accept it: a name, or a `PRNGSpec` for one's own.

    >>> jax.random.key_impl(jax.random.key(0))
    'threefry2x32'
    """
    impl = raw_keys("key_impl", keys)[1]
    return impl.name if impl.name in BUILT_IN else PRNGSpec(impl)


@api_boundary
def key_dtype(impl_spec: str | Hashable | None = None) -> Any:
    """The dtype of typed keys of an implementation (default `jax_default_prng_impl`).

    >>> jax.random.key_dtype(), jax.random.key_dtype('rbg')
    (key<fry>, key<rbg>)
    """
    return resolve(impl_spec).dtype


@api_boundary
def clone(key: ArrayLike) -> Array:
    """The same key, as a key that counts as not yet used for the check of key reuse.

    >>> key = jax.random.key(0)
    >>> bool((jax.random.clone(key) == key).all())
    True
    """
    if isinstance(getattr(key, "dtype", None), KeyType):
        words, impl, typed = raw_keys("clone", key)
        return as_given(words, impl, typed)  # a new array of keys, with the same words
    check_key_data("clone", key, default_impl())  # whose uses are not counted
    return jnp.asarray(key)


# -- new keys ----------------------------------------------------------------------------------------------------------

@inlined(static_argnames=("impl", "shape", "partitionable"))
def _split(words, *, impl, shape, partitionable):
    return random_split_p.bind(words, impl=impl, shape=shape, partitionable=partitionable)


@api_boundary
def split(key: ArrayLike, num: int | Sequence[int] = 2) -> Array:
    """New keys from one, which is not to be used again.

    Args:
      key: one key.
      num: how many, or the shape of the array of new keys.

    Returns:
      keys of the style of ``key``: typed of shape ``num``, or ``uint32[*num, *key_shape]``.

    Raises:
      TypeError: not a key; ``num`` is not made of integers. ValueError: an array of keys; a negative number.

    Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011, for the default
    implementation.

    >>> jax.random.split(jax.random.key(0), 3).shape
    (3,)
    """
    words, impl, typed = raw_key("split", key)
    shape = (num,) if type(num) is int and num >= 0 else check_shape("split", num)
    return as_given(_split(words, impl=impl, shape=shape, partitionable=is_partitionable()), impl, typed)


@inlined(static_argnames=("impl",))
def _fold_in(words, data, *, impl):
    return random_fold_in_p.bind(words, data, impl=impl)


@api_boundary
def fold_in(key: ArrayLike, data: ArrayLike) -> Array:
    """A new key from a key and a number, such as the index of a step or of a device.

    Args:
      key: one key.
      data: an integer; its low 32 bits count.

    Raises:
      TypeError: not a key; data is not a scalar. ValueError: an array of keys. OverflowError: a Python int that
        does not fit uint32.

    Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011, for the default
    implementation.

    >>> jax.random.key_data(jax.random.fold_in(jax.random.PRNGKey(0), 5)).shape
    (2,)
    """
    words, impl, typed = raw_key("fold_in", key, consumes=False)
    return as_given(_fold_in(words, _fold_number(data), impl=impl), impl, typed)


def _fold_number(data):
    if type(data) is int:
        if not 0 <= data <= 0xFFFFFFFF:
            raise OverflowError(f"fold_in: Python integer {data} out of bounds for uint32")
        return np.uint32(data)
    try:
        if type(data) is complex:
            raise TypeError("complex")
        aval = get_aval(data)
    except TypeError as error:
        raise TypeError(f"fold_in: data must be an integer, got {data!r} of type {type(data).__name__}") from error
    if aval.shape:
        raise TypeError(f"fold_in accepts a scalar, but was given an array of shape {aval.shape} != (). Use jax.vmap for "
                        "batching.")
    if aval.dtype == _U32:
        return data
    if isinstance(data, (np.generic, np.ndarray, float)):
        if data != data:
            raise ValueError(f"fold_in: data must be a number, got {data}")
        return np.asarray(data).astype(_U32)[()]
    return convert_element_type_p.bind(data, new_dtype=_U32, weak_type=False, sharding=None)


# -- bits --------------------------------------------------------------------------------------------------------------

def draw_bits(words: object, impl: PRNGImpl, bit_width: int, shape: tuple[int, ...]) -> Any:
    """Unsigned integers of ``bit_width`` bits from raw keys ``[*batch, *key_shape]``: ``uint[*batch, *shape]``."""
    partitionable = is_partitionable()
    if impl is threefry_prng_impl and not partitionable:
        count = -(-math.prod(shape) * bit_width // 32)
        if count >= threefry.BLOCK:
            return _bits_in_blocks(words, bit_width, shape, count)
    return random_bits_p.bind(words, impl=impl, shape=shape, bit_width=bit_width, partitionable=partitionable)


_MOST = 1 << 48


def _bits_in_blocks(words, bit_width, shape, count):
    """Where a 32-bit counter does not suffice: one key for each block of words, in the original layout."""
    if count > _MOST:
        raise ValueError(f"{count} words of random bits are more than any memory holds; shape={shape}")
    blocks, rest = divmod(count, threefry.BLOCK)
    impl = threefry_prng_impl
    keys = random_split_p.bind(words, impl=impl, shape=(blocks + 1,), partitionable=False)
    axis = keys.ndim - 2
    draw = lambda i, n: random_bits_p.bind(
        lax.index_in_dim(keys, i, axis, keepdims=False), impl=impl, shape=(n,), bit_width=32, partitionable=False)
    flat = lax.concatenate([draw(i, threefry.BLOCK) for i in range(blocks)] + [draw(blocks, rest)], axis)
    n, batch = math.prod(shape), keys.shape[:-2]
    if bit_width == 64:
        high, low = (lax.convert_element_type(lax.slice_in_dim(flat, i * n, (i + 1) * n, axis=axis), np.uint64)
                     for i in range(2))
        flat = lax.bitwise_or(lax.shift_left(high, np.uint64(32)), low)
    elif bit_width < 32:
        parts = [lax.shift_right_logical(flat, np.uint32(s)) for s in range(0, 32, bit_width)]
        flat = lax.convert_element_type(jnp.stack(parts, -1), np.dtype(f"u{bit_width // 8}"))
        flat = lax.slice_in_dim(lax.reshape(flat, (*batch, count * len(parts))), 0, n, axis=axis)
    return lax.reshape(flat, (*batch, *shape))


@inlined(static_argnames=("impl", "shape", "bit_width"))
def _bits(words, *, impl, shape, bit_width):
    return draw_bits(words, impl, bit_width, shape)


@api_boundary
def bits(key: ArrayLike, shape: Shape = (), dtype: DTypeLike | None = None, *,
         out_sharding: Placement | None = None) -> Array:
    """Uniform random bits as unsigned integers.

    Args:
      key: one key.
      shape: of the result.
      dtype: unsigned integer dtype; default uint32, or uint64 where x64 is enabled.
      out_sharding: placement of the result.

    Raises:
      TypeError: not a key, not a shape. ValueError: an array of keys; another dtype; a negative length.

    Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011, for the default
    implementation.

    >>> jax.random.bits(jax.random.key(0), (2,)).dtype
    dtype('uint32')
    """
    words, impl = raw_key("bits", key)[:2]
    shape = check_shape("bits", shape)
    chosen: np.dtype = check_dtype("bits", dtype, "unsigned")
    width = dtypes.itemsize_bits(chosen)
    if width < 8:
        width = 8
    return run(_bits, out_sharding, words, impl=impl, shape=shape, bit_width=width)


__all__ = ["PRNGKey", "PRNGKeyArray", "bits", "clone", "fold_in", "key", "key_data", "key_dtype", "key_impl", "split",
           "wrap_key_data"]
