"""Threefry-2x32 with 20 rounds: the hash that all default random numbers come from.

The hash maps a key and a counter, two 32-bit words each, to two words. How the words of a result of ``n`` elements are
drawn is its *layout*:

- *original* (`jax_threefry_partitionable` off): ``m`` words are wanted; counter ``i`` of ``half = ceil(m / 2)`` is the
  pair ``(i, half + i)``, and its two words are the words ``i`` and ``half + i`` of the result. For odd ``m`` the last
  pair has 0 in place of its second word, and the last word is dropped.
- *partitionable*: element ``i`` has the 64-bit counter ``i``, high word first. 32 bits are the two words xor'ed, 64
  bits are both, fewer bits are the low ones of 32.

Either layout is emitted elementwise from the linear index of the element, so the program shards without communication
in both, and fuses with what uses the numbers. The rounds are written out: 2**24 words take 35 ms on two cores, a loop
over five groups of four rounds takes 223 ms, and compiles slower even for 16 words (95 ms against 75 ms).

Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011, and the tables of
rotations and the parity constant in its Random123 library.
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Callable, Sequence, cast

import numpy as np

from jax_core.representation import splits
from jax_core.representation.arguments import joint_shape
from jax_core.representation.array import Array
from jax_core.representation.aval import ShapedArray, get_aval
from jax_core.representation.marks import ZERO
from jax_core.representation.primitive import Primitive
from jax_core.representation.typing import ArrayLike
from jax_core.traces import structural
from jax_numpy_api import numpy as jnp

if TYPE_CHECKING:
    from jax_core.interfaces import Builder, Value
    from jax_core.representation.aval import AbstractValue

ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY = 0x1BD11BDA
BLOCK = (1 << 32) - 1  # words drawn from one key in the original layout; more words come from several keys
_MASK = 0xFFFFFFFF
_U32 = np.dtype(np.uint32)
_U64 = np.dtype(np.uint64)


# -- on the host -------------------------------------------------------------------------------------------------------

def hash_ints(k0: int, k1: int, x0: int, x1: int) -> tuple[int, int]:
    """The hash of one counter in Python integers: faster than NumPy for a handful of words."""
    schedule = (k0, k1, k0 ^ k1 ^ PARITY)
    x0, x1 = (x0 + k0) & _MASK, (x1 + k1) & _MASK
    for i in range(5):
        for r in ROTATIONS[i & 1]:
            x0 = (x0 + x1) & _MASK
            x1 = ((x1 << r) & _MASK | x1 >> (32 - r)) ^ x0
        x0 = (x0 + schedule[(i + 1) % 3]) & _MASK
        x1 = (x1 + schedule[(i + 2) % 3] + i + 1) & _MASK
    return x0, x1


def hash_numpy(k0: ArrayLike, k1: ArrayLike, x0: ArrayLike, x1: ArrayLike) -> list[np.ndarray]:
    """The hash of arrays of uint32 words (broadcast against each other) in NumPy."""
    k0, k1, x0, x1 = (np.asarray(x, np.uint32) for x in (k0, k1, x0, x1))
    schedule = (k0, k1, k0 ^ k1 ^ np.uint32(PARITY))
    with np.errstate(over="ignore"):
        x0, x1 = x0 + k0, x1 + k1
        for i in range(5):
            for r in ROTATIONS[i & 1]:
                x0 = x0 + x1
                x1 = (x1 << np.uint32(r) | x1 >> np.uint32(32 - r)) ^ x0
            x0 = x0 + schedule[(i + 1) % 3]
            x1 = x1 + schedule[(i + 2) % 3] + np.uint32(i + 1)
    return list(np.broadcast_arrays(x0, x1))


def words_ints(k0: int, k1: int, count: int) -> list[int]:
    """``count`` words of the original layout."""
    half = (count + 1) // 2
    pairs = [hash_ints(k0, k1, i, half + i if half + i < count else 0) for i in range(half)]
    return [x for x, _ in pairs] + [y for _, y in pairs][:count - half]


def split_ints(k0: int, k1: int, count: int, partitionable: bool) -> list[int]:
    """The words of ``count`` new keys."""
    if partitionable:
        return [x for i in range(count) for x in hash_ints(k0, k1, i >> 32, i & _MASK)]
    return words_ints(k0, k1, 2 * count)


def words_numpy(key: np.ndarray, count: int) -> np.ndarray:
    """``count`` words of the original layout for each key of ``key`` (uint32[..., 2])."""
    half = (count + 1) // 2
    first = np.arange(half, dtype=np.uint32)
    second = first + np.uint32(half)
    if count % 2:
        second[-1] = 0
    words = hash_numpy(key[..., 0, None], key[..., 1, None], first, second)
    return np.concatenate(words, -1)[..., :count]


def bits_numpy(key: np.ndarray, *, shape: tuple[int, ...], bit_width: int, partitionable: bool) -> np.ndarray:
    """The reference for `emit_bits`."""
    key, n = np.asarray(key), math.prod(shape)
    dtype = np.dtype(f"u{bit_width // 8}")
    if partitionable:
        i = np.arange(n, dtype=np.uint64)
        y0, y1 = hash_numpy(key[..., 0, None], key[..., 1, None], i >> np.uint64(32), i & np.uint64(_MASK))
        flat = _join_numpy(y0, y1) if bit_width == 64 else (y0 ^ y1).astype(dtype)
    elif bit_width == 64:
        words = words_numpy(key, 2 * n)
        flat = _join_numpy(words[..., :n], words[..., n:])
    else:
        words = words_numpy(key, -(-n * bit_width // 32))
        shifts = np.arange(0, 32, bit_width, dtype=np.uint32)
        flat = (words[..., None] >> shifts).astype(dtype).reshape(*key.shape[:-1], -1)[..., :n]
    return flat.reshape(key.shape[:-1] + tuple(shape))


def _join_numpy(high, low):
    return high.astype(np.uint64) << np.uint64(32) | low


def split_numpy(key: np.ndarray, *, shape: tuple[int, ...], partitionable: bool) -> np.ndarray:
    """The reference for `emit_split`."""
    key, n = np.asarray(key), math.prod(shape)
    if partitionable:
        i = np.arange(n, dtype=np.uint64)
        words = np.stack(hash_numpy(key[..., 0, None], key[..., 1, None], i >> np.uint64(32), i & np.uint64(_MASK)), -1)
    else:
        words = words_numpy(key, 2 * n)
    return words.reshape(key.shape[:-1] + tuple(shape) + (2,))


def fold_in_numpy(key: np.ndarray, data: np.ndarray) -> np.ndarray:
    """The reference for `emit_fold_in`."""
    return np.stack(hash_numpy(key[..., 0], key[..., 1], np.uint32(0), data), -1)


# -- as StableHLO ------------------------------------------------------------------------------------------------------

class _Words:
    """Emits arithmetic on arrays of one type."""

    __slots__ = ("b", "aval")

    def __init__(self, b: Any, shape: tuple[int, ...], dtype: np.dtype = _U32):
        self.b, self.aval = b, ShapedArray(shape, dtype)

    def op(self, name: str, x: Value | int, y: Value | int) -> Any:
        x = self.full(x) if type(x) is int else x
        y = self.full(y) if type(y) is int else y
        return self.b.emit(f"stablehlo.{name} {x}, {y}", x, y, out=self.aval)

    def full(self, value: int) -> Any:
        return self.b.full(value, self.aval)

    def iota(self, axis: int) -> Any:
        return self.b.emit(f"stablehlo.iota dim = {axis}", out=self.aval)

    def index(self, axis: int, shape: tuple[int, ...]) -> Any:
        """The linear index over ``shape``, whose axes begin at ``axis``."""
        total, stride = None, 1
        for d in reversed(range(len(shape))):
            term = self.iota(axis + d)
            term = term if stride == 1 else self.op("multiply", term, stride)
            total = term if total is None else self.op("add", term, total)
            stride *= shape[d]
        return self.full(0) if total is None else total

    def compare(self, how: str, x: Value | int, y: Value | int) -> Any:
        x = self.full(x) if type(x) is int else x
        y = self.full(y) if type(y) is int else y
        return self.b.emit(f"stablehlo.compare {how}, {x}, {y}, UNSIGNED", x, y,
                           out=ShapedArray(self.aval.shape, np.dtype(bool)))

    def select(self, p: Value | int, x: Value | int, y: Value | int) -> Any:
        x = self.full(x) if type(x) is int else x
        return self.b.emit(f"stablehlo.select {p}, {x}, {y}", p, x, y, out=self.aval)

    def _bounding_paths(self, x0: Any, k0: Any) -> Any:
        """``x0`` unchanged: the maximum with a 0 that LLVM cannot tell is one, made from a key's word ``k0`` outside of the loop.

        LLVM's loop vectorizer asks of the values behind a loaded or counted word whether all use but one lane of it, path by path through
        sums and `xor`s, and each round doubles the paths; it stops at a maximum. Half-way down the 20 rounds, that leaves a thousand of a million.
        """
        zero = self.op("shift_right_logical", self.op("minimum", k0, self.op("xor", k0, _MASK)), 31)
        return self.op("maximum", x0, zero)

    def hash(self, k0: Value | int, k1: Value | int, x0: Value | int, x1: Value | int) -> tuple[Any, Any]:
        op = self.op
        schedule = (k0, k1, op("xor", op("xor", k0, k1), PARITY))
        x0, x1 = op("add", x0, k0), op("add", x1, k1)
        for i in range(5):
            for r in ROTATIONS[i & 1]:
                x0 = op("add", x0, x1)
                if i == 2 and r == ROTATIONS[0][2] and self.b.platform == "cpu":
                    x0 = self._bounding_paths(x0, k0)
                x1 = op("xor", op("or", op("shift_left", x1, r), op("shift_right_logical", x1, 32 - r)), x0)
            x0 = op("add", x0, schedule[(i + 1) % 3])
            x1 = op("add", op("add", x1, schedule[(i + 2) % 3]), i + 1)
        return x0, x1


def key_words(b: Builder, key: Value, shape: tuple[int, ...]) -> tuple[Any, Any]:
    """The two words of each key of ``key`` (uint32[*batch, 2]), repeated to ``(*batch, ...) = shape``."""
    batch = key.aval.shape[:-1]
    words = []
    for i in range(2):
        ranges = ", ".join([*(f"0:{n}" for n in batch), f"{i}:{i + 1}"])
        word = b.emit(f"stablehlo.slice {key} [{ranges}]", key, out=ShapedArray((*batch, 1), _U32))
        word = b.emit(f"stablehlo.reshape {word}", word, out=ShapedArray(batch, _U32))
        words.append(b.broadcast(word, shape, tuple(range(len(batch)))))
    return words[0], words[1]


def _original_words(w: _Words, k0: Any, k1: Any, index: Any, count: int) -> Any:
    """Word ``index`` of ``count`` in the original layout, elementwise."""
    half = (count + 1) // 2
    in_first = w.compare("LT", index, half)
    pair = w.op("minimum", index, w.op("subtract", index, half))  # the difference wraps to a large number below half
    second = w.op("add", pair, half)
    if w.b.one_form:
        second = w.select(w.compare("GE", second, count), 0, second)
    elif count % 2:
        second = w.select(w.compare("EQ", pair, half - 1), 0, second)
    y0, y1 = w.hash(k0, k1, pair, second)
    return w.select(in_first, y0, y1)


_LONG_AXIS = 16


def _working_shape(shape: tuple[int, ...], n: int) -> tuple[int, ...]:
    """The shape to compute in: flat, as short inner loops are slow; but as it is where the last axis is long, so that a
    result that is spread over devices along any axis is computed in parts."""
    return shape if shape and shape[-1] >= _LONG_AXIS else (n,)


def _counters(w: _Words, axis: int, shape: tuple[int, ...]) -> tuple[Any, Any]:
    """High and low words of the 64-bit linear index over ``shape``, whose axes begin at ``axis``."""
    if math.prod(shape) <= 1 << 32:
        return w.full(0), w.index(axis, shape)
    wide = _Words(w.b, w.aval.shape, _U64)
    i = wide.index(axis, shape)
    return w.b.convert(wide.op("shift_right_logical", i, 32), _U32), w.b.convert(i, _U32)


def _join(b: Any, high: Any, low: Any) -> Any:
    """64-bit integers of two words."""
    wide = _Words(b, high.aval.shape, _U64)
    return wide.op("or", wide.op("shift_left", b.convert(high, _U64), 32), b.convert(low, _U64))


def emit_bits(b: Builder, key: Value, *, shape: tuple[int, ...], bit_width: int, partitionable: bool) -> Any:
    """Uniform integers of ``bit_width`` bits and type ``uint[*batch, *shape]``, for keys ``uint32[*batch, 2]``."""
    batch, n = key.aval.shape[:-1], math.prod(shape)
    out = ShapedArray((*batch, *shape), np.dtype(f"u{bit_width // 8}"))
    if out.size == 0:
        return b.full(0, out)
    if bit_width < 32 and not partitionable:
        flat = _original_narrow(b, key, n, bit_width)
    else:
        layout = (n,) if b.one_form else _working_shape(shape, n)
        w = _Words(b, (*batch, *layout))
        k0, k1 = key_words(b, key, w.aval.shape)
        if partitionable:
            y0, y1 = w.hash(k0, k1, *_counters(w, len(batch), layout))
            flat = _join(b, y0, y1) if bit_width == 64 else b.convert(w.op("xor", y0, y1), out.dtype)
        elif bit_width == 64:
            i = w.index(len(batch), layout)
            flat = _join(b, *w.hash(k0, k1, i, w.op("add", i, n)))
        else:
            flat = _original_words(w, k0, k1, w.index(len(batch), layout), n)
    if flat.aval.shape == out.shape:
        return flat
    if len(shape) > 1:  # or XLA hashes inside the short inner loops of what uses the bits: 29 ms in place of 4 for 333,333 x 3 normal numbers
        flat = b.in_memory(flat, "loops over a short axis read random bits")
    return b.emit(f"stablehlo.reshape {flat}", flat, out=out)


def _original_narrow(b, key, n, bit_width):
    """8 or 16 bits each: the parts of a word follow each other, lowest first."""
    batch, parts = key.aval.shape[:-1], 32 // bit_width
    count = -(-n // parts)

    def all_words(b: Builder):
        w = _Words(b, (*batch, count))
        return _original_words(w, *key_words(b, key, w.aval.shape), w.iota(len(batch)), count)

    words = _apart(b, key, all_words, ShapedArray((*batch, count), _U32))  # or each part hashes anew
    w = _Words(b, (*batch, count, parts))
    words = b.broadcast(words, w.aval.shape, tuple(range(len(batch) + 1)))
    shifted = w.op("shift_right_logical", words, w.op("multiply", w.iota(len(batch) + 1), bit_width))
    narrow = b.convert(shifted, np.dtype(f"u{bit_width // 8}"))
    flat = b.emit(f"stablehlo.reshape {narrow}", narrow, out=ShapedArray((*batch, count * parts), narrow.aval.dtype))
    if count * parts == n and not b.one_form:
        return flat
    ranges = ", ".join([*(f"0:{m}" for m in batch), f"0:{n}"])
    return b.emit(f"stablehlo.slice {flat} [{ranges}]", flat, out=ShapedArray((*batch, n), flat.aval.dtype))


def emit_split(b: Builder, key: Value, *, shape: tuple[int, ...], partitionable: bool) -> Any:
    """New keys ``uint32[*batch, *shape, 2]``."""
    batch, n = key.aval.shape[:-1], math.prod(shape)
    out = ShapedArray((*batch, *shape, 2), _U32)
    if out.size == 0:
        return b.full(0, out)
    def hashed(b: Builder):
        w = _Words(b, (*batch, n))
        k0, k1 = key_words(b, key, w.aval.shape)
        if partitionable:
            return w.hash(k0, k1, *_counters(w, len(batch), (n,)))
        i = w.iota(len(batch))
        return w.hash(k0, k1, i, w.op("add", i, n))

    if b.platform == "cpu" or b.one_form:
        # Both words as one value, computed apart: else each of the two, and every use of the keys, hashes anew.
        pair = _apart(b, key, lambda b: _join(b, *hashed(b)), ShapedArray((*batch, n), _U64))
        words = [b.convert(_Words(b, (*batch, n), _U64).op("shift_right_logical", pair, 32), _U32), b.convert(pair, _U32)]
    else:
        words = [*hashed(b)]  # 64 bits are two words there
    # partitionable: the words of a key are neighbours. original: first words of all pairs, then second words.
    axis = len(batch) + 1 if partitionable else len(batch)
    wide = (*batch, n, 1) if partitionable else (*batch, 1, n)
    words = [b.emit(f"stablehlo.reshape {x}", x, out=ShapedArray(wide, _U32)) for x in words]
    both = b.emit(f"stablehlo.concatenate {words[0]}, {words[1]}, dim = {axis}", *words,
                  out=ShapedArray((*batch, n, 2) if partitionable else (*batch, 2, n), _U32))
    return both if both.aval.shape == out.shape else b.emit(f"stablehlo.reshape {both}", both, out=out)


def _apart(b: Builder, key: Value, compute: Callable[[Any], Any], out: AbstractValue) -> Any:
    """``compute(builder)``, once: the compiler copies cheap operations into all loops that read their results, and keys that
    come from keys that come from keys would be hashed again at every element.

    Where barriers do not keep it from that (see `Builder.barriers_last`), a branch does; it is taken always, which the
    compiler cannot know. On several devices a branch would gather the keys on each.
    """
    if b.barriers_last or b.platform != "cpu" or b.devices > 1:
        return in_memory(b, compute(b))
    rank = len(key.aval.shape)
    word = b.emit(f"stablehlo.slice {key} [{', '.join(['0:1'] * rank)}]", key, out=ShapedArray((1,) * rank, _U32))
    word = b.emit(f"stablehlo.reshape {word}", word, out=ShapedArray((), _U32))
    w = _Words(b, ())
    taken = w.compare("NE", w.op("or", word, 1), 0)
    branch, other = b.region([], lambda b: [compute(b)]), b.region([], lambda b: [b.full(0, out)])
    return b.emit(f'"stablehlo.if"({taken}) ({branch}, {other})', taken, out=out)


def in_memory(b: Builder, key: Value) -> Any:
    """The words of keys, apart from the loops that read them where the compiler can be told so.

    LLVM's vectorizer in jaxlib 0.12 takes time exponential in the rounds of a hash whose operands do not depend on the loop
    that it stands in, and it cannot always move such a hash out. So no loop may hash a key and then hash with the result.
    """
    return b.emit(f"stablehlo.optimization_barrier {key}", key, out=key.aval) if b.barriers_last else key


def emit_fold_in(b: Builder, key: Value, data: Value) -> Any:
    """Keys ``uint32[*batch, 2]`` from keys and one integer, or ``uint32[*batch]``."""
    batch = key.aval.shape[:-1]

    def words(b: Builder):
        w = _Words(b, (*batch, 2))
        numbers = b.broadcast(data, w.aval.shape, tuple(range(len(data.aval.shape))))
        y0, y1 = w.hash(*key_words(b, key, w.aval.shape), w.full(0), numbers)
        return w.select(w.compare("EQ", w.iota(len(batch)), 0), y0, y1)

    return _apart(b, key, words, key.aval)


# -- the bare hash as a primitive ----------------------------------------------------------------------------------------

def _hash_type(k0, k1, x0, x1):
    avals = (k0, k1, x0, x1)
    if any(a.dtype != _U32 for a in avals):
        raise TypeError(f"threefry2x32: all four operands must be uint32, got {', '.join(a.str_short() for a in avals)}")
    shape = joint_shape(*(a.shape for a in avals))
    return [ShapedArray(shape, _U32)] * 2


def _hash_lower(b, *operands):
    shape = b.out_avals[0].shape
    values = []
    for x in operands:
        offset = len(shape) - len(x.aval.shape)
        values.append(b.broadcast(x, shape, tuple(range(offset, len(shape)))))
    return list(_Words(b, shape).hash(*values))


def _hash_batch(axis, args, dims):
    """Operands may differ in rank; axes are aligned at the end, so the mapped axis goes first on full rank."""
    rank = max(np.ndim(x) - (d is not None) for x, d in zip(args, dims))
    aligned = []
    for x, d in zip(args, dims):
        if d is not None:
            x = structural.moved(x, d, 0)
            shape = np.shape(x)
            missing = rank + 1 - len(shape)
            if missing:
                x = structural.broadcast_to(x, (shape[0], *[1] * missing, *shape[1:]),
                                          (0, *range(missing + 1, rank + 1)))
        aligned.append(x)
    return threefry2x32_p.bind(*aligned), [0, 0]


threefry2x32_p = Primitive(
    "threefry2x32", multiple_results=True, out_type=_hash_type, jvp=ZERO, batch=_hash_batch, lower=_hash_lower,
    reference=hash_numpy, splits=splits.joined)
"""The hash of four uint32 arrays (key words, counter words), broadcast against each other; gives two."""


def threefry_2x32(keypair: Array | Sequence[ArrayLike], count: ArrayLike) -> Any:
    """The words that one key gives for an array of counters, paired as in the original layout.

    Args:
      keypair: uint32[2], or a pair of uint32 scalars.
      count: uint32 array of any shape; its first half (flattened) is paired with its second.

    Returns:
      uint32 array of the shape of ``count``.

    Raises:
      TypeError: an operand is not uint32.

    >>> from jax.extend import random as extend_random
    >>> extend_random.threefry_2x32(jnp.zeros(2, jnp.uint32), jnp.zeros(2, jnp.uint32))
    Array([1797259609, 2579123966], dtype=uint32)
    """
    k0, k1 = cast(Sequence[ArrayLike], keypair)
    for x in (k0, k1, count):
        if get_aval(x).dtype != _U32:
            raise TypeError(f"threefry_2x32: key words and count must be uint32, got {get_aval(x).str_short()}")
    shape, n = np.shape(count), math.prod(np.shape(count))
    flat = jnp.ravel(count)
    if n % 2:
        flat = jnp.concatenate([flat, jnp.zeros(1, np.uint32)])
    half = (n + 1) // 2
    words = threefry2x32_p.bind(k0, k1, flat[:half], flat[half:])
    return jnp.reshape(jnp.concatenate(words)[:n], shape)
