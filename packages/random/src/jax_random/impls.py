"""Implementations of random bits, and how to register one's own.

An implementation is four functions on raw keys (uint32 arrays of its `key_shape`): `seed`, `split`, `random_bits` and
`fold_in`. Those built in also say how to emit StableHLO for whole batches of keys.

- ``threefry2x32``: the default; see `threefry`. Every value is specified, on all devices and under `vmap`.
- ``rbg``: keys are split by Threefry, bits come from the generator of the compiler (`rng_bit_generator`), which is
  fast on TPUs. Its values differ between compilers. Under `vmap` over keys all bits are drawn from the first key.
- ``philox2x32``, ``philox4x32``, ``threefry4x32``: see `counters`; specified as ``threefry2x32`` is.
- ``unsafe_rbg``: as ``rbg``, but keys are split by that generator too, which is not known to be safe.

Source: StableHLO specification, `rng_bit_generator`.
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from jax_core.configuration import flags
from jax_core.representation import dtypes
from jax_core.representation.aval import ShapedArray
from jax_core.representation.typing import ArrayLike

from . import threefry
from .keys import KeyType
from .primitives import random_bits_p, random_fold_in_p, random_seed_p, random_split_p

if TYPE_CHECKING:
    from jax_core.interfaces import Builder
    from jax_core.representation.array import Array

_U32 = np.dtype(np.uint32)
_U64 = np.dtype(np.uint64)


class PRNGImpl:
    """A source of random bits.

    Attributes:
      key_shape: shape of the words of one key.
      seed: ``seed(integer) -> uint32[*key_shape]``.
      split: ``split(key, shape) -> uint32[*shape, *key_shape]``.
      random_bits: ``random_bits(key, bit_width, shape) -> uint{bit_width}[*shape]``.
      fold_in: ``fold_in(key, uint32) -> uint32[*key_shape]``.
      name, tag: the name users write, and the short one in ``key<tag>``.
      emit: for those built in, the four as emitters of StableHLO; else None.
      dtype: of typed keys.
    """

    __slots__ = ("key_shape", "seed", "split", "random_bits", "fold_in", "name", "tag", "emit", "dtype")

    def __init__(self, key_shape: Sequence[int], seed: Callable, split: Callable, random_bits: Callable,
                 fold_in: Callable, *, name: str = "<unnamed>", tag: str = "?", emit: Any = None):
        self.key_shape = tuple(key_shape)
        self.seed, self.split, self.random_bits, self.fold_in = seed, split, random_bits, fold_in
        self.name, self.tag, self.emit = name, tag, emit
        self.dtype = KeyType(self)

    def __repr__(self):
        return f"PRNGImpl({self.name!r}, key_shape={self.key_shape}, tag={self.tag!r})"

    def __str__(self):
        return self.tag

    def __reduce__(self):
        return resolve, (self.name,)


registry: dict[str, PRNGImpl] = {}


def register(impl: PRNGImpl) -> PRNGImpl:
    """Make ``impl`` known by its name."""
    registry[impl.name] = impl
    return impl


dtypes.extended_dtype_finders.append(
    lambda name: next((impl.dtype for impl in registry.values() if impl.dtype.name == name), None))


class PRNGSpec:
    """Names an implementation, as `key_impl` returns it; `key` and `wrap_key_data` accept it."""

    __slots__ = ("_impl",)

    def __init__(self, impl: PRNGImpl):
        self._impl = impl

    def __repr__(self):
        return f"PRNGSpec({self._impl.name!r})"

    def __str__(self):
        return self._impl.name

    def __eq__(self, other):
        return isinstance(other, PRNGSpec) and self._impl is other._impl

    def __hash__(self):
        return hash(self._impl)


def default_impl() -> PRNGImpl:
    """The implementation that `jax_default_prng_impl` names."""
    return resolve(flags.default_prng_impl.value)


def resolve(spec: object) -> PRNGImpl:
    """The implementation that a name, a `PRNGSpec` or a key dtype stands for; None is the default.

    Raises:
      ValueError: an unknown name.
      TypeError: something else.
    """
    if spec is None:
        return default_impl()
    if isinstance(spec, PRNGSpec):
        return spec._impl
    if isinstance(spec, PRNGImpl):
        return spec
    if isinstance(spec, KeyType):
        return spec.impl
    if isinstance(spec, str):
        if spec in registry:
            return registry[spec]
        raise ValueError(f"unrecognized PRNG implementation \"{spec}\". Did you mean one of: "
                         f"{', '.join(sorted(registry))}?")
    raise TypeError(f"unrecognized type {type(spec)} for specifying PRNG implementation; give a name such as "
                    "'threefry2x32', or what jax.random.key_impl returned")


def define_prng_impl(*, key_shape: Sequence[int], seed: Callable[[ArrayLike], ArrayLike],
                     split: Callable[[ArrayLike, tuple[int, ...]], ArrayLike],
                     random_bits: Callable[[ArrayLike, int, tuple[int, ...]], ArrayLike],
                     fold_in: Callable[[ArrayLike, int], ArrayLike], name: str = "<unnamed>",
                     tag: str = "?") -> PRNGSpec:
    """Register an implementation of random bits; `jax.random.key(seed, impl=name)` makes keys for it.

    Of several with one name, the name stands for the last; the specification of each remains its own.

    Args:
      key_shape: shape of the uint32 words of one key.
      seed: ``seed(integer scalar) -> uint32[*key_shape]``.
      split: ``split(key, shape) -> uint32[*shape, *key_shape]``.
      random_bits: ``random_bits(key, bit_width, shape) -> unsigned integers of that width and shape``.
      fold_in: ``fold_in(key, uint32 scalar) -> uint32[*key_shape]``.
      name: what users give as ``impl``.
      tag: short name, printed in dtypes: ``key<tag>``.

    Returns:
      a specification that `key`, `PRNGKey` and `wrap_key_data` accept as ``impl``.

    Raises:
      ValueError: the name is that of a built-in implementation.

    >>> from jax.extend import random as extend_random
    >>> impl = extend_random.define_prng_impl(
    ...     key_shape=(1,), seed=lambda s: jnp.uint32(s).reshape(1), split=lambda key, shape: key + jnp.arange(2, dtype=jnp.uint32)[:, None],
    ...     random_bits=lambda key, width, shape: jnp.full(shape, key[0]), fold_in=lambda key, n: key + n, name="counting_example")
    >>> jax.random.bits(jax.random.key(7, impl=impl), (2,))
    Array([7, 7], dtype=uint32)
    """
    if name in BUILT_IN:
        raise ValueError(f"define_prng_impl: name={name!r} is that of a built-in implementation; choose another")
    return PRNGSpec(register(PRNGImpl(key_shape, seed, split, random_bits, fold_in, name=name, tag=tag)))


def is_partitionable() -> bool:
    """Whether Threefry draws in its partitionable layout."""
    return flags.threefry_partitionable.value


def _bound_functions(lookup: Callable[[], PRNGImpl]) -> tuple[Callable, Callable, Callable, Callable]:
    """The four functions of a built-in implementation: each binds its primitive."""
    def seed(value: object):
        return random_seed_p.bind(value, impl=lookup())

    def split(key: Array, shape: Sequence[int]):
        return random_split_p.bind(key, impl=lookup(), shape=tuple(shape), partitionable=is_partitionable())

    def random_bits(key: Array, bit_width: int, shape: Sequence[int]):
        return random_bits_p.bind(key, impl=lookup(), shape=tuple(shape), bit_width=bit_width,
                                  partitionable=is_partitionable())

    def fold_in(key: Array, data: Array):
        return random_fold_in_p.bind(key, data, impl=lookup())
    return seed, split, random_bits, fold_in


# -- threefry2x32 ------------------------------------------------------------------------------------------------------

class _Threefry:
    """Emitters of StableHLO."""

    bits = staticmethod(threefry.emit_bits)
    split = staticmethod(threefry.emit_split)
    fold_in = staticmethod(threefry.emit_fold_in)

    @staticmethod
    def seed(b: Builder, seeds: Array):
        """High word, low word; of 32 bits and fewer the high word is 0."""
        shape, dtype = seeds.aval.shape, seeds.aval.dtype
        words = []
        if dtype.itemsize == 8:
            w = threefry._Words(b, shape, _U64)
            bits = b.emit(f"stablehlo.bitcast_convert {seeds}", seeds, out=w.aval) if dtype != _U64 else seeds
            words = [b.convert(w.op("shift_right_logical", bits, 32), _U32), b.convert(bits, _U32)]
        else:
            words = [b.full(0, ShapedArray(shape, _U32)), b.convert(seeds, _U32)]
        words = [b.emit(f"stablehlo.reshape {x}", x, out=ShapedArray((*shape, 1), _U32)) for x in words]
        both = b.emit(f"stablehlo.concatenate {words[0]}, {words[1]}, dim = {len(shape)}", *words,
                      out=ShapedArray((*shape, 2), _U32))
        return threefry.in_memory(b, both)  # the seed may be random bits


threefry_prng_impl: PRNGImpl = register(PRNGImpl(
    (2,), *_bound_functions(lambda: threefry_prng_impl), name="threefry2x32", tag="fry", emit=_Threefry))


# -- rbg and unsafe_rbg ------------------------------------------------------------------------------------------------

def _pairs(b, keys):
    """Keys of four words as twice as many Threefry keys, ``uint32[*batch, 2, 2]``."""
    return b.emit(f"stablehlo.reshape {keys}", keys, out=ShapedArray((*keys.aval.shape[:-1], 2, 2), _U32))


def _generate(b, keys, shape, dtype):
    """Bits ``dtype[*batch, *shape]`` by the compiler's generator, all from the first key of the batch."""
    batch = keys.aval.shape[:-1]
    out = ShapedArray((*batch, *shape), dtype)
    if out.size == 0:
        return b.full(0, out)
    if batch:
        ranges = ", ".join([*("0:1" for _ in batch), "0:4"])
        keys = b.emit(f"stablehlo.slice {keys} [{ranges}]", keys, out=ShapedArray((*[1] * len(batch), 4), _U32))
        keys = b.emit(f"stablehlo.reshape {keys}", keys, out=ShapedArray((4,), _U32))
    state = b.emit(f"stablehlo.reshape {keys}", keys, out=ShapedArray((2, 2), _U32))
    state = b.emit(f"stablehlo.bitcast_convert {state}", state, out=ShapedArray((2,), _U64))
    return b.emit(f"stablehlo.rng_bit_generator {state}, algorithm = DEFAULT", state, out=[state.aval, out])[1]


class _Rbg:
    """Emitters of StableHLO; a key is two Threefry keys, and is split and folded as these."""

    @staticmethod
    def seed(b: Builder, seeds: Array):
        half = _Threefry.seed(b, seeds)
        rank = len(seeds.aval.shape)
        return b.emit(f"stablehlo.concatenate {half}, {half}, dim = {rank}", half, half,
                      out=ShapedArray((*seeds.aval.shape, 4), _U32))

    @staticmethod
    def bits(b: Builder, keys: Array, *, shape: Sequence[int], bit_width: int, partitionable: bool):
        return _generate(b, keys, shape, np.dtype(f"u{bit_width // 8}"))

    @staticmethod
    def split(b: Builder, keys: Array, *, shape: Sequence[int], partitionable: bool):
        batch, n = keys.aval.shape[:-1], math.prod(shape)
        halves = threefry.emit_split(b, _pairs(b, keys), shape=(n,), partitionable=partitionable)
        rank = len(batch)
        order = [*range(rank), rank + 1, rank, rank + 2]
        moved = b.emit(f"stablehlo.transpose {halves}, dims = {order}", halves, out=ShapedArray((*batch, n, 2, 2), _U32))
        return b.emit(f"stablehlo.reshape {moved}", moved, out=ShapedArray((*batch, *shape, 4), _U32))

    @staticmethod
    def fold_in(b: Builder, keys: Array, data: Array):
        batch = keys.aval.shape[:-1]
        twice = b.broadcast(data, (*batch, 2), tuple(range(len(data.aval.shape))))
        halves = threefry.emit_fold_in(b, _pairs(b, keys), twice)
        return b.emit(f"stablehlo.reshape {halves}", halves, out=keys.aval)


_SPARSE = 10  # unsafe_rbg keeps every tenth of the keys that it draws


class _UnsafeRbg:
    """Emitters of StableHLO; bits and seeds as `_Rbg`."""

    seed, bits = _Rbg.seed, _Rbg.bits

    @staticmethod
    def split(b: Builder, keys: Array, *, shape: Sequence[int], partitionable: bool):
        batch, n = keys.aval.shape[:-1], math.prod(shape)
        drawn = _generate(b, keys, (_SPARSE * n, 4), _U32)
        out = ShapedArray((*batch, *shape, 4), _U32)
        if out.size == 0:
            return b.full(0, out)
        ranges = ", ".join([*(f"0:{m}" for m in batch), f"0:{_SPARSE * n}:{_SPARSE}", "0:4"])
        kept = b.emit(f"stablehlo.slice {drawn} [{ranges}]", drawn, out=ShapedArray((*batch, n, 4), _U32))
        return b.emit(f"stablehlo.reshape {kept}", kept, out=out)

    @staticmethod
    def fold_in(b: Builder, keys: Array, data: Array):
        batch = data.aval.shape
        drawn = _generate(b, _Rbg.seed(b, data), (_SPARSE, 4), _U32)
        ranges = ", ".join([*(f"0:{m}" for m in batch), f"{_SPARSE - 1}:{_SPARSE}", "0:4"])
        last = b.emit(f"stablehlo.slice {drawn} [{ranges}]", drawn, out=ShapedArray((*batch, 1, 4), _U32))
        last = b.emit(f"stablehlo.reshape {last}", last, out=ShapedArray((*batch, 4), _U32))
        last = b.broadcast(last, keys.aval.shape, (*range(len(batch)), len(keys.aval.shape) - 1))
        return b.emit(f"stablehlo.xor {keys}, {last}", keys, last, out=keys.aval)


rbg_prng_impl: PRNGImpl = register(PRNGImpl(
    (4,), *_bound_functions(lambda: rbg_prng_impl), name="rbg", tag="rbg", emit=_Rbg))
unsafe_rbg_prng_impl: PRNGImpl = register(PRNGImpl(
    (4,), *_bound_functions(lambda: unsafe_rbg_prng_impl), name="unsafe_rbg", tag="urbg", emit=_UnsafeRbg))


# -- block functions -----------------------------------------------------------------------------------------------------

def _by_block(name: str, key_words: int, tag: str) -> PRNGImpl:
    """An implementation of `counters`, which is loaded when first used."""
    def function(part):
        def call(*args):
            from . import counters  # start-up: few use these

            return getattr(counters.CIPHERS[name], part)(*args)
        return call
    return register(PRNGImpl((key_words,), *map(function, ("seed", "split", "random_bits", "fold_in")), name=name, tag=tag))


_by_block("philox2x32", 1, "phx2")
_by_block("philox4x32", 2, "phx4")
_by_block("threefry4x32", 4, "fry4")

BUILT_IN = frozenset(registry)
