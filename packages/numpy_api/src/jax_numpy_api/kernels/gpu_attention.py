"""Attention on GPUs that never holds its scores: softmax(q k^T) v, with derivatives.

A step of the forward kernel has a block of queries and goes over the keys. Two kernels go backwards: a step of one has queries and goes
over keys, of the other keys and goes over queries; both compute the weights again from the logarithm of the sum of exponentials.

Source: Dao, Fu, Ermon, Rudra, Ré, "FlashAttention: fast and memory-efficient exact attention with IO-awareness", NeurIPS 2022.
"""
from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from jax_core.programs.jit import jit
from jax_core.references.indexing import ds
from jax_core.representation.aval import ShapeDtypeStruct
from jax_core.representation.typing import Array
from jax_core.transformations.autodiff import vjp
from jax_core.transformations.custom_vjp import custom_vjp

from .. import lax, nn, numpy as jnp
from ..lax.control_flow.while_loop import fori_loop
from ..pallas.call import pallas_call
from ..pallas.control import cdiv
from ..pallas.grid import program_id
from ..pallas.specs import BlockSpec
from ..pallas.triton import CompilerParams, dot
from .gpu_softmax import DEFAULT_MASK_VALUE, LOG2E, normalised, put_rows, rows, running_softmax


@dataclasses.dataclass(frozen=True)
class BlockSizes:
    """How many queries and keys a step works on at once; results do not depend on it but for rounding. Derivatives need all six."""

    block_q: int
    block_k: int
    """Queries and keys of the attention itself."""
    block_q_dkv: int | None = None
    block_kv_dkv: int | None = None
    """Of the kernel for the derivatives by keys and values."""
    block_q_dq: int | None = None
    block_kv_dq: int | None = None
    """Of that for the derivative by the queries."""

    @classmethod
    def get_default(cls) -> BlockSizes:
        """128 forwards, 32 backwards."""
        return cls(128, 128, 32, 32, 32, 32)

    @property
    def has_backward_blocks(self) -> bool:
        """Whether all sizes for the derivatives are there."""
        return None not in dataclasses.astuple(self)


class _Options(NamedTuple):
    scale: float
    causal: bool
    blocks: BlockSizes
    way_back: str
    warps: int | None
    stages: int
    grid: tuple[int, ...] | None
    interpret: bool
    debug: bool
    residuals: bool


def segment_mask(q_segment_ids: Array, kv_segment_ids: Array) -> Array:
    """Which queries see which keys: those of their own segment. Leading axes are batches.

    >>> from jax.experimental.pallas.ops.gpu.attention import segment_mask
    >>> segment_mask(jnp.array([0, 1]), jnp.array([0, 1, 1]))
    Array([[ True, False, False],
           [False,  True,  True]], dtype=bool)
    """
    return q_segment_ids[..., :, None] == kv_segment_ids[..., None, :]


def _seen(options, ids, shape, first_q, first_k):
    """Of a block of scores those that count; None for all."""
    seen = None
    if options.causal:
        query, key = (lax.broadcasted_iota(np.int32, shape, axis) + first for axis, first in ((0, first_q), (1, first_k)))
        seen = query >= key
    if ids:
        q, kv = (ids[0][ds(first, size)] for first, size in zip((first_q, first_k), shape))
        same = segment_mask(q, kv)
        seen = same if seen is None else seen & same
    return seen


def _forward_kernel(q, k, v, *refs, options, sizes):
    *ids, out, logsum = refs
    size, keys = sizes
    first = program_id(0) * size

    def block(j: Array) -> tuple:
        return rows(k, j * keys, keys), rows(v, j * keys, keys), _seen(options, ids, sizes, first, j * keys)
    count = k.shape[0] // keys
    last = jnp.minimum(count, cdiv(first + size, keys)) if options.causal else count
    values, total, largest = running_softmax(rows(q, 0, size), 0, last, block, options.scale)
    put_rows(out, normalised(values, total))
    logsum[...] = largest + jnp.log2(total)


def _weights(options, ids, q, k, logsum, shape, first_q, first_k):
    weights = jnp.exp2(dot(q, k, trans_b=True) * np.float32(options.scale * LOG2E) - logsum[:, None])
    seen = _seen(options, ids, shape, first_q, first_k)
    return weights if seen is None else jnp.where(seen, weights, np.float32(0))


def _query_kernel(q, k, v, ct, logsum, delta, *refs, options, sizes):
    *ids, dq = refs
    size, keys = sizes
    first = program_id(0) * size
    q_, ct_, logsum_, delta_ = rows(q, 0, size), rows(ct, 0, size), logsum[...], delta[...]

    def step(j: Array, total: Array) -> Array:
        k_ = rows(k, j * keys, keys)
        weights = _weights(options, ids, q_, k_, logsum_, sizes, first, j * keys)
        change = weights * (dot(ct_, rows(v, j * keys, keys), trans_b=True) - delta_[:, None])
        return total + dot(change.astype(k_.dtype), k_)
    count = k.shape[0] // keys
    last = jnp.minimum(count, cdiv(first + size, keys)) if options.causal else count
    put_rows(dq, fori_loop(0, last, step, jnp.zeros(q_.shape, np.float32)) * np.float32(options.scale))


def _key_kernel(q, k, v, ct, logsum, delta, *refs, options, sizes):
    *ids, dk, dv = refs
    size, keys = sizes
    first = program_id(0) * keys
    k_, v_ = rows(k, 0, keys), rows(v, 0, keys)

    def step(i: Array, sums: tuple) -> tuple:
        q_, ct_, at = rows(q, i * size, size), rows(ct, i * size, size), ds(i * size, size)
        weights = _weights(options, ids, q_, k_, logsum[at], sizes, i * size, first)
        change = weights * (dot(ct_, v_, trans_b=True) - delta[at][:, None])
        return sums[0] + dot(change.astype(q_.dtype), q_, trans_a=True), sums[1] + dot(weights.astype(ct_.dtype), ct_, trans_a=True)
    zero = jnp.zeros(k_.shape, np.float32)
    begin = first // size if options.causal else 0
    of_k, of_v = fori_loop(begin, q.shape[0] // size, step, (zero, zero))
    put_rows(dk, of_k * np.float32(options.scale))
    put_rows(dv, of_v)


# -- calls ---------------------------------------------------------------------------------------------------------------

def _part(size, width):
    return BlockSpec((None, size, None, width), lambda i, b, h: (b, i, h, 0))


def _all(length, width):
    return BlockSpec((None, length, None, width), lambda i, b, h: (b, 0, h, 0))


def _numbers(size, length):
    """A float for each query."""
    return BlockSpec((None, None, size), lambda i, b, h: (b, h, i) if size != length else (b, h, 0))


def _call(kernel, name, options, sizes, steps, shapes, in_specs, out_specs, operands, ids):
    b, _, h, _ = operands[0].shape
    ids = () if ids is None else (ids,)
    in_specs = [*in_specs, *(BlockSpec((None, x.shape[1]), lambda i, b, h: (b, 0)) for x in ids)]
    return pallas_call(partial(kernel, options=options, sizes=sizes), shapes, grid=(steps, b, h), in_specs=in_specs, out_specs=out_specs, name=name,
                       interpret=options.interpret, debug=options.debug,
                       compiler_params=CompilerParams(num_warps=options.warps or 4, num_stages=options.stages))(*operands, *ids)


def _forward(q, k, v, ids, options):
    (b, n, h, width), m = q.shape, k.shape[1]
    size, keys = min(options.blocks.block_q, n), min(options.blocks.block_k, m)
    shapes = ShapeDtypeStruct(q.shape, q.dtype), ShapeDtypeStruct((b, h, n), np.float32)
    return _call(_forward_kernel, "attention", options, (size, keys), n // size, shapes, [_part(size, width), _all(m, width), _all(m, width)],
                 (_part(size, width), _numbers(size, n)), (q, k, v), ids)


@partial(custom_vjp, nondiff_argnums=(4,))
def _attention(q, k, v, ids, options):
    out, logsum = _forward(q, k, v, ids, options)
    return (out, logsum) if options.residuals else out


def _attention_fwd(q, k, v, ids, options):
    if options.residuals:
        raise ValueError("mha: return_residuals is for calls without derivatives; leave it out.")
    out, logsum = _forward(q, k, v, ids, options)
    return out, (q, k, v, ids, out, logsum)


def _attention_bwd(options, kept, ct):
    q, k, v, ids, out, logsum = kept
    if options.way_back == "xla":
        plain = lambda q, k, v: mha_reference(q, k, v, ids, sm_scale=options.scale, causal=options.causal)
        pull = vjp(plain, q, k, v)[1]
        return tuple(pull(ct)) + (None,)
    blocks = options.blocks
    if not blocks.has_backward_blocks:
        raise ValueError(f"mha: a derivative was asked for, and {blocks} lacks sizes for it; give all of them.")
    (_, n, _, width), m = q.shape, k.shape[1]
    delta = jnp.einsum("bqhc,bqhc->bhq", out.astype(np.float32), ct.astype(np.float32))
    operands = q, k, v, ct, logsum, delta

    size, keys = min(blocks.block_q_dq, n), min(blocks.block_kv_dq, m)
    one, every, number = _part(size, width), _all(m, width), _numbers(size, n)
    dq = _call(_query_kernel, "attention_dq", options, (size, keys), n // size, ShapeDtypeStruct(q.shape, q.dtype),
               [one, every, every, one, number, number], one, operands, ids)

    size, keys = min(blocks.block_q_dkv, n), min(blocks.block_kv_dkv, m)
    one, every, number = _part(keys, width), _all(n, width), _numbers(n, n)
    dk, dv = _call(_key_kernel, "attention_dkv", options, (size, keys), m // keys, (ShapeDtypeStruct(k.shape, k.dtype), ShapeDtypeStruct(v.shape, v.dtype)),
                   [every, one, one, every, number, number], (one, one), operands, ids)
    return dq, dk, dv, None


_attention.defvjp(_attention_fwd, _attention_bwd)


def _check(q, k, v, ids, options):
    shapes = f"q {q.shape}, k {k.shape}, v {v.shape}"
    if not (q.ndim == k.ndim == 4 and k.shape == v.shape and (q.shape[0], *q.shape[2:]) == (k.shape[0], *k.shape[2:])):
        raise ValueError(f"mha: queries, keys and values are [batch, length, heads, width], and only the length of queries may differ; got {shapes}.")
    n, m = q.shape[1], k.shape[1]
    if ids is not None and (n != m or ids.shape != q.shape[:2]):
        raise ValueError(f"mha: segment_ids are [batch, length], for queries and keys of the same length; got {ids.shape} beside {shapes}.")
    if options.way_back not in ("triton", "xla"):
        raise ValueError(f"mha: backward_pass_impl={options.way_back!r}; it is 'triton' (by kernels) or 'xla'.")
    for field in dataclasses.fields(BlockSizes):
        block, of_queries = getattr(options.blocks, field.name), "_q" in field.name
        length, what = (n, "queries") if of_queries else (m, "keys")
        if block is not None and length % min(block, length):
            raise ValueError(f"mha: {field.name}={block} must divide the length {length} of the {what}.")


_BLOCKS = BlockSizes.get_default()


@partial(jit, static_argnums=(4, 5, 6, 7, 8, 9, 10, 11, 12, 13), static_argnames=(
    "sm_scale", "causal", "block_sizes", "backward_pass_impl", "num_warps", "num_stages", "grid", "interpret", "debug", "return_residuals"))
def mha(q: Array, k: Array, v: Array, segment_ids: Array | None, sm_scale: float = 1.0, causal: bool = False,
        block_sizes: BlockSizes = _BLOCKS, backward_pass_impl: str = "triton", num_warps: int | None = None, num_stages: int = 2,
        grid: tuple[int, ...] | None = None, interpret: bool = False, debug: bool = False, return_residuals: bool = False) -> Any:
    """``softmax(q k^T * sm_scale) v`` on a GPU, by blocks; differentiable in q, k and v.

    Args:
      q, k, v: ``[batch, length, heads, width]``; keys and values share their length, which may be another one than that of the queries.
      segment_ids: ``[batch, length]``; queries see keys of their own segment only. None: all.
      sm_scale: what scores are multiplied by.
      causal: queries see keys at their own place and before.
      block_sizes: must divide the lengths.
      backward_pass_impl: "triton", kernels, or "xla", plain operations on all scores.
      num_warps, num_stages: for the compiler.
      grid: accepted; it is computed.
      interpret, debug: as for `pallas_call`.
      return_residuals: also the logarithms, to base 2, of the sums of exponentials, ``[batch, heads, length]``.

    Returns:
      an array like ``q``.

    Raises:
      ValueError: shapes or blocks that do not fit.

    >>> from jax.experimental.pallas.ops.gpu.attention import BlockSizes, mha
    >>> q = jnp.ones((1, 32, 2, 16))
    >>> mha(q, q, q, None, causal=True, block_sizes=BlockSizes(16, 16), interpret=True).shape
    (1, 32, 2, 16)
    """
    options = _Options(float(sm_scale), causal, block_sizes, backward_pass_impl, num_warps, num_stages, grid, interpret, debug, return_residuals)
    _check(q, k, v, segment_ids, options)
    return _attention(q, k, v, segment_ids, options)


@partial(jit, static_argnames=("sm_scale", "causal"))
def mha_reference(q: Array, k: Array, v: Array, segment_ids: Array | None, sm_scale: float = 1.0, causal: bool = False) -> Array:
    """What `mha` computes, by plain operations on all scores.

    >>> from jax.experimental.pallas.ops.gpu.attention import mha_reference
    >>> q = jnp.ones((1, 4, 2, 8))
    >>> mha_reference(q, q, q, None).shape
    (1, 4, 2, 8)
    """
    scores = jnp.einsum("bqhc,bkhc->bhqk", q, k, preferred_element_type=np.float32) * sm_scale
    seen = None if segment_ids is None else segment_mask(segment_ids, segment_ids)[:, None]
    if causal:
        order = jnp.tril(jnp.ones(scores.shape[-2:], bool))
        seen = order if seen is None else seen & order
    scores = scores if seen is None else jnp.where(seen, scores, DEFAULT_MASK_VALUE)
    return jnp.einsum("bhqk,bkhc->bqhc", nn.softmax(scores, -1), v, preferred_element_type=np.float32).astype(q.dtype)
