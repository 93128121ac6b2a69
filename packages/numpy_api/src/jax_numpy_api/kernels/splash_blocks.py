"""Which blocks of scores a mask leaves, as lists that kernels read from scalar memory: only these are fetched and computed."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from jax_core.representation.typing import Array

from .. import numpy as jnp
from .splash_masks import ALL, NOTHING, SOME, ComputableMask, Mask, MultiHeadMask


class MaskInfo(NamedTuple):
    """A mask by blocks.

    For the forward pass and the derivative of queries the first three are ``[heads, blocks of queries, steps]``: a step works on one block of
    keys. For the derivatives of keys and values they are ``[heads, steps, blocks of keys]``: a step works on one block of queries. ``heads`` is one
    for each shard where all heads have the same mask.
    """

    data_next: Any  # the number of the block that a step works on
    mask_next: Any  # which of the stored blocks is its mask
    block_mask: Any  # 0: the step has nothing to do; 1: part of its block is seen; 2: all of it
    partial_mask_blocks: Any  # the stored blocks, [number, queries, keys]
    q_sequence: Any  # the places of the queries, where masks are computed in the kernel
    is_dynamic_mask: bool | None = None


def _kinds(mask: Mask, q_size: int, k_size: int) -> np.ndarray:
    (n, m) = mask.shape
    return np.array([[mask.block(slice(i, i + q_size), slice(j, j + k_size)) for j in range(0, m, k_size)] for i in range(0, n, q_size)], np.int32)


def _check(where: str, shape: tuple, block_shape: tuple[int, int], head_shards: int, q_seq_shards: int) -> None:
    if len(shape) != 3:
        raise ValueError(f"{where}: a mask [heads, queries, keys] is expected, got the shape {shape}.")
    (h, n, m), (q_size, k_size) = shape, block_shape
    for what, size, block in (("queries", n, q_size), ("keys", m, k_size)):
        if block > size or size % block:
            raise ValueError(f"{where}: blocks of {block} {what} must divide their number, {size}.")
    if head_shards < 1 or h % head_shards:
        raise ValueError(f"{where}: head_shards={head_shards} must divide the {h} heads.")
    if q_seq_shards < 1 or n % (q_seq_shards * q_size):
        raise ValueError(f"{where}: q_seq_shards={q_seq_shards}: each shard of the {n} queries must consist of whole blocks of {q_size}.")


def _steps(kinds: np.ndarray, shrink: bool) -> np.ndarray:
    """For each row of blocks, the columns that a step works on, filled up with the last one: it is there already."""
    rows = [np.flatnonzero(row) if shrink else np.arange(len(row)) for row in kinds.reshape(-1, kinds.shape[-1])]
    width = max(1, max(map(len, rows)))
    filled = [[*row, *[row[-1] if len(row) else 0] * (width - len(row))] for row in rows]
    return np.array(filled, np.int32).reshape(*kinds.shape[:-1], width)


def process_mask(mask: MultiHeadMask, block_shape: tuple[int, int], *, is_dkv: bool = False, downcast_smem_data: bool = True, head_shards: int = 1,
                 q_seq_shards: int = 1, shrink_grid: bool = True) -> tuple[MaskInfo, ComputableMask | None]:
    """The mask by blocks ``[queries, keys]``, and the mask that kernels compute, if that is what they do.

    Args:
      is_dkv: for the kernel that goes over queries.
      head_shards, q_seq_shards: over how many devices heads and queries are split.
      shrink_grid: leave out blocks of which nothing is seen.
      downcast_smem_data: accepted; numbers are int32.

    Raises:
      ValueError: blocks that do not divide the mask, or its shards.

    >>> from jax.experimental.pallas.ops.tpu.splash_attention import CausalMask, MultiHeadMask, splash_attention_mask_info
    >>> splash_attention_mask_info.process_mask(MultiHeadMask([CausalMask((8, 8))]), (4, 4))[0].block_mask.tolist()
    [[[1, 0], [2, 1]]]
    """
    _check("process_mask", mask.shape, block_shape, head_shards, q_seq_shards)
    kept = list(mask.masks)
    masks = kept[:1] * head_shards if all(m == kept[0] for m in kept) else kept
    unique = list(dict.fromkeys(masks))
    number = np.array([unique.index(m) for m in masks])
    of_each = np.stack([_kinds(m, *block_shape) for m in unique])
    computed = unique[0] if len(unique) == 1 and isinstance(unique[0], ComputableMask) else None
    stored: np.ndarray | None = None
    place: Any = None
    if computed is None and (of_each == SOME).any():
        place = np.cumsum(of_each == SOME).reshape(of_each.shape).astype(np.int32) - 1  # that of the last stored block where there is none
        place = np.maximum(place, 0)
        q_size, k_size = block_shape
        stored = np.stack([unique[u][i * q_size:(i + 1) * q_size, j * k_size:(j + 1) * k_size] for u, i, j in np.argwhere(of_each == SOME)])
    kinds = of_each[number]
    if is_dkv:  # by shards of the queries, whose steps follow one another
        kinds = kinds.reshape(len(masks), q_seq_shards, -1, kinds.shape[-1])
    turned = (lambda x: x.swapaxes(2, 3)) if is_dkv else (lambda x: x)  # steps go along axis 2
    steps = turned(_steps(turned(kinds), shrink_grid))
    used: Any = np.take_along_axis(kinds, steps, 2)
    if shrink_grid:  # of the steps that only fill up, nothing is seen
        count = (kinds != NOTHING).sum(2, keepdims=True)
        used = np.where(turned(np.arange(steps.shape[2]) < turned(count)), used, NOTHING)
    where: Any = None if place is None else np.take_along_axis(place[number].reshape(kinds.shape), steps, 2)
    if is_dkv:
        steps, used, where = (None if x is None else x.reshape(len(masks), -1, x.shape[-1]) for x in (steps, used, where))
    sequence = None if computed is None else np.arange(mask.shape[1], dtype=np.int32)
    return MaskInfo(steps, where, used, stored, sequence), computed


def process_mask_dkv(mask: MultiHeadMask, block_shape: tuple[int, int], *, is_dkv: bool = True, downcast_smem_data: bool = True, head_shards: int = 1,
                     q_seq_shards: int = 1, shrink_grid: bool = True) -> tuple[MaskInfo, ComputableMask | None]:
    """`process_mask` for the kernel that goes over queries.

    >>> from jax.experimental.pallas.ops.tpu.splash_attention import CausalMask, MultiHeadMask, splash_attention_mask_info
    >>> splash_attention_mask_info.process_mask_dkv(MultiHeadMask([CausalMask((8, 8))]), (4, 4))[0].block_mask.tolist()
    [[[1, 1], [2, 0]]]
    """
    return process_mask(mask, block_shape, is_dkv=is_dkv, downcast_smem_data=downcast_smem_data, head_shards=head_shards, q_seq_shards=q_seq_shards,
                        shrink_grid=shrink_grid)


def process_dynamic_mask(mask: Array, block_shape: tuple[int, int], *, is_dkv: bool = False, downcast_smem_data: bool = True, head_shards: int = 1,
                         q_seq_shards: int = 1, shrink_grid: bool = True) -> tuple[MaskInfo, None]:
    """`process_mask` of an array ``bool[heads, queries, keys]`` that may be traced: every block is a step, and all of them are stored.

    >>> from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_mask_info
    >>> splash_attention_mask_info.process_dynamic_mask(jnp.ones((1, 8, 8), bool), (4, 4))[0].block_mask.tolist()
    [[[2, 2], [2, 2]]]
    """
    _check("process_dynamic_mask", mask.shape, block_shape, head_shards, q_seq_shards)
    if mask.dtype != np.bool_:
        raise ValueError(f"process_dynamic_mask: a mask of booleans is expected, got {mask.dtype}.")
    (h, n, m), (q_size, k_size) = mask.shape, block_shape
    rows, columns = n // q_size, m // k_size
    blocks = mask.reshape(h, rows, q_size, columns, k_size).swapaxes(2, 3)
    kinds = jnp.where(blocks.all((3, 4)), ALL, jnp.where(blocks.any((3, 4)), SOME, NOTHING)).astype(np.int32)
    each = np.arange(rows // q_seq_shards, dtype=np.int32)
    data = np.tile(each, q_seq_shards)[:, None] if is_dkv else np.arange(columns, dtype=np.int32)[None]
    where = np.arange(h * rows * columns, dtype=np.int32).reshape(h, rows, columns)
    return MaskInfo(jnp.broadcast_to(data, kinds.shape), jnp.asarray(where), kinds, blocks.reshape(-1, q_size, k_size), None, True), None


def process_dynamic_mask_dkv(mask: Array, block_shape: tuple[int, int], *, is_dkv: bool = True, downcast_smem_data: bool = True, head_shards: int = 1,
                             q_seq_shards: int = 1, shrink_grid: bool = True) -> tuple[MaskInfo, None]:
    """`process_dynamic_mask` for the kernel that goes over queries.

    >>> from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_mask_info
    >>> splash_attention_mask_info.process_dynamic_mask_dkv(jnp.ones((1, 8, 8), bool), (4, 4))[0].data_next.tolist()
    [[[0, 0], [1, 1]]]
    """
    return process_dynamic_mask(mask, block_shape, is_dkv=is_dkv, downcast_smem_data=downcast_smem_data, head_shards=head_shards,
                                q_seq_shards=q_seq_shards, shrink_grid=shrink_grid)
