"""The primitives of random numbers: seed, split, fold in, draw bits; and the two that pass between keys and words.

All but the last two take and give *raw* keys, ``uint32[*batch, *key_shape]``, so they serve old-style and typed keys
alike. Batches of keys need no loop: an implementation emits code for ``[*batch, *key_shape]`` at once where it can,
and is mapped over the batch where it cannot. The layout of Threefry (`partitionable`) is a parameter, as a compiled
primitive must not depend on a flag that has changed since.

`random_wrap` and `random_unwrap` do nothing when run: a typed key array is stored as the array of its words.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from jax_core.representation import dtypes, splits
from jax_core.representation.aval import ShapedArray
from jax_core.representation.marks import ZERO
from jax_core.representation.primitive import Primitive
from jax_core.representation.traits import Inner, Keys, Kind, Traits
from jax_core.traces import structural
from jax_core.transformations.vmap import vmap

from .threefry import in_memory

if TYPE_CHECKING:
    from jax_core.representation.array import Array
    from jax_core.representation.typing import PyTree
    from jax_core.transformations.batching import AxisData

_U32 = np.dtype(np.uint32)


def _batch_shape(name: str, keys: ShapedArray, impl: Any) -> tuple[int, ...]:
    """The leading axes of an array of raw keys."""
    split = len(keys.shape) - len(impl.key_shape)
    if keys.dtype != _U32 or keys.shape[max(split, 0):] != impl.key_shape:
        raise TypeError(f"{name}: keys of {impl.name} are arrays uint32[..., {', '.join(map(str, impl.key_shape))}], "
                        f"got {keys.str_short()}")
    return keys.shape[:split]


def mapped(fun: Callable[..., PyTree], rank: int) -> Any:
    """``fun`` over ``rank`` leading axes of its arguments."""
    for _ in range(rank):
        fun = vmap(fun)
    return fun


def _by_function(keys: Array, *data: Array, impl: Any, name: str, rank: int, each: bool, args: tuple) -> Array:
    """What the function ``name`` of an implementation without an emitter computes, key by key. A function without a closure: the builder keeps
    its program, and the implementation's function runs once for each way it is asked."""
    fun = getattr(impl, name)
    if each:  # a number for each key
        return mapped(fun, rank)(keys, *data)
    return mapped(lambda key: fun(key, *data, *args), rank)(keys)


def _mapped_to_front(prim):
    """The batching rule of primitives that take leading axes as they come."""
    def batch(axis: AxisData, args: Sequence[Array], dims: Sequence[int | None], **params):
        return prim().bind(*(structural.bdim_at_front(x, d, axis) for x, d in zip(args, dims)), **params), 0
    return batch


# -- bits --------------------------------------------------------------------------------------------------------------

def _bits_type(keys, *, impl, shape, bit_width, partitionable):
    return ShapedArray((*_batch_shape("random_bits", keys, impl), *shape), np.dtype(f"u{bit_width // 8}"))


def _bits_lower(b, keys, *, impl, shape, bit_width, partitionable):
    if impl.emit is not None:
        return impl.emit.bits(b, keys, shape=shape, bit_width=bit_width, partitionable=partitionable)
    rank = len(keys.aval.shape) - len(impl.key_shape)
    return b.fun(_by_function, keys, impl=impl, name="random_bits", rank=rank, each=False, args=(bit_width, shape))[0]


random_bits_p: Primitive = Primitive(
    "random_bits", out_type=_bits_type, jvp=ZERO, batch=_mapped_to_front(lambda: random_bits_p), lower=_bits_lower,
    traits=Traits(Kind.DRAW, inner=Inner.PIECES, keys=Keys.CONSUMED), splits=splits.leading)
"""``uint[*batch, *shape]`` of ``bit_width`` bits from raw keys."""


# -- split -------------------------------------------------------------------------------------------------------------

def _split_type(keys, *, impl, shape, partitionable):
    return ShapedArray((*_batch_shape("random_split", keys, impl), *shape, *impl.key_shape), _U32)


def _split_lower(b, keys, *, impl, shape, partitionable):
    if impl.emit is not None:
        return impl.emit.split(b, keys, shape=shape, partitionable=partitionable)
    rank = len(keys.aval.shape) - len(impl.key_shape)
    return b.fun(_by_function, keys, impl=impl, name="split", rank=rank, each=False, args=(shape,))[0]


random_split_p: Primitive = Primitive(
    "random_split", out_type=_split_type, jvp=ZERO, batch=_mapped_to_front(lambda: random_split_p), lower=_split_lower,
    traits=Traits(Kind.KERNEL, keys=Keys.CONSUMED), splits=splits.leading)
"""Raw keys ``uint32[*batch, *shape, *key_shape]`` from raw keys."""


# -- fold in -----------------------------------------------------------------------------------------------------------

def _fold_in_type(keys, data, *, impl):
    batch = _batch_shape("random_fold_in", keys, impl)
    if data.shape not in ((), batch) or data.dtype != _U32:
        raise TypeError(f"random_fold_in: data must be uint32, one number or one for each of the keys (shape {batch}), "
                        f"got {data.str_short()}")
    return keys


def _fold_in_lower(b, keys, data, *, impl):
    if impl.emit is not None:
        return impl.emit.fold_in(b, keys, data)
    rank = len(keys.aval.shape) - len(impl.key_shape)
    return b.fun(_by_function, keys, data, impl=impl, name="fold_in", rank=rank, each=bool(data.aval.shape), args=())[0]


def _fold_in_batch(axis, args, dims, *, impl):
    """A number for all keys stays one: `unsafe_rbg` draws once for each number."""
    (keys, data), (key_dim, data_dim) = args, dims
    keys = structural.bdim_at_front(keys, key_dim, axis)
    if data_dim is not None or np.ndim(data):
        data = structural.bdim_at_front(data, data_dim, axis)
        rank = np.ndim(keys) - len(impl.key_shape)
        if np.ndim(data) < rank:  # a mapped number for keys that have axes of their own
            data = structural.broadcast_to(data, np.shape(keys)[:rank], (0,))
    return random_fold_in_p.bind(keys, data, impl=impl), 0


random_fold_in_p: Primitive = Primitive(
    "random_fold_in", out_type=_fold_in_type, jvp=ZERO, batch=_fold_in_batch, lower=_fold_in_lower, splits=splits.as_first)
"""Raw keys from raw keys and uint32 numbers, one or as many as keys."""


# -- seed --------------------------------------------------------------------------------------------------------------

def _seed_type(seeds, *, impl):
    if not dtypes.issubdtype(seeds.dtype, np.integer):
        raise TypeError(f"random_seed: PRNG key seed must be an integer; got {seeds.str_short()}")
    return ShapedArray((*seeds.shape, *impl.key_shape), _U32)


def _seed_lower(b, seeds, *, impl):
    if impl.emit is not None:
        return impl.emit.seed(b, seeds)
    return b.fun(_by_function, seeds, impl=impl, name="seed", rank=len(seeds.aval.shape), each=False, args=())[0]


random_seed_p: Primitive = Primitive(
    "random_seed", out_type=_seed_type, jvp=ZERO, batch=_mapped_to_front(lambda: random_seed_p), lower=_seed_lower,
    splits=splits.leading)
"""Raw keys from integers."""


# -- keys and their words ------------------------------------------------------------------------------------------------

def _wrap_type(words, *, impl):
    return ShapedArray(_batch_shape("random_wrap", words, impl), impl.dtype)


def _unwrap_type(keys):
    if not dtypes.issubdtype(keys.dtype, dtypes.prng_key):
        raise TypeError(f"random_unwrap: a key array is needed, got {keys.str_short()}")
    return ShapedArray(keys.shape + keys.dtype.impl.key_shape, _U32)


random_wrap_p: Primitive = Primitive(
    "random_wrap", out_type=_wrap_type, jvp=ZERO, batch=_mapped_to_front(lambda: random_wrap_p),
    lower=lambda b, words, *, impl: in_memory(b, words), impl=lambda words, *, impl: impl.dtype.wrap(words), lowers_keys=True,
    splits=splits.leading)
"""Typed keys of raw ones."""

random_unwrap_p: Primitive = Primitive(
    "random_unwrap", out_type=_unwrap_type, jvp=ZERO, batch=_mapped_to_front(lambda: random_unwrap_p),
    lower=lambda b, keys: b.physical(keys), impl=lambda keys: keys._base_array, lowers_keys=True,
    traits=Traits(Kind.KERNEL, keys=Keys.PASSED), splits=splits.leading)
"""Raw keys of typed ones."""
