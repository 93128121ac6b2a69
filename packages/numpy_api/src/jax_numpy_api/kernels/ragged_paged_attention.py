"""Attention on TPUs of texts of any lengths, one after another in one array of queries, to keys and values in pages: prefill and decoding at once.

A list of pairs (text, block of queries that it has a part in) is made outside of the kernel; a step works on one pair and some pages. Which pages come
next is read from the table by index maps, so that they are fetched while the ones before are worked on.

Source: Kwon et al., "Efficient memory management for large language model serving with PagedAttention", SOSP 2023.
"""
from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from jax_core.programs.jit import jit
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

_NAME = "ragged_paged_attention"


# -- what is asked for -----------------------------------------------------------------------------------------------------

def static_validate_inputs(q: Array, kv_pages: Array, kv_lens: Array, page_indices: Array, cu_q_lens: Array, num_seqs: Array, *,
                           sm_scale: float | None = None, sliding_window: int | None = None, soft_cap: float | None = None,
                           mask_value: float | None = None, k_scale: float | None = None, v_scale: float | None = None,
                           num_kv_pages_per_block: int | None = None, num_queries_per_block: int | None = None,
                           vmem_limit_bytes: int | None = None) -> None:
    """Raise ValueError where shapes, dtypes or options of `ragged_paged_attention` do not fit.

    >>> from jax.experimental.pallas.ops.tpu import ragged_paged_attention as library
    >>> numbers = [jnp.zeros(n, jnp.int32) for n in ((2,), (2, 4), (3,), (1,))]
    >>> library.static_validate_inputs(jnp.ones((8, 4, 128)), jnp.ones((6, 16, 4, 128)), *numbers)
    """
    if q.ndim != 3 or kv_pages.ndim != 4 or kv_pages.shape[2] % 2:
        raise ValueError(f"{_NAME}: q [tokens, heads, width] and kv_pages [pages, page size, 2 * key heads, width] are expected, got {q.shape} and "
                         f"{kv_pages.shape}.")
    if kv_pages.shape[3] != q.shape[2] or q.shape[1] % (kv_pages.shape[2] // 2):
        raise ValueError(f"{_NAME}: queries {q.shape} must have the width of the pages {kv_pages.shape}, and a multiple of their heads.")
    if page_indices.ndim != 2 or num_seqs.shape != (1,):
        raise ValueError(f"{_NAME}: page_indices [texts, pages of each] and num_seqs [1] are expected, got {page_indices.shape} and {num_seqs.shape}.")
    texts, pages = page_indices.shape
    if kv_lens.shape != (texts,) or cu_q_lens.shape != (texts + 1,):
        raise ValueError(f"{_NAME}: for {texts} rows of page_indices there are {texts} kv_lens and {texts + 1} cu_q_lens, "
                         f"got {kv_lens.shape} and {cu_q_lens.shape}.")
    for name, x in dict(kv_lens=kv_lens, page_indices=page_indices, cu_q_lens=cu_q_lens, num_seqs=num_seqs).items():
        if x.dtype != np.int32:
            raise ValueError(f"{_NAME}: {name} is {x.dtype}; use .astype('int32').")
    for name, n in dict(sliding_window=sliding_window, num_queries_per_block=num_queries_per_block, vmem_limit_bytes=vmem_limit_bytes).items():
        if n is not None and n <= 0:
            raise ValueError(f"{_NAME}: {name}={n} must be positive, or None.")
    if soft_cap == 0:
        raise ValueError(f"{_NAME}: soft_cap=0 would make all scores 0; leave it out.")
    if num_kv_pages_per_block is not None and not 0 < num_kv_pages_per_block <= pages:
        raise ValueError(f"{_NAME}: num_kv_pages_per_block={num_kv_pages_per_block}; it is between 1 and the {pages} pages of each text.")


def dynamic_validate_inputs(q: Array, kv_pages: Array, kv_lens: Array, page_indices: Array, cu_q_lens: Array, num_seqs: Array, **options: Any) -> None:
    """As `static_validate_inputs`, also where the numbers do not fit; to be called outside of `jit`.

    >>> from jax.experimental.pallas.ops.tpu import ragged_paged_attention as library
    >>> numbers = [jnp.zeros(n, jnp.int32) for n in ((2,), (2, 4), (3,), (1,))]
    >>> library.dynamic_validate_inputs(jnp.ones((8, 4, 128)), jnp.ones((6, 16, 4, 128)), *numbers)
    """
    static_validate_inputs(q, kv_pages, kv_lens, page_indices, cu_q_lens, num_seqs, **options)
    lengths, table, ends, count = (np.asarray(x) for x in (kv_lens, page_indices, cu_q_lens, num_seqs))
    n, (texts, each) = int(count[0]), page_indices.shape
    if not 0 <= n <= texts:
        raise ValueError(f"{_NAME}: num_seqs={n}; page_indices has {texts} texts.")
    if ends[n] > q.shape[0]:
        raise ValueError(f"{_NAME}: cu_q_lens ends at {ends[n]}, and there are {q.shape[0]} queries.")
    for i in range(n):
        queries, keys = int(ends[i + 1] - ends[i]), int(lengths[i])
        if not 0 <= queries <= keys:
            raise ValueError(f"{_NAME}: text {i} has {queries} queries and {keys} keys; its queries are the last of its keys.")
        used = -(-keys // kv_pages.shape[1])
        if used > each:
            raise ValueError(f"{_NAME}: text {i} has {keys} keys, and its {each} pages hold {each * kv_pages.shape[1]}.")
        if used and not (0 <= table[i, :used].min() and table[i, :used].max() < kv_pages.shape[0]):
            raise ValueError(f"{_NAME}: text {i} has the pages {table[i, :used].tolist()}; there are {kv_pages.shape[0]}.")


def get_tuned_block_sizes(q_dtype: DTypeLike, kv_dtype: DTypeLike, num_q_heads_per_blk: int, num_kv_heads_per_blk: int, head_dim: int, page_size: int,
                          max_num_batched_tokens: int, pages_per_seq: int) -> tuple[int, int]:
    """Pages and queries of a step, where none are given: about 128 keys, and 32 queries.

    >>> from jax.experimental.pallas.ops.tpu import ragged_paged_attention as library
    >>> library.get_tuned_block_sizes(jnp.bfloat16, jnp.bfloat16, 8, 1, 128, 16, 64, 128)
    (8, 32)
    """
    return max(1, min(pages_per_seq, 128 // page_size)), min(32, max_num_batched_tokens)


# -- the kernel ------------------------------------------------------------------------------------------------------------

def _pairs(cu_q_lens, num_seqs, size, blocks):
    """How many pairs (text, block of ``size`` queries) there are, and the text and the block of each."""
    texts = len(cu_q_lens) - 1
    first, end = cu_q_lens[:-1], cu_q_lens[1:]
    there = (end > first) & (np.arange(texts) < num_seqs[0])
    counts = jnp.where(there, (end - 1) // size - first // size + 1, 0)
    before = jnp.cumsum(counts) - counts
    most = texts + blocks
    text = jnp.clip(jnp.searchsorted(before + counts, np.arange(most), side="right"), 0, texts - 1)
    block = jnp.clip(first[text] // size + np.arange(most) - before[text], 0, blocks - 1)
    return counts.sum().astype(np.int32), text.astype(np.int32), block.astype(np.int32)


def _kernel(text, block, lengths, table, ends, q, pages, out, largest, total, sums, *, size, each, scale, window, cap, mask_value, k_scale, v_scale):
    pair, step = program_id(0), program_id(1)
    this = text[pair]
    length, first, end = lengths[this], ends[this], ends[this + 1]

    @when(step == 0)
    def _():
        largest[...] = jnp.full(largest.shape, mask_value, np.float32)
        total[...], sums[...] = jnp.zeros(total.shape, np.float32), jnp.zeros(sums.shape, np.float32)

    rows = q.shape[1]
    token = block[pair] * size + lax.div(lax.broadcasted_iota(np.int32, (rows, 1), 0), np.int32(each))
    mine = (token >= first) & (token < end)
    place = token - end + length  # that of the query among the keys of its text

    for n, page in enumerate(pages):
        start = (step * len(pages) + n) * page.shape[0]

        def on_page(page=page, start=start):
            key = start + lax.broadcasted_iota(np.int32, (rows, page.shape[0]), 1)
            seen = (key <= place) & mine
            if window is not None:
                seen &= key > place - window
            for g in range(q.shape[0]):
                k, v = page[:, 2 * g, :], page[:, 2 * g + 1, :]
                if k_scale is not None:
                    k = (k.astype(np.float32) * np.float32(k_scale)).astype(q.dtype)
                if v_scale is not None:
                    v = (v.astype(np.float32) * np.float32(v_scale)).astype(q.dtype)
                scores = lax.dot_general(q[g], k.astype(q.dtype), TRANS_B_DIM_NUMBERS, preferred_element_type=np.float32) * np.float32(scale)
                if cap is not None:
                    scores = jnp.tanh(scores / np.float32(cap)) * np.float32(cap)
                take_keys(g, jnp.where(seen, scores, np.float32(mask_value)), v.astype(q.dtype), largest, total, sums, seen)
        when(start < length)(on_page)

    @when(step == num_programs(1) - 1)
    def _():
        begins = (pair == 0) | (block[jnp.maximum(pair - 1, 0)] != block[pair])
        for g in range(q.shape[0]):
            values = (sums[g] / jnp.where(total[g] == 0, np.float32(1), total[g])).astype(out.dtype)
            out[g] = jnp.where(mine, values, jnp.where(begins, jnp.zeros(values.shape, values.dtype), out[g]))


@partial(jit, static_argnames=("sm_scale", "mask_value", "num_kv_pages_per_block", "num_queries_per_block", "vmem_limit_bytes", "sliding_window", "soft_cap",
                               "k_scale", "v_scale"))
def ragged_paged_attention(q: Array, kv_pages: Array, kv_lens: Array, page_indices: Array, cu_q_lens: Array, num_seqs: Array, *, sm_scale: float = 1.0,
                           sliding_window: int | None = None, soft_cap: float | None = None, mask_value: float | None = DEFAULT_MASK_VALUE,
                           k_scale: float | None = None, v_scale: float | None = None, num_kv_pages_per_block: int | None = None,
                           num_queries_per_block: int | None = None, vmem_limit_bytes: int | None = None) -> Array:
    """Causal attention of several texts, whose queries follow one another, to keys and values in pages, on a TPU.

    Args:
      q: ``[tokens, heads, width]``.
      kv_pages: ``[pages, page size, 2 * key heads, width]``: of each head the key, then the value.
      kv_lens: how many keys each text has, ``int32[texts]``; its queries are the last of them.
      page_indices: the numbers of the pages of each text, in order, ``int32[texts, pages of each]``.
      cu_q_lens: where the queries of each text begin, and where the last one's end, ``int32[texts + 1]``.
      num_seqs: how many texts there are, ``int32[1]``.
      sm_scale: what scores are multiplied by; then ``soft_cap`` squashes them to ``cap * tanh(score / cap)``.
      sliding_window: a query sees so many keys, itself the last.
      mask_value: the score of what is not seen.
      k_scale, v_scale: what keys and values, as small numbers, are multiplied by.
      num_kv_pages_per_block, num_queries_per_block: of a step.
      vmem_limit_bytes: of the fast memory.

    Returns:
      an array like ``q``; what stands after the last text's queries is not specified.

    Raises:
      ValueError: shapes, dtypes or options that do not fit.

    >>> from jax.experimental.pallas import tpu as pltpu
    >>> from jax.experimental.pallas.ops.tpu.ragged_paged_attention import ragged_paged_attention
    >>> numbers = jnp.array([20, 3]), jnp.array([[3, 1], [0, 0]]), jnp.array([0, 5, 6]), jnp.array([2])
    >>> with pltpu.force_tpu_interpret_mode():
    ...     ragged_paged_attention(jnp.ones((8, 4, 128)), jnp.ones((6, 16, 4, 128)), *numbers).shape
    (8, 4, 128)
    """
    static_validate_inputs(q, kv_pages, kv_lens, page_indices, cu_q_lens, num_seqs, sliding_window=sliding_window, soft_cap=soft_cap,
                           num_kv_pages_per_block=num_kv_pages_per_block, num_queries_per_block=num_queries_per_block, vmem_limit_bytes=vmem_limit_bytes)
    (tokens, heads, width), (_, page, both, _), count = q.shape, kv_pages.shape, page_indices.shape[1]
    groups, each = both // 2, heads // (both // 2)
    pages, size = get_tuned_block_sizes(q.dtype, kv_pages.dtype, heads, groups, width, page, tokens, count)
    pages, size = num_kv_pages_per_block or pages, num_queries_per_block or size
    blocks = -(-tokens // size)
    number, text, block = _pairs(cu_q_lens, num_seqs, size, blocks)
    steps = jnp.maximum((jnp.max(jnp.where(np.arange(len(kv_lens)) < num_seqs[0], kv_lens, 0)) + (pages * page - 1)) // (pages * page), 1)

    def nth(n: int) -> BlockSpec:
        def place(pair: Array, i: Array, text: Any, block: Any, lengths: Any, table: Any, ends: Any) -> tuple:
            last = jnp.maximum((lengths[text[pair]] + (page - 1)) // page - 1, 0)  # beyond it the same page stays where it is
            return table[text[pair], jnp.minimum(i * pages + n, jnp.minimum(last, count - 1))], 0, 0, 0
        return BlockSpec((None, page, both, width), place)
    rows = size * each
    own = BlockSpec((groups, rows, width), lambda pair, i, text, block, *_: (0, block[pair], 0))
    scratch = [VMEM((groups, rows, 1), np.float32), VMEM((groups, rows, 1), np.float32), VMEM((groups, rows, width), np.float32)]
    grid = PrefetchScalarGridSpec(5, (number, steps), [own, [nth(n) for n in range(pages)]], own, scratch)
    kernel = partial(_kernel, size=size, each=each, scale=sm_scale, window=sliding_window, cap=soft_cap, k_scale=k_scale, v_scale=v_scale,
                     mask_value=DEFAULT_MASK_VALUE if mask_value is None else mask_value)
    padded = jnp.pad(q, ((0, blocks * size - tokens), (0, 0), (0, 0))).reshape(blocks * size, groups, each, width).swapaxes(0, 1)
    out = pallas_call(kernel, ShapeDtypeStruct((groups, blocks * rows, width), q.dtype), grid_spec=grid, name=_NAME,
                      compiler_params=CompilerParams(dimension_semantics=("arbitrary", "arbitrary"), vmem_limit_bytes=vmem_limit_bytes))(
        text, block, kv_lens, page_indices, cu_q_lens, padded.reshape(groups, blocks * rows, width), [kv_pages] * pages)
    return out.reshape(groups, blocks * size, each, width).swapaxes(0, 1).reshape(blocks * size, heads, width)[:tokens]


def ref_ragged_paged_attention(queries: Array, kv_pages: Array, kv_lens: Array, page_indices: Array, cu_q_lens: Array, num_seqs: Array, *,
                               sm_scale: float = 1.0, sliding_window: int | None = None, soft_cap: float | None = None,
                               mask_value: float | None = DEFAULT_MASK_VALUE, k_scale: float | None = None, v_scale: float | None = None) -> Array:
    """What `ragged_paged_attention` computes, by plain operations on all scores of each text; numbers must be known.

    Returns:
      the rows of the texts' queries, ``[cu_q_lens[num_seqs], heads, width]``.

    >>> from jax.experimental.pallas.ops.tpu import ragged_paged_attention as library
    >>> numbers = jnp.array([20, 3]), jnp.array([[3, 1], [0, 0]]), jnp.array([0, 5, 6]), jnp.array([2])
    >>> library.ref_ragged_paged_attention(jnp.ones((8, 4, 128)), jnp.ones((6, 16, 4, 128)), *numbers).shape
    (6, 4, 128)
    """
    dynamic_validate_inputs(queries, kv_pages, kv_lens, page_indices, cu_q_lens, num_seqs, sliding_window=sliding_window, soft_cap=soft_cap)
    found, each = [], queries.shape[1] // (kv_pages.shape[2] // 2)
    for i in range(int(num_seqs[0])):
        length, first, end = int(kv_lens[i]), int(cu_q_lens[i]), int(cu_q_lens[i + 1])
        both = kv_pages[page_indices[i]].reshape(-1, *kv_pages.shape[2:])[:length].astype(np.float32)
        k, v = jnp.repeat(both[:, 0::2], each, 1), jnp.repeat(both[:, 1::2], each, 1)
        k, v = k * (1 if k_scale is None else k_scale), v * (1 if v_scale is None else v_scale)
        scores = jnp.einsum("qhd,khd->hqk", queries[first:end].astype(np.float32), k) * sm_scale
        if soft_cap is not None:
            scores = jnp.tanh(scores / soft_cap) * soft_cap
        place = np.arange(length - (end - first), length)[:, None]
        seen = np.arange(length) <= place
        if sliding_window is not None:
            seen = seen & (np.arange(length) > place - sliding_window)
        weights = nn.softmax(jnp.where(seen, scores, DEFAULT_MASK_VALUE if mask_value is None else mask_value), -1)
        found.append(jnp.einsum("hqk,khd->qhd", weights, v).astype(queries.dtype))
    return jnp.concatenate(found) if found else jnp.zeros((0, *queries.shape[1:]), queries.dtype)
