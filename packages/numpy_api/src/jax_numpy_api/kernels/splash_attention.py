"""Attention on TPUs under masks: what a mask hides by whole blocks is neither fetched nor computed; with derivatives.

As in `flash_attention`, the forward kernel keeps for each query the largest score and the sum of exponentials; two kernels go backwards. Here a
step of each looks up its block in the lists of `splash_blocks`, and what is seen of it: all, or what a stored block or a computed mask says.

Source: Dao, Fu, Ermon, Rudra, Ré, "FlashAttention: fast and memory-efficient exact attention with IO-awareness", NeurIPS 2022.
"""
from __future__ import annotations

import dataclasses
import enum
import functools
import math
from typing import Any, NamedTuple

import numpy as np

from jax_core.representation import tree
from jax_core.representation.aval import ShapeDtypeStruct
from jax_core.representation.typing import Array
from jax_core.transformations.checkpoint import checkpoint_name
from jax_core.transformations.custom_vjp import custom_vjp

from .. import lax, numpy as jnp
from ..pallas.call import pallas_call
from ..pallas.control import when
from ..pallas.grid import program_id
from ..pallas.spaces import SMEM, VMEM
from ..pallas.specs import BlockSpec, CostEstimate, PrefetchScalarGridSpec
from ..pallas.tpu import CompilerParams
from .splash_blocks import MaskInfo
from .splash_masks import ALL, SOME, ComputableMask
from .tpu_softmax import TRANS_A_DIM_NUMBERS, TRANS_B_DIM_NUMBERS, take_keys

NT_DIM_NUMBERS, NN_DIM_NUMBERS = TRANS_B_DIM_NUMBERS, (((1,), (0,)), ((), ()))
"""Products of rows with rows, and of rows with columns, for `lax.dot_general`."""


class SegmentIds(NamedTuple):
    """Integers, one for each query and one for each key: a query sees the keys of its own segment."""

    q: Array
    kv: Array


class QKVLayout(enum.IntEnum):
    """Which axis of an operand a kernel has last. Operands are given with the width last anyway, and results are the same."""

    HEAD_DIM_MINOR = enum.auto()
    SEQ_MINOR = enum.auto()


_LAYOUT = QKVLayout.HEAD_DIM_MINOR
_Size = int | None


@dataclasses.dataclass(frozen=True)
class BlockSizes:
    """How much is in fast memory at once; results do not depend on it but for rounding.

    Args:
      block_q, block_kv: queries and keys of a step of the forward kernel; block_kv_compute: keys whose scores are there at once.
      block_q_dkv, block_kv_dkv, block_kv_dkv_compute: the same for the derivatives of keys and values.
      block_q_dq, block_kv_dq: for those of queries; not given with ``use_fused_bwd_kernel``, which else changes nothing here.
      q_layout, k_layout, v_layout: accepted.

    Raises:
      ValueError: sizes for the derivative of queries beside ``use_fused_bwd_kernel``.
    """

    block_q: int
    block_kv: int
    block_kv_compute: _Size = None

    # the derivatives of keys and values
    block_q_dkv: _Size = None
    block_kv_dkv: _Size = None
    block_kv_dkv_compute: _Size = None

    # that of queries
    block_q_dq: _Size = None
    block_kv_dq: _Size = None

    use_fused_bwd_kernel: bool = False
    q_layout: QKVLayout = _LAYOUT
    k_layout: QKVLayout = _LAYOUT
    v_layout: QKVLayout = _LAYOUT

    def __post_init__(self) -> None:
        if self.use_fused_bwd_kernel and (self.block_q_dq is not None or self.block_kv_dq is not None):
            raise ValueError("splash_attention: with use_fused_bwd_kernel there are no sizes for the derivative of queries; "
                             "leave block_q_dq and block_kv_dq out.")
        for piece, whole in ("block_kv_compute", "block_kv"), ("block_kv_dkv_compute", "block_kv_dkv"):
            if getattr(self, piece) is None:
                object.__setattr__(self, piece, getattr(self, whole))

    @property
    def has_backward_blocks(self) -> bool:
        """Whether all sizes for the derivatives are there."""
        own = [self.block_q_dkv, self.block_kv_dkv] + ([] if self.use_fused_bwd_kernel else [self.block_q_dq, self.block_kv_dq])
        return None not in own

    @property
    def of_queries(self) -> tuple[int | None, int | None]:
        """The block ``(queries, keys)`` of the kernel for the derivative of queries."""
        return (self.block_q_dkv, self.block_kv_dkv) if self.use_fused_bwd_kernel else (self.block_q_dq, self.block_kv_dq)

    @classmethod
    def get_default(cls) -> BlockSizes:
        """128 for each size."""
        return cls(128, 128, 128, 128, 128, 128, 128, 128)


class Options(NamedTuple):
    """What a kernel knows besides arrays; ``function``: the mask, where kernels compute it;
    ``keys``: their number."""

    blocks: BlockSizes
    is_mqa: bool
    save_residuals: bool
    mask_value: float
    soft_cap: float | None
    function: ComputableMask | None
    checkpoint_name: str | None
    interpret: Any
    keys: int


# -- parts of the kernels ------------------------------------------------------------------------------------------------

class _Given(NamedTuple):
    """References that all kernels get: where they are None, there is nothing of the kind."""

    mask: Any = None
    places: Any = None
    segment_q: Any = None
    segment_kv: Any = None


def _seen(given, options, columns, first_key, kind, size):
    """Which scores of a piece are seen, None for all; ``first_key``: the place of its first key."""
    found = None
    if kind == SOME and options.function is not None:
        keys = first_key + lax.broadcasted_iota(np.int32, (given.places.shape[0], size), 1)
        found = options.function.seen(jnp.broadcast_to(given.places[...], keys.shape), keys)
    elif kind == SOME and given.mask is not None:
        found = given.mask[:, columns].astype(np.int32) != 0
    if given.segment_q is not None:
        same = given.segment_q[...] == given.segment_kv[:, columns]
        found = same if found is None else found & same
    return found


def _scores(q, k, seen, options):
    """Scores of a piece, those not seen at the mask's value, and what the cap's slope is."""
    scores, slope = lax.dot_general(q, k, TRANS_B_DIM_NUMBERS, preferred_element_type=np.float32), None
    if (cap := options.soft_cap) is not None:
        part = jnp.tanh(scores / np.float32(cap))
        scores, slope = part * np.float32(cap), 1 - part * part
    return (scores if seen is None else jnp.where(seen, scores, np.float32(options.mask_value))), slope


def _on_pieces(body, kind, count, piece):
    """Run ``body(kind, columns, first)`` on the pieces of a block, once for each kind of block that there may be."""
    for known in SOME, ALL:
        @when(kind == known)
        def _():
            for start in range(0, count, piece):
                body(known, slice(start, start + piece), start)


def _forward_kernel(steps, where, kinds, q, k, v, sinks, given, out, logs, largest, total, values, *, at, options, size, piece, width):
    h, i, j = program_id(0), program_id(1), program_id(2)
    place = at(h, i, j)

    @when(j == 0)
    def _():
        values[...] = jnp.zeros(values.shape, np.float32)
        largest[...] = jnp.full(largest.shape, options.mask_value if sinks is None else sinks[h], np.float32)
        total[...] = jnp.full(total.shape, 0 if sinks is None else 1, np.float32)

    def body(kind, columns, start):
        seen = _seen(given, options, columns, steps[place] * size + start, kind, piece)
        scores, _ = _scores(q[...], k[columns, :], seen, options)
        take_keys(..., scores, v[columns, :], largest, total, values)
    _on_pieces(body, kinds[place], size, piece)

    @when(j == width - 1)
    def _():
        some = jnp.where(total[...] == 0, np.float32(1), total[...])  # of no visited block: the result is 0
        out[...] = (values[...] / some).astype(out.dtype)
        if logs is not None:
            logs[...] = jnp.log(some) + largest[...]


def _change(q, k, v, ct, logs, delta, seen, options):
    """Weights of a piece, and the cotangents of its scores."""
    scores, slope = _scores(q, k, seen, options)
    weights = jnp.exp(scores - logs)
    products = lax.dot_general(ct, v, TRANS_B_DIM_NUMBERS, preferred_element_type=np.float32)
    change = weights * (products - delta)
    change = change if slope is None else change * slope
    return weights, change if seen is None else jnp.where(seen, change, np.float32(0))


def _query_kernel(steps, where, kinds, q, k, v, ct, logs, delta, given, dq, sums, *, at, options, size, piece, width):
    j = program_id(2)
    place = at(program_id(0), program_id(1), j)

    @when(j == 0)
    def _():
        sums[...] = jnp.zeros(sums.shape, np.float32)

    def body(kind, columns, start):
        seen = _seen(given, options, columns, steps[place] * size + start, kind, piece)
        _, change = _change(q[...], k[columns, :], v[columns, :], ct[...], logs[...], delta[...], seen, options)
        sums[...] += jnp.dot(change.astype(k.dtype), k[columns, :], preferred_element_type=np.float32)
    _on_pieces(body, kinds[place], size, piece)

    @when(j == width - 1)
    def _():
        dq[...] = sums[...].astype(dq.dtype)


def _key_kernel(steps, where, kinds, q, k, v, ct, logs, delta, given, dk, dv, sums_k, sums_v, *, at, options, size, piece, width, group):
    j, g, i = program_id(1), program_id(2), program_id(3)
    place = at(program_id(0) * group + g, i, j)

    @when((g == 0) & (i == 0))
    def _():
        sums_k[...], sums_v[...] = jnp.zeros(sums_k.shape, np.float32), jnp.zeros(sums_v.shape, np.float32)

    def body(kind, columns, start):
        seen = _seen(given, options, columns, j * size + start, kind, piece)
        weights, change = _change(q[...], k[columns, :], v[columns, :], ct[...], logs[...], delta[...], seen, options)
        sums_v[columns, :] += lax.dot_general(weights.astype(ct.dtype), ct[...], TRANS_A_DIM_NUMBERS, preferred_element_type=np.float32)
        sums_k[columns, :] += lax.dot_general(change.astype(q.dtype), q[...], TRANS_A_DIM_NUMBERS, preferred_element_type=np.float32)
    _on_pieces(body, kinds[place], size, piece)

    @when((g == group - 1) & (i == width - 1))
    def _():
        dk[...], dv[...] = sums_k[...].astype(dk.dtype), sums_v[...].astype(dv.dtype)


# -- calls ---------------------------------------------------------------------------------------------------------------

class _Call:
    """One kernel's grid and its blocks, ``[queries, keys]`` of ``shape``; ``over_queries``: whether steps go over queries, or over keys."""

    def __init__(self, info: MaskInfo, shape: tuple[int, int], piece: int, options: Options, q: Array, k: Array, over_queries: bool):
        self.info, self.options, self.over_queries, self.piece, (self.q_size, self.k_size) = info, options, over_queries, piece, shape
        self.heads, self.group = len(q), len(q) // len(k)
        held, rows, columns = info.block_mask.shape
        shared = held == 1
        self.rows, self.columns = rows, columns
        self.at = lambda h, i, j: (i if shared else h * rows + i) * columns + j

    @property
    def grid(self) -> tuple[int, ...]:
        if self.over_queries:
            return self.heads // self.group, self.columns, self.group, self.rows
        return self.heads, self.rows, self.columns

    def _block(self, shape, place):
        """``place``: from head, block of queries, block of keys, and number in the lists, to an index."""
        def index(*ids):
            *ids, steps, where, _ = ids
            if self.over_queries:
                kv, j, g, i = ids
                h, number = kv * self.group + g, self.at(kv * self.group + g, i, j)
                return place(h, steps[number], j, number, where)
            h, i, j = ids
            number = self.at(h, i, j)
            return place(h, i, steps[number], number, where)
        return BlockSpec(shape, index)

    def query(self, width):
        return self._block((None, self.q_size, width), lambda h, i, j, *_: (h, i, 0))

    def key(self, width):
        return self._block((None, self.k_size, width), lambda h, i, j, *_: (lax.div(h, np.int32(self.group)), j, 0))

    def given(self, segment_ids):
        """What `_Given` holds, as arrays and as blocks."""
        arrays, specs = {}, {}
        if self.info.partial_mask_blocks is not None:
            arrays["mask"] = self.info.partial_mask_blocks
            specs["mask"] = self._block((None, self.q_size, self.k_size), lambda h, i, j, number, where: (where[number], 0, 0))
        if self.options.function is not None:
            arrays["places"] = self.info.q_sequence[:, None]
            specs["places"] = self._block((self.q_size, 1), lambda h, i, j, *_: (i, 0))
        if segment_ids is not None:
            arrays |= {"segment_q": segment_ids.q[:, None], "segment_kv": segment_ids.kv[None]}
            specs |= {"segment_q": self._block((self.q_size, 1), lambda h, i, j, *_: (i, 0)),
                      "segment_kv": self._block((1, self.k_size), lambda h, i, j, *_: (0, j))}
        return arrays, specs

    def run(self, kernel, name, products, given, given_specs, segment_ids, shapes, specs, scratch):
        arrays, array_specs = self.given(segment_ids)
        steps, where, kinds = self.info.data_next, self.info.mask_next, self.info.block_mask
        lists = [jnp.ravel(jnp.asarray(x)).astype(np.int32) for x in (steps, kinds if where is None else where, kinds)]
        moved = sum(math.prod(x.shape) * np.dtype(x.dtype).itemsize for x in (*tree.leaves(given), *tree.leaves(shapes)))
        done = self.rows * self.columns * self.q_size * self.k_size * self.heads
        cost = CostEstimate(flops=2 * products * done * given[0].shape[-1], transcendentals=done, bytes_accessed=moved)
        extra = dict(group=self.group) if self.over_queries else {}

        def body(steps, where, kinds, *refs):
            mine, found, rest = refs[:len(given)], refs[len(given)], refs[len(given) + 1:]
            kernel(steps, where, kinds, *mine, _Given(**found), *rest, at=self.at, options=self.options, size=self.k_size, piece=self.piece,
                   width=self.grid[-1], **extra)
        grid = PrefetchScalarGridSpec(3, self.grid, [*given_specs, array_specs], specs, [VMEM(s, np.float32) for s in scratch])
        semantics = ("parallel", "arbitrary", "arbitrary", "arbitrary") if self.over_queries else ("parallel", "arbitrary", "arbitrary")
        return pallas_call(body, shapes, grid_spec=grid, name=f"splash_{'mqa' if self.options.is_mqa else 'mha'}_{name}", interpret=self.options.interpret,
                           compiler_params=CompilerParams(dimension_semantics=semantics), cost_estimate=cost)(*lists, *given, arrays)


def _forward(info, q, k, v, segment_ids, sinks, options, keep):
    """The result, and the logarithm of the sums of exponentials (None without ``keep``)."""
    blocks, n, width = options.blocks, q.shape[1], v.shape[-1]
    call = _Call(info, (blocks.block_q, blocks.block_kv), blocks.block_kv_compute, options, q, k, False)
    shapes = ShapeDtypeStruct((*q.shape[:2], width), q.dtype), ShapeDtypeStruct((len(q), n, 1), np.float32) if keep else None
    out, logs = call.run(_forward_kernel, "fwd", 2, (q, k, v, sinks), (call.query(q.shape[-1]), call.key(k.shape[-1]), call.key(width),
                         None if sinks is None else BlockSpec(memory_space=SMEM)), segment_ids, shapes, (call.query(width), call.query(1) if keep else None),
                         [(blocks.block_q, 1)] * 2 + [(blocks.block_q, width)])
    return out, logs


@functools.partial(custom_vjp, nondiff_argnums=(8,))
def _attention(info, dq_info, dkv_info, q, k, v, segment_ids, sinks, options):
    return _forward(info, q, k, v, segment_ids, sinks, options, False)[0]


def _attention_fwd(info, dq_info, dkv_info, q, k, v, segment_ids, sinks, options):
    if dq_info is None:
        raise ValueError(f"splash_attention: a derivative was asked for, and {options.blocks} lacks sizes for it; give block_q_dkv, block_kv_dkv, block_q_dq "
                         "and block_kv_dq.")
    out, logs = _forward(info, q, k, v, segment_ids, sinks, options, True)
    if options.checkpoint_name is not None:
        out, logs = checkpoint_name((out, logs), options.checkpoint_name)
    return out, (dq_info, dkv_info, q, k, v, segment_ids, sinks, out, logs)


def _attention_bwd(options, kept, ct):
    dq_info, dkv_info, q, k, v, segment_ids, sinks, out, logs = kept
    delta = (out.astype(np.float32) * ct.astype(np.float32)).sum(-1, keepdims=True)
    given, inner, outer, blocks = (q, k, v, ct, logs, delta), q.shape[-1], v.shape[-1], options.blocks
    specs = lambda call: (call.query(inner), call.key(inner), call.key(outer), call.query(outer), call.query(1), call.query(1))
    shape = blocks.of_queries
    call = _Call(dq_info, shape, shape[1], options, q, k, False)
    dq = call.run(_query_kernel, "dq", 3, given, specs(call), segment_ids, ShapeDtypeStruct(q.shape, q.dtype), call.query(inner), [(shape[0], inner)])
    shape = blocks.block_q_dkv, blocks.block_kv_dkv
    call = _Call(dkv_info, shape, blocks.block_kv_dkv_compute, options, q, k, True)
    dk, dv = call.run(_key_kernel, "dkv", 4, given, specs(call), segment_ids, (ShapeDtypeStruct(k.shape, k.dtype), ShapeDtypeStruct(v.shape, v.dtype)),
                      (call.key(inner), call.key(outer)), [(shape[1], inner), (shape[1], outer)])
    dsinks = None
    if sinks is not None:
        dsinks = -(jnp.exp(sinks.astype(np.float32)[:, None] - logs[..., 0]) * delta[..., 0]).sum(1).astype(sinks.dtype)
    return None, None, None, dq, dk, dv, None, dsinks


_attention.defvjp(_attention_fwd, _attention_bwd)


def splash_attention(infos: tuple[MaskInfo, MaskInfo | None, MaskInfo | None], q: Array, k: Array, v: Array, segment_ids: SegmentIds | None,
                     sinks: Array | None, options: Options) -> Any:
    """The result for ``q [heads, queries, width]``, ``k`` and ``v`` ``[heads, keys, width]``; with ``save_residuals`` also ``(logs,)``."""
    if options.save_residuals:
        out, logs = _forward(infos[0], q, k, v, segment_ids, sinks, options, True)
        return out, (logs[..., 0],)
    return _attention(*infos, q, k, v, segment_ids, sinks, options)
