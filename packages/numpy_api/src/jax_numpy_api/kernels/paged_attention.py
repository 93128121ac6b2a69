"""Attention of one query for each head on TPUs, to keys in pages; and keys and values as small integers with a scale for each row.

Which page comes next is read from the table by index maps, so that it is fetched while the ones before are worked on.

Source: Kwon et al., "Efficient memory management for large language model serving with PagedAttention", SOSP 2023.
"""
from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from jax_core.programs.jit import jit
from jax_core.representation import tree
from jax_core.representation.aval import ShapeDtypeStruct
from jax_core.representation.typing import Array, DTypeLike

from .. import lax, nn, numpy as jnp
from ..pallas.call import pallas_call
from ..pallas.control import when
from ..pallas.grid import num_programs, program_id
from ..pallas.spaces import VMEM
from ..pallas.specs import BlockSpec, PrefetchScalarGridSpec
from ..pallas.tpu import CompilerParams
from .tpu_softmax import DEFAULT_MASK_VALUE, TRANS_B_DIM_NUMBERS, take_keys

MAX_INT8 = 127.5


class QuantizedTensor(NamedTuple):
    """Small integers, and the number that the largest of each row stands for."""

    weight: Array
    scales: Array


def get_quantization_scales(x: Array) -> Array:
    """The largest magnitude of each row, ``[..., 1]``.

    >>> from jax.experimental.pallas.ops.tpu.paged_attention import quantization_utils
    >>> quantization_utils.get_quantization_scales(jnp.array([[1., -3.]]))
    Array([[3.]], dtype=float32)
    """
    return jnp.max(jnp.abs(x), -1, keepdims=True)


def to_int8(x: Array, h: Array) -> Array:
    """``x`` as parts of ``h``, in 127.5ths.

    >>> from jax.experimental.pallas.ops.tpu.paged_attention import quantization_utils
    >>> quantization_utils.to_int8(jnp.array([1., -2.]), jnp.array([4.]))
    Array([ 32, -64], dtype=int8)
    """
    return jnp.rint(jnp.clip(x * (MAX_INT8 / h), -128, 127)).astype(np.int8)


def from_int8(x: Array, h: Array, dtype: DTypeLike = jnp.bfloat16) -> Array:
    """The numbers that `to_int8` was given, rounded.

    >>> from jax.experimental.pallas.ops.tpu.paged_attention import quantization_utils
    >>> quantization_utils.from_int8(jnp.array([32, -64], jnp.int8), jnp.array([4.]), jnp.float32).round(2)
    Array([ 1.  , -2.01], dtype=float32)
    """
    return (x.astype(np.float32) * h / MAX_INT8).astype(dtype)


def quantize_to_int8(x: Array) -> QuantizedTensor:
    """``x`` in an eighth to a quarter of its memory, for `paged_attention`.

    >>> from jax.experimental.pallas.ops.tpu.paged_attention import quantization_utils
    >>> quantization_utils.quantize_to_int8(jnp.ones((2, 16, 8, 128))).scales.shape
    (2, 16, 8, 1)
    """
    scales = get_quantization_scales(x)
    return QuantizedTensor(to_int8(x, scales), scales)


def unquantize_from_int8(x: QuantizedTensor, dtype: DTypeLike = jnp.bfloat16) -> Array:
    """The numbers that `quantize_to_int8` was given, rounded.

    >>> from jax.experimental.pallas.ops.tpu.paged_attention import quantization_utils
    >>> x = quantization_utils.quantize_to_int8(jnp.ones((2, 128)))
    >>> quantization_utils.unquantize_from_int8(x, jnp.float32).round(2).max()
    Array(1., dtype=float32)
    """
    return from_int8(x.weight, x.scales, dtype)


# -- the kernel ------------------------------------------------------------------------------------------------------------

def _kernel(lengths, table, q, keys, values, out, largest, total, sums, *, size, cap, mask_value):
    step = program_id(2)
    length = lengths[program_id(0)]

    @when(step == 0)
    def _():
        largest[...] = jnp.full(largest.shape, mask_value, np.float32)
        total[...], sums[...] = jnp.zeros(total.shape, np.float32), jnp.zeros(sums.shape, np.float32)

    for n, (k, v) in enumerate(zip(keys, values)):
        first = (step * len(keys) + n) * size

        def page(k=k, v=v, first=first):
            k, v = (from_int8(x.weight[...], x.scales[...], q.dtype) if isinstance(x, QuantizedTensor) else x[...] for x in (k, v))
            scores = lax.dot_general(q[...], k.astype(q.dtype), TRANS_B_DIM_NUMBERS, preferred_element_type=np.float32)
            if cap is not None:
                scores = jnp.tanh(scores / np.float32(cap)) * np.float32(cap)
            inside = lax.broadcasted_iota(np.int32, scores.shape, 1) + first < length
            take_keys(..., jnp.where(inside, scores, np.float32(mask_value)), v, largest, total, sums, inside)
        when(first < length)(page)

    @when(step == num_programs(2) - 1)
    def _():
        out[...] = (sums[...] / jnp.where(total[...] == 0, np.float32(1), total[...])).astype(out.dtype)


def _check(q, k, v, lengths, table, pages, megacore_mode):
    k, v = (x.weight if isinstance(x, QuantizedTensor) else x for x in (k, v))
    if k.shape != v.shape or k.ndim != 4:
        raise ValueError(f"paged_attention: pages of keys {k.shape} and of values {v.shape} must be alike, [key heads, pages, page size, width].")
    if q.ndim != 3 or q.shape[2] != k.shape[3] or q.shape[1] % k.shape[0]:
        raise ValueError(f"paged_attention: queries {q.shape} must have the width of the pages {k.shape}, and a multiple of their heads.")
    if lengths.shape != q.shape[:1] or table.ndim != 2 or table.shape[0] != q.shape[0]:
        raise ValueError(f"paged_attention: lengths {lengths.shape} and page_indices {table.shape} must have one entry for each of the {q.shape[0]} queries of "
                         "the batch.")
    if table.shape[1] % pages:
        raise ValueError(f"paged_attention: pages_per_compute_block={pages} must divide the {table.shape[1]} pages of each text.")
    if megacore_mode not in ("kv_head", "batch", None):
        raise ValueError(f"paged_attention: megacore_mode={megacore_mode!r}; it is 'kv_head', 'batch' or None.")


@partial(jit, static_argnames=("mask_value", "attn_logits_soft_cap", "pages_per_compute_block", "megacore_mode", "inline_seq_dim"))
def paged_attention(q: Array, k_pages: Array | QuantizedTensor, v_pages: Array | QuantizedTensor, lengths: Array, page_indices: Array, *,
                    mask_value: float = DEFAULT_MASK_VALUE, attn_logits_soft_cap: float | None = None, pages_per_compute_block: int,
                    megacore_mode: str | None = None, inline_seq_dim: bool = True) -> Array:
    """Attention of one query for each head to keys in pages, on a TPU.

    Args:
      q: ``[batch, heads, width]``, scaled already.
      k_pages, v_pages: ``[key heads, pages, page size, width]``, or such of small integers (`QuantizedTensor`).
      lengths: how many keys each text has, ``[batch]``.
      page_indices: ``[batch, pages of each]``: the numbers of the pages of each text, in order.
      mask_value: the score of what is not seen.
      attn_logits_soft_cap: scores are squashed to ``cap * tanh(score / cap)``.
      pages_per_compute_block: pages of a step.
      megacore_mode: which axis chips with two cores divide: "kv_head" or "batch".
      inline_seq_dim: accepted; results do not depend on it.

    Returns:
      an array like ``q``; zeros where a text has no keys.

    Raises:
      ValueError: shapes or blocks that do not fit.

    >>> from jax.experimental.pallas import tpu as pltpu
    >>> from jax.experimental.pallas.ops.tpu.paged_attention import paged_attention
    >>> q, pages = jnp.ones((1, 4, 128)), jnp.ones((2, 10, 16, 128))
    >>> with pltpu.force_tpu_interpret_mode():
    ...     paged_attention(q, pages, pages, jnp.array([20]), jnp.array([[3, 1]]), pages_per_compute_block=2).shape
    (1, 4, 128)
    """
    pages = pages_per_compute_block
    _check(q, k_pages, v_pages, lengths, page_indices, pages, megacore_mode)
    b, heads, width = q.shape
    groups, _, size, _ = tree.leaves(k_pages)[0].shape
    each, count = heads // groups, page_indices.shape[1]

    def page(x: Array, n: int) -> BlockSpec:
        def place(b: Array, g: Array, i: Array, lengths: Any, table: Any) -> tuple:
            last = jnp.maximum((lengths[b] + (size - 1)) // size - 1, 0)  # beyond it the same page stays where it is
            return g, table[b, jnp.minimum(i * pages + n, last)], 0, 0
        return BlockSpec((None, None, *x.shape[2:]), place)
    own = BlockSpec((None, None, each, width), lambda b, g, i, lengths, table: (b, g, 0, 0))
    specs = [[tree.tree_map(partial(page, n=n), x) for n in range(pages)] for x in (k_pages, v_pages)]
    semantics = ("parallel" if megacore_mode == "batch" else "arbitrary", "parallel" if megacore_mode == "kv_head" else "arbitrary", "arbitrary")
    grid = PrefetchScalarGridSpec(2, (b, groups, count // pages), [own, *specs], own,
                                  [VMEM((each, 1), np.float32), VMEM((each, 1), np.float32), VMEM((each, width), np.float32)])
    out = pallas_call(partial(_kernel, size=size, cap=attn_logits_soft_cap, mask_value=mask_value), ShapeDtypeStruct((b, groups, each, width), q.dtype),
                      grid_spec=grid, name="paged_attention", compiler_params=CompilerParams(dimension_semantics=semantics))(
        lengths.astype(np.int32), page_indices.astype(np.int32), q.reshape(b, groups, each, width), [k_pages] * pages, [v_pages] * pages)
    return out.reshape(q.shape)


def grouped_query_attention_reference(queries: Array, k_pages: Array, v_pages: Array, seq_lens: Array, soft_cap: float | None = None,
                                      debug: bool = False) -> Array:
    """Attention of one query to keys in arrays, without pages and without a kernel: what `paged_attention` computes, for tests.

    Args:
      queries: ``[texts, heads, width]``, not scaled here.
      k_pages, v_pages: ``[texts, heads of keys, positions, width]``; so many heads of queries as stand together share one of keys.
      seq_lens: how many positions of each text there are.
      soft_cap: scores ``s`` become ``soft_cap * tanh(s / soft_cap)``.
      debug: accepted.

    Returns:
      an array like ``queries``.

    >>> from jax.experimental.pallas.ops.tpu.paged_attention import util
    >>> q, keys = jnp.ones((1, 2, 4)), jnp.arange(12.).reshape(1, 1, 3, 4)
    >>> util.grouped_query_attention_reference(q, jnp.zeros_like(keys), keys, jnp.array([2]))[0, 0]
    Array([2., 3., 4., 5.], dtype=float32)
    """
    b, heads, width = queries.shape
    groups, positions = k_pages.shape[1:3]
    grouped = queries.reshape(b, groups, heads // groups, width).astype(np.float32)
    scores = jnp.einsum("bghd,bgtd->bght", grouped, k_pages.astype(np.float32))
    if soft_cap is not None:
        scores = soft_cap * jnp.tanh(scores / soft_cap)
    scores = jnp.where(jnp.arange(positions) < seq_lens[:, None, None, None], scores, np.float32(DEFAULT_MASK_VALUE))
    return jnp.einsum("bght,bgtd->bghd", nn.softmax(scores, -1), v_pages.astype(np.float32)).reshape(queries.shape).astype(queries.dtype)
