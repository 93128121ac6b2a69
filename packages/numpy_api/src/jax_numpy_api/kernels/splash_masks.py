"""Which keys each query sees, as objects that know of any block whether all, some or none of it is seen.

`CausalMask` and `LocalMask` are bands of diagonals, and tell that from the corners of the block; others look at its elements.
"""
from __future__ import annotations

import dataclasses
from typing import Any, Callable, Sequence

import numpy as np

from jax_core.representation.typing import Array

NOTHING, SOME, ALL = 0, 1, 2
"""What is seen of a block."""
_Slices = tuple[slice, slice]


def _band(shape: tuple[int, int], low: int | None, high: int | None) -> np.ndarray:
    """Whether ``low <= key - query <= high``."""
    distance = np.arange(shape[1])[None] - np.arange(shape[0])[:, None]
    seen = np.ones(shape, bool)
    return seen & (low is None or distance >= low) & (high is None or distance <= high)


def make_causal_mask(shape: tuple[int, int], offset: int = 0) -> np.ndarray:
    """Booleans ``[queries, keys]``: keys up to ``offset`` places after the query.

    >>> from jax.experimental.pallas.ops.tpu import splash_attention
    >>> splash_attention.make_causal_mask((2, 3), 1)
    array([[ True,  True, False],
           [ True,  True,  True]])
    """
    return _band(shape, None, offset)


def make_local_attention_mask(shape: tuple[int, int], window_size: tuple[int | None, int | None], *, offset: int = 0) -> np.ndarray:
    """Booleans ``[queries, keys]``: so many keys before and after the query's place plus ``offset``; None for all of them.

    >>> from jax.experimental.pallas.ops.tpu import splash_attention
    >>> splash_attention.make_local_attention_mask((3, 3), (1, 0))
    array([[ True, False, False],
           [ True,  True, False],
           [False,  True,  True]])
    """
    return _band(shape, *_window(window_size, offset))


def make_chunk_attention_mask(shape: tuple[int, int], chunk_size: int) -> np.ndarray:
    """Booleans ``[queries, keys]``: keys of the query's own chunk that do not come after it.

    >>> from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_mask
    >>> splash_attention_mask.make_chunk_attention_mask((3, 3), 2)
    array([[ True, False, False],
           [ True,  True, False],
           [False, False,  True]])
    """
    return ChunkedCausalMask(shape, chunk_size)[:, :]


def make_random_mask(shape: tuple[int, int], sparsity: float, seed: int) -> np.ndarray:
    """Booleans, of which about the part ``sparsity`` is False.

    >>> from jax.experimental.pallas.ops.tpu import splash_attention
    >>> 0.7 < splash_attention.make_random_mask((100, 100), 0.25, seed=0).mean() < 0.8
    np.True_
    """
    return np.random.RandomState(seed).binomial(1, 1.0 - sparsity, shape).astype(bool)


def _window(size: tuple[int | None, int | None], offset: int) -> tuple[int | None, int | None]:
    """The lowest and highest difference of key and query."""
    before, after = size
    return None if before is None else offset - before, None if after is None else offset + after


class Mask:
    """Which keys ``[queries, keys]`` are seen. ``mask[q, k]`` with two slices is an array of booleans; ``&`` and ``|`` combine masks."""

    @property
    def shape(self) -> tuple[int, ...]:
        raise NotImplementedError(f"{type(self).__name__} must define shape: (queries, keys).")

    def __getitem__(self, idx: Any) -> np.ndarray:
        raise NotImplementedError(f"{type(self).__name__} must define __getitem__: of two slices, booleans.")

    def __bool__(self) -> bool:
        raise NotImplementedError("a mask is neither true nor false; masks are combined by & and |, not by and and or.")

    def __or__(self, other: Mask) -> Mask:
        return LogicalOr(self, other)

    def __and__(self, other: Mask) -> Mask:
        return LogicalAnd(self, other)

    def block(self, q: slice, k: slice) -> int:
        """`NOTHING`, `SOME` or `ALL`, what is seen of the block."""
        seen = self[q, k]
        return ALL if seen.all() else SOME if seen.any() else NOTHING


class ComputableMask(Mask):
    """A mask that kernels compute from the places of queries and keys; nothing of it is stored."""

    def __init__(self, shape: tuple[int, int], shard_count: int = 1):
        self._shape = shape
        if shape[0] % shard_count ** 2:
            raise ValueError(f"{type(self).__name__}: shard_count={shard_count}; its square must divide the number of queries, {shape[0]}.")
        self.shard_count = shard_count

    @property
    def shape(self) -> tuple[int, ...]:
        return self._shape

    def seen(self, q: Any, k: Any) -> Any:
        """Whether the query at ``q`` sees the key at ``k``; both are arrays of integers, which broadcast."""
        raise NotImplementedError

    def _key(self) -> tuple:
        raise NotImplementedError

    def __getitem__(self, idx: _Slices) -> np.ndarray:
        rows, columns = _two_slices(self, idx)
        q, k = np.arange(self._shape[0])[rows], np.arange(self._shape[1])[columns]
        return np.broadcast_to(self.seen(q[:, None], k[None]), (len(q), len(k)))

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._key() == other._key()  # type: ignore[attr-defined]  # of the same type

    def __hash__(self) -> int:
        return hash((type(self), self._key()))


class MaskOfFunction(ComputableMask):
    """The mask whose ``mask_function(q, k)`` says of arrays of places, which broadcast, which key is seen; libraries (maxtext) derive their own of it."""

    def __init__(self, shape: tuple[int, int], mask_function: Callable[[Any, Any], Any], shard_count: int = 1):
        super().__init__(shape, shard_count)
        self.mask_function, self.q_sequence = mask_function, np.arange(shape[0], dtype=np.int32)

    def _key(self):
        return self._shape, self.mask_function, self.shard_count

    def seen(self, q: Any, k: Any) -> Any:
        return self.mask_function(q, k)


def _two_slices(mask: Mask, idx: Any) -> _Slices:
    if not isinstance(idx, tuple) or len(idx) != 2 or not all(isinstance(i, slice) for i in idx):
        raise TypeError(f"{type(mask).__name__} takes two slices, of queries and of keys, got {idx!r}.")
    return idx


class _Band(ComputableMask):
    """``low <= key - query <= high``, where None is no limit."""

    low: int | None
    high: int | None

    def _key(self):
        return self._shape, self.low, self.high, self.shard_count

    def seen(self, q: Any, k: Any) -> Any:
        distance, found = k - q, k == k
        if self.low is not None:
            found = found & (distance >= self.low)
        return found if self.high is None else found & (distance <= self.high)

    def block(self, q: slice, k: slice) -> int:
        least, most = k.start - (q.stop - 1), k.stop - 1 - q.start
        low, high = least if self.low is None else self.low, most if self.high is None else self.high
        return ALL if low <= least and most <= high else SOME if max(low, least) <= min(high, most) else NOTHING


class CausalMask(_Band):
    """Keys up to ``offset`` places after the query.

    >>> from jax.experimental.pallas.ops.tpu import splash_attention
    >>> splash_attention.CausalMask((8, 8))[2:3, 0:4]
    array([[ True,  True,  True, False]])
    """

    def __init__(self, shape: tuple[int, int], offset: int = 0, shard_count: int = 1):
        super().__init__(shape, shard_count)
        self.offset, self.low, self.high = offset, None, offset


class LocalMask(_Band):
    """So many keys before and after the query's place plus ``offset``; None for all of them.

    >>> from jax.experimental.pallas.ops.tpu import splash_attention
    >>> splash_attention.LocalMask((8, 8), (1, 0), 0)[2:3, 0:4]
    array([[False,  True,  True, False]])
    """

    def __init__(self, shape: tuple[int, int], window_size: tuple[int | None, int | None], offset: int, shard_count: int = 1):
        super().__init__(shape, shard_count)
        self.window_size, self.offset = window_size, offset
        self.low, self.high = _window(window_size, offset)


class ChunkedCausalMask(ComputableMask):
    """Keys of the query's own chunk that do not come after it.

    >>> from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_mask
    >>> splash_attention_mask.ChunkedCausalMask((8, 8), 2)[3:4, 0:4]
    array([[False, False,  True,  True]])
    """

    def __init__(self, shape: tuple[int, int], chunk_size: int, shard_count: int = 1):
        if chunk_size <= 0:
            raise ValueError(f"ChunkedCausalMask: chunk_size={chunk_size}; a chunk has at least one query.")
        super().__init__(shape, shard_count)
        self.chunk_size = chunk_size

    def _key(self):
        return self._shape, self.chunk_size, self.shard_count

    def seen(self, q: Any, k: Any) -> Any:
        return (q // self.chunk_size == k // self.chunk_size) & (k <= q)


@dataclasses.dataclass(frozen=True)
class FullMask(Mask):
    """Every query sees every key."""

    _shape: tuple[int, int]

    def __post_init__(self) -> None:
        if not isinstance(self._shape, tuple):
            raise ValueError(f"FullMask: a shape is a tuple (queries, keys), got {self._shape!r}.")

    @property
    def shape(self) -> tuple[int, ...]:
        return self._shape

    def __getitem__(self, idx: _Slices) -> np.ndarray:
        rows, columns = _two_slices(self, idx)
        return np.ones((len(range(*rows.indices(self._shape[0]))), len(range(*columns.indices(self._shape[1])))), bool)

    def block(self, q: slice, k: slice) -> int:
        return ALL


class NumpyMask(Mask):
    """A mask that is an array of booleans ``[queries, keys]``.

    >>> from jax.experimental.pallas.ops.tpu import splash_attention
    >>> import numpy as np
    >>> splash_attention.NumpyMask(np.eye(3, dtype=bool))[:2, :2]
    array([[ True, False],
           [False,  True]])
    """

    def __init__(self, array: np.ndarray):
        if array.ndim != 2 or array.dtype != np.bool_:
            raise ValueError(f"NumpyMask: an array of booleans with two axes is expected, got {array.dtype}{list(array.shape)}.")
        self.array = array

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    def __getitem__(self, idx: _Slices) -> np.ndarray:
        return self.array[idx]

    def __eq__(self, other: object) -> bool:
        return type(other) is NumpyMask and np.array_equal(self.array, other.array)

    def __hash__(self) -> int:
        return hash((self.array.shape, self.array.tobytes()))

    def __repr__(self) -> str:
        return f"NumpyMask({self.array!r})"


class _Combined(Mask):
    """Two masks of one shape, element by element."""

    def __init__(self, left: Mask, right: Mask):
        if left.shape != right.shape:
            raise ValueError(f"{type(self).__name__}: masks of the shapes {left.shape} and {right.shape}; they must have the same.")
        self.left, self.right = left, right

    @property
    def shape(self) -> tuple[int, ...]:
        return self.left.shape

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and (self.left, self.right) == (other.left, other.right)  # type: ignore[attr-defined]  # of the same type

    def __hash__(self) -> int:
        return hash((type(self), self.left, self.right))


class LogicalAnd(_Combined):
    """What both masks show."""

    def __getitem__(self, idx: _Slices) -> np.ndarray:
        return self.left[idx] & self.right[idx]

    def block(self, q: slice, k: slice) -> int:
        both = self.left.block(q, k), self.right.block(q, k)
        return min(both) if NOTHING in both or ALL in both else super().block(q, k)


class LogicalOr(_Combined):
    """What one of the masks shows."""

    def __getitem__(self, idx: _Slices) -> np.ndarray:
        return self.left[idx] | self.right[idx]

    def block(self, q: slice, k: slice) -> int:
        both = self.left.block(q, k), self.right.block(q, k)
        return max(both) if NOTHING in both or ALL in both else super().block(q, k)


class MultiHeadMask(Mask):
    """A mask for each head; ``mask[h, q, k]`` with three slices.

    >>> from jax.experimental.pallas.ops.tpu import splash_attention
    >>> splash_attention.MultiHeadMask([splash_attention.CausalMask((8, 8))] * 4).shape
    (4, 8, 8)
    """

    def __init__(self, masks: Sequence[Mask]):
        if not masks:
            raise ValueError("MultiHeadMask: no masks were given; there is one for each head.")
        for m in masks:
            if isinstance(m, MultiHeadMask) or m.shape != masks[0].shape:
                raise ValueError(f"MultiHeadMask: {m!r} of shape {m.shape}, the first one has {masks[0].shape}; give masks (queries, keys) of one shape.")
        self.masks = masks

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.masks), *self.masks[0].shape)

    def __getitem__(self, idx: tuple[slice, slice, slice]) -> np.ndarray:
        if not isinstance(idx, tuple) or len(idx) != 3 or not isinstance(idx[0], slice):
            raise TypeError(f"MultiHeadMask takes three slices, of heads, queries and keys, got {idx!r}.")
        return np.stack([m[idx[1:]] for m in self.masks[idx[0]]])

    def __eq__(self, other: object) -> bool:
        return type(other) is MultiHeadMask and list(self.masks) == list(other.masks)

    def __hash__(self) -> int:
        return hash(tuple(self.masks))


def heads_of(mask: MultiHeadMask | np.ndarray | Array) -> list[Mask]:
    """The mask of each head.

    Raises:
      ValueError: an array that is not ``bool[heads, queries, keys]``.
    """
    return list(mask.masks) if isinstance(mask, MultiHeadMask) else [NumpyMask(m) for m in np.asarray(mask)]
