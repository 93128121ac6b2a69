"""Attention of one query for each head, on GPUs, as when a text grows word by word: keys are divided among steps, and the parts joined.

Keys and values are in arrays (`mqa`, `gqa`), or in pages, of which a table says where those of each text are (`paged_attention`).

Source: Dao et al., "Flash-Decoding for long-context inference", 2023; Kwon et al., "Efficient memory management for large language model
serving with PagedAttention", SOSP 2023.
"""
from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from jax_core.programs.jit import jit
from jax_core.references.api import Ref
from jax_core.representation.aval import ShapeDtypeStruct
from jax_core.representation.typing import Array, ArrayLike

from .. import lax, numpy as jnp
from ..pallas.call import pallas_call
from ..pallas.control import align_to, cdiv, next_power_of_2
from ..pallas.grid import program_id
from ..pallas.memory import load_view
from ..pallas.specs import BlockSpec
from ..pallas.triton import CompilerParams
from .gpu_softmax import DEFAULT_MASK_VALUE, joined, normalised, put_rows, rows, running_softmax

_LN2 = math.log(2)


# -- kernels -------------------------------------------------------------------------------------------------------------

def _keep(found, values, total, largest):
    put_rows(values, found[0])
    total[...], largest[...] = found[1:]


def _array_kernel(q, k, v, first, end, *out, size, scale):
    """For a part of the keys of one text."""
    heads, length = q.shape[0], k.shape[0]
    start = program_id(3) * length
    low, high = jnp.maximum(first[0] - start, 0), jnp.minimum(end[0] - start, length)

    def block(j: Array) -> tuple:
        key = lax.broadcasted_iota(np.int32, (heads, size), 1) + j * size
        return rows(k, j * size, size), rows(v, j * size, size), (key >= low) & (key < high)
    _keep(running_softmax(rows(q, 0, heads), low // size, cdiv(jnp.maximum(high, 0), size), block, scale), *out)


def _page_kernel(q, k, v, table, length, scales, *out, pages, cap, mask_value):
    """For some of the pages of one text."""
    heads, size = q.shape[0], k.shape[1]
    start = program_id(3) * table.shape[0] * size
    inside = jnp.clip(length[0] - start, 0, table.shape[0] * size)

    key = lax.iota(np.int32, pages * size)
    column = lax.iota(np.int32, next_power_of_2(q.shape[1]))

    def read(ref: Ref, numbers: Array, scale: list[Ref]) -> Array:
        place = key % size
        there = jnp.broadcast_to((column < ref.shape[2])[None, :], (len(key), len(column)))
        found = load_view(ref.at[numbers[:, None], place[:, None], column[None, :]], mask=there)
        return (found.astype(np.float32) * scale[0][numbers, place][:, None]).astype(q.dtype) if scale else found

    def block(j: Array) -> tuple:
        numbers = table[key // size + j * pages]
        seen = jnp.broadcast_to((key + j * pages * size < inside)[None, :], (heads, len(key)))
        return *(read(ref, numbers, scale) for ref, scale in zip((k, v), scales)), seen
    _keep(running_softmax(rows(q, 0, heads), 0, cdiv(inside, pages * size), block, 1.0, cap, mask_value), *out)


def _call(kernel, name, q, splits, block_h, in_specs, operands, options):
    """The weighted sums of values, the sums of weights and the largest scores (in base 2), joined, for queries ``[batch, key heads, heads, width]``."""
    b, groups, heads, width = q.shape
    padded = align_to(heads, block_h)
    q = jnp.pad(q, [(0, 0), (0, 0), (0, padded - heads), (0, 0)])
    at = lambda b, g, h, s: (b, g, s, h)
    numbers = ShapeDtypeStruct((b, groups, splits, padded), np.float32)
    number = BlockSpec((None, None, None, block_h), at)
    found = pallas_call(kernel, (ShapeDtypeStruct((*numbers.shape, width), np.float32), numbers, numbers), grid=(b, groups, padded // block_h, splits),
                        in_specs=[BlockSpec((None, None, block_h, width), lambda b, g, h, s: (b, g, h, 0)), *in_specs], name=name,
                        out_specs=(BlockSpec((None, None, None, block_h, width), lambda b, g, h, s: (b, g, s, h, 0)), number, number), **options)(q, *operands)
    return tuple(x[:, :, :heads] for x in joined(*found, axis=2))


def _options(num_warps, num_stages, interpret, debug):
    return dict(interpret=interpret, debug=debug, compiler_params=CompilerParams(num_warps=num_warps, num_stages=num_stages))


# -- keys in arrays --------------------------------------------------------------------------------------------------------

def _bounds(b, m, start_idx, kv_seq_len):
    """For each text the first key that is seen and the end of those."""
    return (jnp.broadcast_to(jnp.asarray(default if x is None else x, np.int32), (b,)) for x, default in ((start_idx, 0), (kv_seq_len, m)))


def _decode(name, q, k, v, start_idx, kv_seq_len, sm_scale, block_h, block_k, k_splits, options, return_residuals, normalize_output):
    (b, heads, width), (m, groups) = q.shape, k.shape[1:3]
    if k.shape != v.shape or (k.shape[0], k.shape[3]) != (b, width) or heads % groups:
        raise ValueError(f"{name}: queries {q.shape}, keys {k.shape} and values {v.shape} do not fit: keys are like values, and the heads of queries are "
                         "a multiple of theirs.")
    if m % k_splits or (part := m // k_splits) < 16:
        raise ValueError(f"{name}: k_splits={k_splits} must divide the number of keys, {m}, into parts of 16 at least.")
    size = min(block_k, part)
    if part % size:
        raise ValueError(f"{name}: block_k={block_k} must divide the {part} keys of each of the {k_splits} parts.")
    scale = 1 / math.sqrt(width) if sm_scale is None else sm_scale
    keys, one = BlockSpec((None, part, None, width), lambda b, g, h, s: (b, s, g, 0)), BlockSpec((1,), lambda b, g, h, s: (b,))
    values, total, largest = _call(partial(_array_kernel, size=size, scale=scale), name, q.reshape(b, groups, heads // groups, width), k_splits, block_h,
                                   [keys, keys, one, one], (k, v, *_bounds(b, m, start_idx, kv_seq_len)), options)
    out = (normalised(values, total) if normalize_output else values).reshape(q.shape).astype(q.dtype)
    return (out, (total.reshape(b, heads), largest.reshape(b, heads) * _LN2)) if return_residuals else out


_STATIC = ("sm_scale", "block_h", "block_k", "k_splits", "num_warps", "num_stages", "grid", "interpret", "debug", "return_residuals", "normalize_output")


@partial(jit, static_argnames=_STATIC)
def mqa(q: Array, k: Array, v: Array, start_idx: ArrayLike | None = None, kv_seq_len: ArrayLike | None = None, sm_scale: float | None = None,
        block_h: int = 16, block_k: int = 256, k_splits: int = 16, num_warps: int | None = None, num_stages: int = 2,
        grid: tuple[int, ...] | None = None, interpret: bool = False, debug: bool = False, return_residuals: bool = False,
        normalize_output: bool = True) -> Any:
    """Attention of one query for each head to keys that all heads share, on a GPU; arguments as for `gqa`.

    Args:
      q: ``[batch, heads, width]``.
      k, v: ``[batch, length, width]``.

    >>> from jax.experimental.pallas.ops.gpu.decode_attention import mqa
    >>> q, k = jnp.ones((1, 4, 16)), jnp.ones((1, 64, 16))
    >>> mqa(q, k, k, k_splits=2, interpret=True).shape
    (1, 4, 16)
    """
    return _decode("mqa", q, k[:, :, None], v[:, :, None], start_idx, kv_seq_len, sm_scale, block_h, block_k, k_splits,
                   _options(num_warps, num_stages, interpret, debug), return_residuals, normalize_output)


@partial(jit, static_argnames=_STATIC)
def gqa(q: Array, k: Array, v: Array, start_idx: ArrayLike | None = None, kv_seq_len: ArrayLike | None = None, sm_scale: float | None = None,
        block_h: int = 16, block_k: int = 128, k_splits: int = 16, num_warps: int | None = None, num_stages: int = 2,
        grid: tuple[int, ...] | None = None, interpret: bool = False, debug: bool = False, return_residuals: bool = False,
        normalize_output: bool = True) -> Any:
    """Attention of one query for each head to keys that groups of heads share, on a GPU.

    Args:
      q: ``[batch, heads, width]``.
      k, v: ``[batch, length, key heads, width]``; each serves as many consecutive heads of queries.
      start_idx, kv_seq_len: the first key that is seen and the end of those, a number or one for each of the batch; by default all are.
      sm_scale: what scores are multiplied by, by default one over the root of the width.
      block_h, block_k: heads and keys that are worked on at once.
      k_splits: parts of the keys, for which steps run at the same time.
      num_warps, num_stages: for the compiler.
      grid: accepted; it is computed.
      interpret, debug: as for `pallas_call`.
      return_residuals: also the sums of exponentials relative to the largest scores, and these, ``[batch, heads]`` each.
      normalize_output: divide by those sums.

    Returns:
      an array like ``q``; zeros where no key is seen.

    Raises:
      ValueError: shapes or blocks that do not fit.

    >>> from jax.experimental.pallas.ops.gpu.decode_attention import gqa
    >>> q, k = jnp.ones((1, 4, 16)), jnp.ones((1, 64, 2, 16))
    >>> gqa(q, k, k, k_splits=2, interpret=True).shape
    (1, 4, 16)
    """
    return _decode("gqa", q, k, v, start_idx, kv_seq_len, sm_scale, block_h, block_k, k_splits, _options(num_warps, num_stages, interpret, debug),
                   return_residuals, normalize_output)


def _plainly(q, k, v, seen, scale, cap=None, mask_value=DEFAULT_MASK_VALUE, normalize=True):
    """Results, sums of exponentials and largest scores by plain operations, for keys ``[batch, length, key heads, width]``, of which each text has ``seen``."""
    (b, heads, width), groups = q.shape, k.shape[2]
    grouped = q.reshape(b, groups, heads // groups, width)
    scores = jnp.einsum("bghc,bkgc->bghk", grouped, k, preferred_element_type=np.float32) * scale
    if cap is not None:
        scores = jnp.tanh(scores / cap) * cap
    scores = jnp.where(seen[:, None, None], scores, mask_value)
    largest = scores.max(-1)
    weights = jnp.exp(scores - largest[..., None])
    total = weights.sum(-1)
    weights = weights / total[..., None] if normalize else weights
    return jnp.einsum("bghk,bkgc->bghc", weights, v, preferred_element_type=np.float32).reshape(q.shape).astype(q.dtype), total, largest


@partial(jit, static_argnames=("sm_scale", "return_residuals", "normalize_output"))
def gqa_reference(q: Array, k: Array, v: Array, start_idx: ArrayLike | None = None, kv_seq_len: ArrayLike | None = None,
                  sm_scale: float | None = None, return_residuals: bool = False, normalize_output: bool = True) -> Any:
    """What `gqa` computes, by plain operations on all scores.

    >>> from jax.experimental.pallas.ops.gpu.decode_attention import gqa_reference
    >>> gqa_reference(jnp.ones((1, 4, 16)), jnp.ones((1, 64, 2, 16)), jnp.ones((1, 64, 2, 16))).shape
    (1, 4, 16)
    """
    (b, heads, width), m = q.shape, k.shape[1]
    first, end = _bounds(b, m, start_idx, kv_seq_len)
    key = jnp.arange(m)
    out, total, largest = _plainly(q, k, v, (key >= first[:, None]) & (key < end[:, None]), 1 / math.sqrt(width) if sm_scale is None else sm_scale,
                                   normalize=normalize_output)
    return (out, (total.reshape(b, heads), largest.reshape(b, heads))) if return_residuals else out


@partial(jit, static_argnames=("sm_scale", "return_residuals", "normalize_output"))
def mqa_reference(q: Array, k: Array, v: Array, start_idx: ArrayLike | None = None, kv_seq_len: ArrayLike | None = None,
                  sm_scale: float | None = None, return_residuals: bool = False, normalize_output: bool = True) -> Any:
    """What `mqa` computes, by plain operations on all scores.

    >>> from jax.experimental.pallas.ops.gpu.decode_attention import mqa_reference
    >>> mqa_reference(jnp.ones((1, 4, 16)), jnp.ones((1, 64, 16)), jnp.ones((1, 64, 16))).shape
    (1, 4, 16)
    """
    return gqa_reference(q, k[:, :, None], v[:, :, None], start_idx, kv_seq_len, sm_scale, return_residuals, normalize_output)


@partial(jit, static_argnames=("sm_scale",))
def mha_reference(q: Array, k: Array, v: Array, start_idx: ArrayLike | None = None, kv_seq_len: ArrayLike | None = None,
                  sm_scale: float | None = None) -> Array:
    """The same with keys of its own for each head, ``[batch, length, heads, width]``, by plain operations.

    >>> from jax.experimental.pallas.ops.gpu.decode_attention import mha_reference
    >>> mha_reference(jnp.ones((1, 4, 16)), jnp.ones((1, 64, 4, 16)), jnp.ones((1, 64, 4, 16))).shape
    (1, 4, 16)
    """
    return gqa_reference(q, k, v, start_idx, kv_seq_len, sm_scale)


# -- keys in pages ---------------------------------------------------------------------------------------------------------

def _check_pages(q, k, v, table, lengths):
    if k.shape != v.shape or k.ndim != 4:
        raise ValueError(f"paged_attention: pages of keys {k.shape} and of values {v.shape} must be alike, [key heads, pages, page size, width].")
    if q.ndim != 3 or q.shape[2] != k.shape[3] or q.shape[1] % k.shape[0]:
        raise ValueError(f"paged_attention: queries {q.shape} must have the width of the pages {k.shape}, and a multiple of their heads.")
    for name, x in (("block_tables", table), ("lengths", lengths)):
        if x is not None and x.shape[0] != q.shape[0]:
            raise ValueError(f"paged_attention: {name} {x.shape} must have one entry for each of the {q.shape[0]} queries of the batch.")


@partial(jit, static_argnames=("block_h", "pages_per_compute_block", "k_splits", "num_warps", "num_stages", "interpret", "debug", "mask_value",
                               "attn_logits_soft_cap"))
def paged_attention(q: Array, k_pages: Array, v_pages: Array, block_tables: Array, lengths: Array | None, k_scales_pages: Array | None = None,
                    v_scales_pages: Array | None = None, *, block_h: int = 16, pages_per_compute_block: int = 8, k_splits: int = 16, num_warps: int = 8,
                    num_stages: int = 2, interpret: bool = False, debug: bool = False, mask_value: float = DEFAULT_MASK_VALUE,
                    attn_logits_soft_cap: float | None = None) -> Array:
    """Attention of one query for each head to keys in pages, on a GPU.

    Args:
      q: ``[batch, heads, width]``, scaled already.
      k_pages, v_pages: ``[key heads, pages, page size, width]``.
      block_tables: ``[batch, pages of each]``: the numbers of the pages of each text, in order.
      lengths: how many keys each text has, ``[batch]``. None: all that its pages hold.
      k_scales_pages, v_scales_pages: ``[key heads, pages, page size]``, what small integers in the pages are multiplied by.
      block_h, pages_per_compute_block: heads and pages that are worked on at once.
      k_splits: parts of the pages, for which steps run at the same time.
      num_warps, num_stages: for the compiler.
      interpret, debug: as for `pallas_call`.
      mask_value: the score of what is not seen.
      attn_logits_soft_cap: scores are squashed to ``cap * tanh(score / cap)``.

    Returns:
      an array like ``q``.

    Raises:
      ValueError: shapes or blocks that do not fit.

    >>> from jax.experimental.pallas.ops.gpu.paged_attention import paged_attention
    >>> q, pages = jnp.ones((2, 4, 16)), jnp.ones((2, 10, 16, 16))
    >>> paged_attention(q, pages, pages, jnp.arange(8).reshape(2, 4), jnp.array([20, 64]), k_splits=2, interpret=True).shape
    (2, 4, 16)
    """
    _check_pages(q, k_pages, v_pages, block_tables, lengths)
    (b, heads, width), (groups, count, size, _), texts = q.shape, k_pages.shape, block_tables.shape[1]
    if texts % k_splits:
        raise ValueError(f"paged_attention: k_splits={k_splits} must divide the {texts} pages of each text.")
    part = texts // k_splits
    pages = min(pages_per_compute_block, part)
    if part % pages:
        raise ValueError(f"paged_attention: pages_per_compute_block={pages_per_compute_block} must divide the {part} pages of each of the {k_splits} parts.")
    lengths = jnp.full(b, texts * size, np.int32) if lengths is None else lengths.astype(np.int32)
    scales = [[] if x is None else [x] for x in (k_scales_pages, v_scales_pages)]
    every, scale = BlockSpec((None, count, size, width), lambda b, g, h, s: (g, 0, 0, 0)), BlockSpec((None, count, size), lambda b, g, h, s: (g, 0, 0))
    in_specs = [every, every, BlockSpec((None, part), lambda b, g, h, s: (b, s)), BlockSpec((1,), lambda b, g, h, s: (b,)), [[scale] * len(x) for x in scales]]
    values, total, _ = _call(partial(_page_kernel, pages=pages, cap=attn_logits_soft_cap, mask_value=mask_value), "paged_attention",
                             q.reshape(b, groups, heads // groups, width), k_splits, block_h, in_specs,
                             (k_pages, v_pages, block_tables.astype(np.int32), lengths, scales), _options(num_warps, num_stages, interpret, debug))
    return normalised(values, total).reshape(q.shape).astype(q.dtype)


@partial(jit, static_argnames=("mask_value", "attn_logits_soft_cap"))
def paged_attention_reference(q: Array, k: Array, v: Array, lengths: Array, *, mask_value: float = DEFAULT_MASK_VALUE,
                              attn_logits_soft_cap: float | None = None) -> Array:
    """What `paged_attention` computes, of keys in order, ``[batch, length, key heads, width]``, by plain operations.

    >>> from jax.experimental.pallas.ops.gpu.paged_attention import paged_attention_reference
    >>> k = jnp.ones((1, 64, 2, 16))
    >>> paged_attention_reference(jnp.ones((1, 4, 16)), k, k, jnp.array([7])).shape
    (1, 4, 16)
    """
    seen = jnp.arange(k.shape[1]) < lengths[:, None]
    return _plainly(q, k, v, seen, 1.0, attn_logits_soft_cap, mask_value)[0]
