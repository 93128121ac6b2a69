"""Random bits of numbered blocks: Philox-2x32, Philox-4x32 and Threefry-4x32.

A block function turns a key and a counter of two or four words into as many words. Each use of a key counts in a place of
its own: element ``i`` of an array of random bits is block ``(0, i)`` or ``(0, i, 0, 0)``, the key folded with ``i`` is block
``(0, i)`` or ``(0, 0, 0, i)``, and a key is split by folding in 0, 1, 2, ... As elements do not depend on the shape that they
are drawn in, `jax_threefry_partitionable` says nothing here.

Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
"""
from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, Callable, NamedTuple

import numpy as np

from jax_numpy_api import lax

if TYPE_CHECKING:
    from jax_core.representation.array import Array

_U32 = np.dtype(np.uint32)
_Words = tuple[Any, ...]


def _u32(value: int) -> np.uint32:
    return np.uint32(value & 0xFFFFFFFF)


# -- block functions: of a counter and a key, both tuples of words of one shape ------------------------------------------

_ROUNDS = 10
_WEYL = 0x9E3779B9, 0xBB67AE85  # added to the key between rounds: the golden ratio, and sqrt(3) - 1
_MULTIPLIER = 0xD256D193
_MULTIPLIERS = 0xD2511F53, 0xCD9E8D57


def _product(x: Any, factor: int) -> tuple[Any, Any]:
    """High and low word of a product."""
    factors = lax.full_like(x, _u32(factor))
    return lax.mulhi(x, factors), lax.mul(x, factors)


def _xor(*words: Any) -> Any:
    return functools.reduce(lax.bitwise_xor, words)


def philox2(counter: _Words, key: _Words) -> _Words:
    """Philox-2x32 of ten rounds."""
    (left, right), (key,) = counter, key
    for i in range(_ROUNDS):
        high, low = _product(left, _MULTIPLIER)
        left, right = _xor(high, _plus(key, i * _WEYL[0]), right), low
    return left, right


def philox4(counter: _Words, key: _Words) -> _Words:
    """Philox-4x32 of ten rounds."""
    a, b, c, d = counter
    for i in range(_ROUNDS):
        k, m = (_plus(word, i * step) for word, step in zip(key, _WEYL))
        (high_a, low_a), (high_c, low_c) = _product(a, _MULTIPLIERS[0]), _product(c, _MULTIPLIERS[1])
        a, b, c, d = _xor(high_c, b, k), low_c, _xor(high_a, d, m), low_a
    return a, b, c, d


_PARITY = 0x1BD11BDA
_ROTATIONS = (10, 26), (11, 21), (13, 27), (23, 5), (6, 20), (17, 11), (25, 10), (18, 20)
_FRY_ROUNDS = 20
_PER_KEY = 4  # rounds between additions of the key


def threefry4(counter: _Words, key: _Words) -> _Words:
    """Threefry-4x32 of twenty rounds."""
    keys = (*key, _xor(*key, lax.full_like(key[0], _u32(_PARITY))))
    x = [lax.add(word, k) for word, k in zip(counter, keys)]
    for i in range(_FRY_ROUNDS):
        partners = ((0, 1), (2, 3)) if i % 2 == 0 else ((0, 3), (2, 1))
        for (to, other), turn in zip(partners, _ROTATIONS[i % len(_ROTATIONS)]):
            x[to] = lax.add(x[to], x[other])
            x[other] = lax.bitwise_xor(_rotated(x[other], turn), x[to])
        if i % _PER_KEY == _PER_KEY - 1:
            number = i // _PER_KEY + 1
            x = [lax.add(word, keys[(number + j) % len(keys)]) for j, word in enumerate(x)]
            x[3] = _plus(x[3], number)
    return tuple(x)


def _plus(x: Any, value: int) -> Any:
    return lax.add(x, lax.full_like(x, _u32(value)))


def _rotated(x: Any, bits: int) -> Any:
    return lax.bitwise_or(lax.shift_left(x, lax.full_like(x, _u32(bits))),
                          lax.shift_right_logical(x, lax.full_like(x, _u32(32 - bits))))


# -- the four functions of an implementation -------------------------------------------------------------------------------

class BlockCipher(NamedTuple):
    """An implementation by a block function.

    Attributes:
      block: the function.
      counter_words, key_words: how many words its counter and its keys have.
      seed_is_key: the seed is the key of a block, not its counter.
    """

    block: Callable[[_Words, _Words], _Words]
    counter_words: int
    key_words: int
    seed_is_key: bool = False

    def seed(self, value: Array) -> Any:
        """Raw key of an integer."""
        zero = np.uint32(0)
        if value.dtype.itemsize == 8:
            value = lax.bitcast_convert_type(value, np.uint64)
            high = lax.convert_element_type(lax.shift_right_logical(value, np.uint64(32)), _U32)
        else:
            high = lax.full_like(value, zero, _U32)
        low = lax.convert_element_type(value, _U32)
        seed, zeros = (high, low), lax.full_like(low, zero)
        if self.seed_is_key:
            counter, key = (zeros,) * self.counter_words, (*seed, *(zeros,) * (self.key_words - 2))
        else:
            counter, key = (*seed, *(zeros,) * (self.counter_words - 2)), (zeros,) * self.key_words
        return _joined(self.block(counter, key)[:self.key_words])

    def fold_in(self, key: Array, data: Array) -> Any:
        """The key folded with a uint32."""
        data = lax.convert_element_type(data, _U32)
        zeros = lax.full_like(data, np.uint32(0))
        words = self.block((*(zeros,) * (self.counter_words - 1), data), self._words(key, np.shape(data)))
        return _joined(words[:self.key_words])

    def split(self, key: Array, shape: tuple[int, ...]) -> Any:
        """The key folded with 0, 1, 2, ..."""
        numbers = lax.reshape(lax.iota(_U32, math.prod(shape)), shape)
        return self.fold_in(key, numbers)

    def random_bits(self, key: Array, bit_width: int, shape: tuple[int, ...]) -> Any:
        """Bits of each element from a block of its own."""
        size = math.prod(shape)
        if size > 1 << 32:
            raise ValueError(f"random_bits: shape={shape} has more than 2**32 elements, which this implementation cannot number; "
                             "draw parts of it from keys made by jax.random.split")
        low = lax.reshape(lax.iota(_U32, size), shape)
        zeros = lax.full_like(low, np.uint32(0))
        words = self.block((zeros, low, *(zeros,) * (self.counter_words - 2)), self._words(key, shape))
        if bit_width < 64:
            return lax.convert_element_type(_xor(*words), np.dtype(f"u{bit_width // 8}"))
        if self.key_words == 4:  # all four words are used
            words = _xor(words[0], words[2]), _xor(words[1], words[3])
        high, low = (lax.convert_element_type(word, np.uint64) for word in words[:2])
        return lax.bitwise_or(lax.shift_left(high, lax.full_like(high, np.uint64(32))), low)

    def _words(self, key: Any, shape: tuple[int, ...]) -> _Words:
        """The words of one raw key, each in a shape."""
        return tuple(lax.full(shape, lax.index_in_dim(key, i, keepdims=False)) for i in range(self.key_words))


def _joined(words: _Words) -> Any:
    """Words as the last axis of one array."""
    rank = np.ndim(words[0])
    return lax.concatenate([lax.expand_dims(word, (rank,)) for word in words], rank)


CIPHERS = {
    "philox2x32": BlockCipher(philox2, 2, 1),
    "philox4x32": BlockCipher(philox4, 4, 2),
    "threefry4x32": BlockCipher(threefry4, 4, 4, seed_is_key=True),
}
