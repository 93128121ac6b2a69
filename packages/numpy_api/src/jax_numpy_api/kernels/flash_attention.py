"""Attention on TPUs that never holds its scores: softmax(q k^T) v over blocks of queries and keys, with derivatives.

The forward kernel goes over blocks of keys and keeps, for each query, the largest score so far, the sum of exponentials relative to
it, and the weighted sum of values. Two kernels go backwards: over keys for the derivative of the queries (and of a bias), over queries for
those of keys and values; both compute the weights again from the two numbers kept of each query.

Source: Dao, Fu, Ermon, Rudra, Ré, "FlashAttention: fast and memory-efficient exact attention with IO-awareness", NeurIPS 2022.
"""
from __future__ import annotations

import dataclasses
import math
from functools import partial
from typing import Any, Iterator, NamedTuple

import numpy as np

from jax_core.programs.jit import jit
from jax_core.representation import tree
from jax_core.representation.aval import ShapeDtypeStruct
from jax_core.representation.typing import Array
from jax_core.transformations.custom_vjp import custom_vjp

from .. import lax, nn, numpy as jnp
from ..pallas.call import pallas_call
from ..pallas.control import when
from ..pallas.grid import program_id
from ..pallas.spaces import VMEM
from ..pallas.specs import BlockSpec, CostEstimate
from ..pallas.tpu import CompilerParams
from .tpu_softmax import DEFAULT_MASK_VALUE, TRANS_A_DIM_NUMBERS, TRANS_B_DIM_NUMBERS, take_keys

NUM_LANES, NUM_SUBLANES, MIN_BLOCK_SIZE = 128, 8, 128


class SegmentIds(NamedTuple):
    """Integers ``[batch, length]``: a query sees the keys of its own segment."""

    q: Array
    kv: Array


_IfDifferentiated = int | None  # a size that only derivatives need


@dataclasses.dataclass(frozen=True)
class BlockSizes:
    """How much is in fast memory at once; results do not depend on it but for rounding.

    Raises:
      ValueError: a size that must divide, or not exceed, another one does not.
    """

    block_q: int  # queries of a step of the forward kernel
    block_k_major: int  # keys of a step
    block_k: int  # keys whose scores are there at once
    block_b: int  # accepted; a step takes one entry of the batch

    # the same for the derivatives of keys and values
    block_q_major_dkv: _IfDifferentiated = None
    block_k_major_dkv: _IfDifferentiated = None
    block_k_dkv: _IfDifferentiated = None
    block_q_dkv: _IfDifferentiated = None

    # and for that of queries
    block_k_major_dq: _IfDifferentiated = None
    block_k_dq: _IfDifferentiated = None
    block_q_dq: _IfDifferentiated = None

    def __post_init__(self) -> None:
        pairs = [("block_k_major", "block_k"), ("block_q_major_dkv", "block_q_dkv"), ("block_k_major_dkv", "block_k_dkv"), ("block_k_major_dq", "block_k_dq")]
        for large, small in pairs:
            whole, part = getattr(self, large), getattr(self, small)
            if whole is not None and part is not None and (part > whole or part > 0 and whole % part):
                raise ValueError(f"flash_attention: {small}={part} must divide {large}={whole}.")

    @property
    def has_backward_blocks(self) -> bool:
        """Whether all sizes for the derivatives are there."""
        return all(getattr(self, f.name) is not None for f in dataclasses.fields(self))

    @classmethod
    def get_default(cls, batch_size: int, num_heads: int, q_seq_len: int, kv_len: int, d_model: int) -> BlockSizes:
        """128 for each size, and one entry of the batch."""
        return cls(**{f.name: 1 if f.name == "block_b" else MIN_BLOCK_SIZE for f in dataclasses.fields(cls)})


def below_or_on_diag(r: Any, r_blk_size: int, c: Any, c_blk_size: int) -> Any:
    """Whether some query of block ``r`` comes at or after some key of block ``c``.

    >>> from jax.experimental.pallas.ops.tpu.flash_attention import below_or_on_diag
    >>> below_or_on_diag(0, 128, 1, 128), below_or_on_diag(1, 128, 1, 128)
    (False, True)
    """
    return (r + 1) * r_blk_size - 1 >= c * c_blk_size


# -- parts of the kernels ------------------------------------------------------------------------------------------------

class _Sizes(NamedTuple):
    """Blocks of queries and keys, and the pieces in them that are worked on at once."""

    q: int
    k: int
    q_piece: int
    k_piece: int


def _scores(q, k, more, rows, columns, first_q, first_k, causal, scale):
    """Scores of a piece, and which of them are seen (None: all)."""
    scores = lax.dot_general(q, k, TRANS_B_DIM_NUMBERS, preferred_element_type=np.float32)
    if "ab" in more:
        scores += more["ab"][rows, columns].astype(np.float32)
    scores = scores * np.float32(scale) if scale != 1.0 else scores
    seen = None
    if causal:
        query = first_q + lax.broadcasted_iota(np.int32, scores.shape, 0)
        seen = query >= first_k + lax.broadcasted_iota(np.int32, scores.shape, 1)
    if "segment_q" in more:
        same = more["segment_q"][rows, :] == more["segment_kv"][:, columns]
        seen = same if seen is None else seen & same
    return (scores if seen is None else jnp.where(seen, scores, np.float32(DEFAULT_MASK_VALUE))), seen


def _pieces(sizes: _Sizes) -> Iterator[tuple[slice, slice]]:
    """Each piece of a block: its queries and its keys."""
    for i in range(0, sizes.q, sizes.q_piece):
        for j in range(0, sizes.k, sizes.k_piece):
            yield slice(i, i + sizes.q_piece), slice(j, j + sizes.k_piece)


def _visit(body, sizes, i, j, causal):
    """Run ``body`` on each piece of block (i, j), if a query of it sees a key."""
    def everything():
        for rows, columns in _pieces(sizes):
            body(rows, columns, i * sizes.q + rows.start, j * sizes.k + columns.start)
    when(below_or_on_diag(i, sizes.q, j, sizes.k) if causal else True)(everything)


def _forward_kernel(q, k, v, more, out, *kept, sizes, causal, scale, steps):
    *stored, largest, total, values = kept
    i, j = program_id(2), program_id(3)

    @when(j == 0)
    def _():
        largest[...] = jnp.full(largest.shape, DEFAULT_MASK_VALUE, np.float32)
        total[...], values[...] = jnp.zeros(total.shape, np.float32), jnp.zeros(values.shape, np.float32)

    def piece(rows, columns, first_q, first_k):
        scores, _ = _scores(q[rows, :], k[columns, :], more, rows, columns, first_q, first_k, causal, scale)
        take_keys((rows, slice(None)), scores, v[columns, :], largest, total, values)
    _visit(piece, sizes, i, j, causal)

    @when(j == steps - 1)
    def _():
        out[...] = (values[...] / total[...]).astype(out.dtype)
        for ref, what in zip(stored, (total, largest)):
            ref[...] = what[...]


def _change(q, k, v, ct, total, largest, delta, more, rows, columns, first_q, first_k, causal, scale):
    """Weights of a piece, and the cotangents of its scores before they are scaled."""
    scores, seen = _scores(q[rows, :], k[columns, :], more, rows, columns, first_q, first_k, causal, scale)
    weights = jnp.exp(scores - largest[rows, :]) / total[rows, :]
    products = lax.dot_general(ct[rows, :], v[columns, :], TRANS_B_DIM_NUMBERS, preferred_element_type=np.float32)
    change = weights * (products - delta[rows, :]) * np.float32(scale)
    return weights, change if seen is None else jnp.where(seen, change, np.float32(0))


def _query_kernel(q, k, v, ct, total, largest, delta, more, dq, *rest, sizes, causal, scale, steps):
    *bias, sums = rest
    i, j = program_id(2), program_id(3)

    @when(j == 0)
    def _():
        sums[...] = jnp.zeros(sums.shape, np.float32)
    for ref in bias:
        ref[...] = jnp.zeros(ref.shape, ref.dtype)

    def piece(rows, columns, first_q, first_k):
        _, change = _change(q, k, v, ct, total, largest, delta, more, rows, columns, first_q, first_k, causal, scale)
        sums[rows, :] += jnp.dot(change.astype(k.dtype), k[columns, :], preferred_element_type=np.float32)
        for ref in bias:
            ref[rows, columns] = change.astype(ref.dtype)
    _visit(piece, sizes, i, j, causal)

    @when(j == steps - 1)
    def _():
        dq[...] = sums[...].astype(dq.dtype)


def _key_kernel(q, k, v, ct, total, largest, delta, more, dk, dv, sums_k, sums_v, *, sizes, causal, scale, steps):
    i, j = program_id(3), program_id(2)

    @when(i == 0)
    def _():
        sums_k[...], sums_v[...] = jnp.zeros(sums_k.shape, np.float32), jnp.zeros(sums_v.shape, np.float32)

    def piece(rows, columns, first_q, first_k):
        weights, change = _change(q, k, v, ct, total, largest, delta, more, rows, columns, first_q, first_k, causal, scale)
        sums_v[columns, :] += lax.dot_general(weights.astype(ct.dtype), ct[rows, :], TRANS_A_DIM_NUMBERS, preferred_element_type=np.float32)
        sums_k[columns, :] += lax.dot_general(change.astype(q.dtype), q[rows, :], TRANS_A_DIM_NUMBERS, preferred_element_type=np.float32)
    _visit(piece, sizes, i, j, causal)

    @when(i == steps - 1)
    def _():
        dk[...], dv[...] = sums_k[...].astype(dk.dtype), sums_v[...].astype(dv.dtype)


# -- calls ---------------------------------------------------------------------------------------------------------------

class _Specs:
    """Blocks of each kind of operand, in a grid of batch, heads, and blocks of queries and keys, the ``inner`` of which changes fastest.

    Under ``causal`` a step that sees nothing asks for a block that comes later anyway; for the last of the ``rows`` queries if none does.
    """

    def __init__(self, sizes: _Sizes, width: int, causal: bool, inner: str, rows: int):
        self.sizes, self.causal, self.inner, self.last = sizes, causal, inner, np.int32(rows // sizes.q - 1)
        self.query, self.column = self._of((sizes.q, width), lambda i, j: (i, 0)), self._of((sizes.q, 1), lambda i, j: (i, 0))
        self.key, self.square = self._of((sizes.k, width), lambda i, j: (j, 0)), self._of((sizes.q, sizes.k), lambda i, j: (i, j))
        self.written = self._of((sizes.q, sizes.k), lambda i, j: (i, j), False)
        self.more = {"ab": self.square, "segment_q": self._of((sizes.q, 1), lambda i, j: (i, 0), heads=False),
                     "segment_kv": self._of((1, sizes.k), lambda i, j: (0, j), heads=False)}

    def _of(self, shape, place, read=True, heads=True):
        def index(b, h, first, second):
            i, j = (first, second) if self.inner == "k" else (second, first)
            if self.causal and read:
                seen = below_or_on_diag(i, self.sizes.q, j, self.sizes.k)
                i, j = (i, jnp.where(seen, j, 0)) if self.inner == "k" else (jnp.where(seen, i, jnp.minimum((j * self.sizes.k) // self.sizes.q, self.last)), j)
            return (b, h, *place(i, j)) if heads else (b, *place(i, j))
        return BlockSpec((None, None, *shape) if heads else (None, *shape), index)


def _call(kernel, name, products, shapes, specs, grid, scratch, options, given, given_specs, debug):
    params = CompilerParams(dimension_semantics=("parallel", "parallel", "parallel", "arbitrary"))
    (b, h, n, width), m = given[0].shape, given[1].shape[2]
    moved = sum(math.prod(x.shape) * np.dtype(x.dtype).itemsize for x in (*tree.leaves(given), *shapes))
    cost = CostEstimate(flops=2 * products * b * h * n * m * width, transcendentals=b * h * n * m, bytes_accessed=moved)
    return pallas_call(partial(kernel, steps=grid[-1], **options), shapes, grid=grid, in_specs=given_specs, out_specs=specs, name=name, debug=debug,
                       scratch_shapes=[VMEM(shape, np.float32) for shape in scratch], compiler_params=params, cost_estimate=cost)(*given)


def _more(ab, segment_ids):
    found = {} if ab is None else {"ab": ab}
    if segment_ids is not None:
        found |= {"segment_q": segment_ids.q[:, :, None], "segment_kv": segment_ids.kv[:, None, :]}
    return found


def _forward(q, k, v, ab, segment_ids, causal, scale, blocks, debug, keep):
    (b, h, n, width), m = q.shape, k.shape[2]
    sizes = _Sizes(blocks.block_q, blocks.block_k_major, blocks.block_q, blocks.block_k)
    at, more = _Specs(sizes, width, causal, "k", n), _more(ab, segment_ids)
    column = ShapeDtypeStruct((b, h, n, 1), np.float32)
    return _call(_forward_kernel, "flash_attention", 2, (ShapeDtypeStruct(q.shape, q.dtype), *[column] * (2 * keep)), (at.query, *[at.column] * (2 * keep)),
                 (b, h, n // sizes.q, m // sizes.k), [(sizes.q, 1), (sizes.q, 1), (sizes.q, width)], dict(sizes=sizes, causal=causal, scale=scale),
                 (q, k, v, more), (at.query, at.key, at.key, {name: at.more[name] for name in more}), debug)


@partial(custom_vjp, nondiff_argnums=(5, 6, 7, 8))
def _attention(q, k, v, ab, segment_ids, causal, scale, blocks, debug):
    return _forward(q, k, v, ab, segment_ids, causal, scale, blocks, debug, False)[0]


def _attention_fwd(q, k, v, ab, segment_ids, causal, scale, blocks, debug):
    if not blocks.has_backward_blocks:
        raise ValueError(f"flash_attention: a derivative was asked for, and {blocks} lacks sizes for it; give all of them.")
    out, total, largest = _forward(q, k, v, ab, segment_ids, causal, scale, blocks, debug, True)
    return out, (q, k, v, ab, segment_ids, out, total, largest)


def _attention_bwd(causal, scale, blocks, debug, kept, ct):
    q, k, v, ab, segment_ids, out, total, largest = kept
    (b, h, n, width), m = q.shape, k.shape[2]
    delta = (out.astype(np.float32) * ct.astype(np.float32)).sum(-1, keepdims=True)
    more, options = _more(ab, segment_ids), dict(causal=causal, scale=scale)
    given = q, k, v, ct, total, largest, delta, more
    given_specs = lambda at: (at.query, at.key, at.key, at.query, at.column, at.column, at.column, {name: at.more[name] for name in more})

    sizes = _Sizes(blocks.block_q_dq, blocks.block_k_major_dq, blocks.block_q_dq, blocks.block_k_dq)
    at = _Specs(sizes, width, causal, "k", n)
    bias = [] if ab is None else [(ShapeDtypeStruct(ab.shape, ab.dtype), at.written)]
    dq, *dab = _call(_query_kernel, "flash_attention_dq", 3, (ShapeDtypeStruct(q.shape, q.dtype), *(s for s, _ in bias)), (at.query, *(s for _, s in bias)),
                     (b, h, n // sizes.q, m // sizes.k), [(sizes.q, width)], dict(sizes=sizes, **options), given, given_specs(at), debug)

    sizes = _Sizes(blocks.block_q_major_dkv, blocks.block_k_major_dkv, blocks.block_q_dkv, blocks.block_k_dkv)
    at = _Specs(sizes, width, causal, "q", n)
    dk, dv = _call(_key_kernel, "flash_attention_dkv", 4, (ShapeDtypeStruct(k.shape, k.dtype), ShapeDtypeStruct(v.shape, v.dtype)), (at.key, at.key),
                   (b, h, m // sizes.k, n // sizes.q), [(sizes.k, width)] * 2, dict(sizes=sizes, **options), given, given_specs(at), debug)
    return dq, dk, dv, dab[0] if dab else None, None


_attention.defvjp(_attention_fwd, _attention_bwd)


def _check(q, k, v, ab, segment_ids, blocks):
    (b, h, n, width), (kb, kh, m, kw), (vb, vh, vm, vw) = q.shape, k.shape, v.shape
    shapes = f"q {q.shape}, k {k.shape}, v {v.shape}"
    for what, sizes in (("batch", (b, kb, vb)), ("number of heads", (h, kh, vh)),
                        ("length of keys and values", (m, vm)), ("width of queries and keys", (width, kw))):
        if len({*sizes}) > 1:
            raise ValueError(f"flash_attention: the {what} must be the same, got {shapes}.")
    if vw != width:
        raise NotImplementedError(f"flash_attention: values of another width than keys are not implemented, got {shapes}.")
    if ab is not None and ab.shape != (b, h, n, m):
        raise ValueError(f"flash_attention: ab must have the shape {(b, h, n, m)} of the scores, got {ab.shape}.")
    for name, ids, shape in () if segment_ids is None else (("q", segment_ids.q, (b, n)), ("kv", segment_ids.kv, (b, m))):
        if ids.shape != shape:
            raise ValueError(f"flash_attention: segment_ids.{name} must have the shape {shape}, got {ids.shape}.")
    for name in ("block_q", "block_q_dq", "block_q_major_dkv"):
        if (size := getattr(blocks, name)) is not None and (size > n or n % size):
            raise ValueError(f"flash_attention: {name}={size} must divide the length {n} of the queries.")
    for name in ("block_k_major", "block_k_major_dq", "block_k_major_dkv"):
        if (size := getattr(blocks, name)) is not None and (size > m or m % size):
            raise ValueError(f"flash_attention: {name}={size} must divide the length {m} of the keys.")


@partial(jit, static_argnames=("causal", "sm_scale", "block_sizes", "debug"))
def flash_attention(q: Array, k: Array, v: Array, ab: Array | None = None, segment_ids: SegmentIds | None = None, *, causal: bool = False,
                    sm_scale: float = 1.0, block_sizes: BlockSizes | None = None, debug: bool = False) -> Array:
    """``softmax((q k^T + ab) * sm_scale) v`` on a TPU, by blocks; differentiable in q, k, v and ab.

    Args:
      q, k, v: ``[batch, heads, length, width]``; keys and values share their length, which may be another one than that of the queries.
      ab: a bias, ``[batch, heads, queries, keys]``.
      segment_ids: queries see keys of their own segment only.
      causal: queries see keys at their own place and before.
      sm_scale: what scores are multiplied by.
      block_sizes: by default 128 everywhere.
      debug: print the kernels' programs.

    Returns:
      an array like ``q``.

    Raises:
      ValueError: shapes or blocks that do not fit. NotImplementedError: values of another width.

    >>> from jax.experimental.pallas import tpu as pltpu
    >>> from jax.experimental.pallas.ops.tpu.flash_attention import flash_attention
    >>> q = jnp.ones((1, 1, 128, 64))
    >>> with pltpu.force_tpu_interpret_mode():
    ...     flash_attention(q, q, q, causal=True).shape
    (1, 1, 128, 64)
    """
    blocks = block_sizes or BlockSizes.get_default(q.shape[0], q.shape[1], q.shape[2], k.shape[2], q.shape[3])
    _check(q, k, v, ab, segment_ids, blocks)
    return _attention(q, k, v, ab, segment_ids, causal, sm_scale, blocks, debug)


# -- the same with the matrix of scores ------------------------------------------------------------------------------------

def mha_reference_no_custom_vjp(q: Array, k: Array, v: Array, ab: Array | None = None, segment_ids: SegmentIds | None = None, *, causal: bool = False,
                                mask_value: float = DEFAULT_MASK_VALUE, sm_scale: float = 1.0, save_residuals: bool = False) -> Any:
    """What `flash_attention` computes, by plain operations on all scores; what kernels are compared with.

    Returns:
      the result, or with ``save_residuals`` it, the sums of exponentials and the largest scores, ``[batch, heads, queries]``.

    >>> from jax.experimental.pallas.ops.tpu.flash_attention import mha_reference_no_custom_vjp
    >>> q = jnp.ones((1, 1, 4, 2))
    >>> [x.shape for x in mha_reference_no_custom_vjp(q, q, q, save_residuals=True)]
    [(1, 1, 4, 2), (1, 1, 4), (1, 1, 4)]
    """
    scores = jnp.einsum("bhqc,bhkc->bhqk", q, k, preferred_element_type=np.float32)
    scores = (scores if ab is None else scores + ab) * sm_scale
    seen = None
    if causal:
        seen = jnp.tril(jnp.ones(scores.shape[-2:], bool))
    if segment_ids is not None:
        same = segment_ids.q[:, None, :, None] == segment_ids.kv[:, None, None, :]
        seen = same if seen is None else seen & same
    scores = scores if seen is None else jnp.where(seen, scores, mask_value)
    if not save_residuals:
        return jnp.einsum("bhqk,bhkc->bhqc", nn.softmax(scores, -1), v)
    largest = scores.max(-1)
    weights = jnp.exp(scores - largest[..., None])
    total = weights.sum(-1)
    return jnp.einsum("bhqk,bhkc->bhqc", weights / total[..., None], v), total, largest


@partial(jit, static_argnames=("causal", "mask_value", "sm_scale"))
def mha_reference(q: Array, k: Array, v: Array, ab: Array | None, segment_ids: SegmentIds | None = None, causal: bool = False,
                  mask_value: float = DEFAULT_MASK_VALUE, sm_scale: float = 1.0) -> Array:
    """`mha_reference_no_custom_vjp` as a compiled function.

    >>> from jax.experimental.pallas.ops.tpu.flash_attention import mha_reference
    >>> q = jnp.ones((1, 1, 4, 2))
    >>> mha_reference(q, q, q, None, causal=True).shape
    (1, 1, 4, 2)
    """
    return mha_reference_no_custom_vjp(q, k, v, ab, segment_ids, causal=causal, mask_value=mask_value, sm_scale=sm_scale)
