"""What the attention kernels for GPUs share: a softmax over blocks of keys that keeps, for each query, the largest score so far, the
sum of exponentials relative to it, and the sum of values so weighted; and how such parts over different keys are joined.

Scores are in base 2, as GPUs have an instruction for powers of two.

Source: Milakov, Gimelshein, "Online normalizer calculation for softmax", 2018; Dao et al., "Flash-Decoding for long-context inference", 2023.
"""
from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np

from jax_core.references.api import Ref
from jax_core.representation.typing import Array, ArrayLike

from .. import lax, numpy as jnp
from ..lax.control_flow.while_loop import fori_loop
from ..pallas.control import next_power_of_2
from ..pallas.memory import load_view, store_view
from ..pallas.triton import dot

DEFAULT_MASK_VALUE = float(-0.7 * np.finfo(np.float32).max)
"""The score of a key that a query does not see."""
LOG2E = math.log2(math.e)


def rows(ref: Ref, first: ArrayLike, count: int) -> Any:
    """``count`` rows of a reference to a matrix, each filled up with zeros to a power of two."""
    width = ref.shape[1]
    column = lax.iota(np.int32, next_power_of_2(width))
    at = (lax.iota(np.int32, count) + first)[:, None], column[None, :]
    return load_view(ref.at[at], mask=jnp.broadcast_to((column < width)[None, :], (count, len(column))))


def put_rows(ref: Ref, value: Array) -> None:
    """Store as many columns of ``value`` as ``ref`` has."""
    count, width = ref.shape
    column = lax.iota(np.int32, value.shape[1])
    store_view(ref.at[lax.iota(np.int32, count)[:, None], column[None, :]], value.astype(ref.dtype),
               mask=jnp.broadcast_to((column < width)[None, :], value.shape))


def running_softmax(q: Array, first: ArrayLike, last: ArrayLike, block: Callable[[Array], tuple], scale: float, cap: float | None = None,
                    mask_value: float = DEFAULT_MASK_VALUE) -> tuple[Any, Any, Any]:
    """The sum of values with the weights ``exp(score - largest score)``, the sum of these, and the largest score in base 2.

    Args:
      q: queries, a row each.
      first, last: numbers of the blocks of keys, ``last`` exclusive.
      block: from the number of a block to its keys, its values, and booleans that say who sees whom (None: all see all).
      scale: of scores.
      cap: scores are squashed to ``cap * tanh(score / cap)``.
    """
    def step(j: Array, carry: tuple) -> tuple:
        values, total, largest = carry
        k, v, seen = block(j)
        scores = dot(q, k, trans_b=True) * np.float32(scale if cap is not None else scale * LOG2E)
        if cap is not None:
            scores = jnp.tanh(scores / np.float32(cap)) * np.float32(cap * LOG2E)
        if seen is not None:
            scores = jnp.where(seen, scores, np.float32(mask_value))
        new = jnp.maximum(largest, scores.max(1))
        shrink, weights = jnp.exp2(largest - new), jnp.exp2(scores - new[:, None])
        if seen is not None:  # where nothing has been seen yet, the largest score is that of what is not seen
            weights = jnp.where(seen, weights, np.float32(0))
        return values * shrink[:, None] + dot(weights.astype(v.dtype), v), total * shrink + weights.sum(1), new
    count, width = q.shape
    start = jnp.zeros((count, width), np.float32), jnp.zeros(count, np.float32), jnp.full(count, mask_value, np.float32)
    return fori_loop(first, last, step, start)


def joined(values: Array, total: Array, largest: Array, axis: int) -> tuple[Any, Any, Any]:
    """The three of all keys, from those of parts of the keys along ``axis``."""
    top = largest.max(axis, keepdims=True)
    weight = jnp.exp2(largest - top)
    return (values * weight[..., None]).sum(axis), (total * weight).sum(axis), top.squeeze(axis)


def normalised(values: Array, total: Array) -> Any:
    """The weighted mean; zero where nothing was seen."""
    total = total[..., None]
    return values / jnp.where(total == 0, 1, total)
