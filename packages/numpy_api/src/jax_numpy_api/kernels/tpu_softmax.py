"""What the attention kernels for TPUs share: a softmax over blocks of keys, of which references keep, for each query, the largest score so far,
the sum of exponentials relative to it, and the sum of values so weighted.

Source: Milakov, Gimelshein, "Online normalizer calculation for softmax", 2018.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from jax_core.representation.typing import Array

from .. import numpy as jnp

DEFAULT_MASK_VALUE = float(-0.7 * np.finfo(np.float32).max)
"""The score of a key that a query does not see."""
TRANS_A_DIM_NUMBERS, TRANS_B_DIM_NUMBERS = (((0,), (0,)), ((), ())), (((1,), (1,)), ((), ()))
"""Products of columns with columns, and of rows with rows, of two matrices, for `lax.dot_general`."""


def take_keys(at: Any, scores: Array, v: Array, largest: Any, total: Any, sums: Any, seen: Array | None = None) -> None:
    """Go on with the keys that have ``scores [queries, keys]`` and values ``v``, in the parts ``at`` of the references.

    Keys that are not ``seen`` have no weight, also where a query sees none.
    """
    old = largest[at]
    new = jnp.maximum(old, scores.max(-1, keepdims=True))
    weights, shrink = jnp.exp(scores - new), jnp.exp(old - new)
    if seen is not None:
        weights = jnp.where(seen, weights, np.float32(0))
    largest[at], total[at] = new, total[at] * shrink + weights.sum(-1, keepdims=True)
    sums[at] = sums[at] * shrink + jnp.dot(weights.astype(v.dtype), v, preferred_element_type=np.float32)
