"""`make_splash_mha` and its kin: attention under a mask as an object that is called, and the same by plain operations."""
from __future__ import annotations

import functools
from typing import Any, Callable

import numpy as np

from jax_core.representation.tracebacks import api_boundary
from jax_core.representation.tree_nodes import register_pytree_node
from jax_core.representation.typing import Array, PyTree
from jax_core.transformations.vmap import vmap

from .. import numpy as jnp
from .splash_attention import BlockSizes, Options, SegmentIds, splash_attention
from .splash_blocks import MaskInfo, process_dynamic_mask, process_mask
from .splash_masks import Mask, MultiHeadMask, heads_of
from .tpu_softmax import DEFAULT_MASK_VALUE


class SplashAttentionKernel:
    """Attention under one mask: ``kernel(q, k, v, segment_ids=None, sinks=None)``. A pytree of the mask's lists, which may be arguments of `jit`.

    Made by `make_splash_mha` and `make_splash_mqa`, which say what it takes.
    """

    def __init__(self, fwd_mask_info: MaskInfo, dq_mask_info: MaskInfo | None, dkv_mask_info: MaskInfo | None, **kwargs: Any):
        self.fwd_mask_info, self.dq_mask_info, self.dkv_mask_info, self.kwargs = fwd_mask_info, dq_mask_info, dkv_mask_info, kwargs

    @api_boundary
    def __call__(self, q: Array, k: Array, v: Array, segment_ids: SegmentIds | None = None, sinks: Array | None = None) -> Any:
        options = Options(**self.kwargs)
        where = f"splash_attention ({'MQA' if options.is_mqa else 'MHA'})"
        _check(where, q, k, v, segment_ids, sinks, options, self.fwd_mask_info)
        k, v = (k[None], v[None]) if options.is_mqa else (k, v)
        return splash_attention((self.fwd_mask_info, self.dq_mask_info, self.dkv_mask_info), q, k, v, segment_ids, sinks, options)

    def manual_sharding_spec(self, sharding: Any) -> SplashAttentionKernel:
        """Specs for this object as an argument of `jax.shard_map`; ``sharding``, a `jax.NamedSharding`, splits heads and queries.

        The kernel must have been made for as many shards of each.
        """
        spec = tuple(sharding.spec) + (None,) * (2 - len(sharding.spec))
        if len(spec) != 2:
            raise ValueError(f"manual_sharding_spec: a spec of heads and queries is expected, got {sharding.spec}.")
        (heads, queries), P = spec, type(sharding.spec)

        def of(info):
            if info is None:
                return None
            lists = P(heads, queries)
            specs = MaskInfo(lists, lists, lists, P(), P(queries), P())
            return MaskInfo(*(None if x is None else s for x, s in zip(info, specs)))
        return SplashAttentionKernel(of(self.fwd_mask_info), of(self.dq_mask_info), of(self.dkv_mask_info), **self.kwargs)

    def tree_flatten(self) -> tuple[tuple, tuple]:
        return (self.fwd_mask_info, self.dq_mask_info, self.dkv_mask_info), tuple(sorted(self.kwargs.items()))

    @classmethod
    def tree_unflatten(cls, kwargs: tuple, values: tuple) -> SplashAttentionKernel:
        return cls(*values, **dict(kwargs))


register_pytree_node(SplashAttentionKernel, SplashAttentionKernel.tree_flatten, SplashAttentionKernel.tree_unflatten)


def _check(where, q, k, v, segment_ids, sinks, options, info):
    rank = 2 if options.is_mqa else 3
    shapes = f"q {q.shape}, k {k.shape}, v {v.shape}"
    if q.ndim != 3 or k.ndim != rank or v.ndim != rank:
        raise ValueError(f"{where}: q is [heads, queries, width], and k and v are "
                         f"{'[keys, width]' if options.is_mqa else '[heads, keys, width]'}, got {shapes}; use jax.vmap for a batch.")
    if k.shape[:-1] != v.shape[:-1]:
        raise ValueError(f"{where}: keys and values must have the same number{'' if options.is_mqa else ' and heads'}, got {shapes}.")
    if k.shape[-1] != q.shape[-1]:
        raise ValueError(f"{where}: queries and keys must have the same width, got {shapes}.")
    if not options.is_mqa and q.shape[0] % k.shape[0]:
        raise ValueError(f"{where}: the number of heads of queries must be a multiple of that of keys, got {shapes}.")
    held, rows, _ = info.block_mask.shape
    if held not in (1, q.shape[0]) or q.shape[1] != rows * options.blocks.block_q:
        raise ValueError(f"{where}: the kernel was made for {rows * options.blocks.block_q} queries{f' of {held} heads' if held > 1 else ''}, got {shapes}.")
    if k.shape[-2] != options.keys:
        raise ValueError(f"{where}: the kernel was made for {options.keys} keys, got {shapes}.")
    if segment_ids is not None and (segment_ids.q.shape != (q.shape[1],) or segment_ids.kv.shape != (k.shape[-2],)):
        raise ValueError(f"{where}: segment ids of the shapes {segment_ids.q.shape} and {segment_ids.kv.shape} for {q.shape[1]} queries and "
                         f"{k.shape[-2]} keys; there is one for each.")
    if sinks is not None and sinks.shape != (q.shape[0],):
        raise ValueError(f"{where}: sinks of the shape {sinks.shape} for {q.shape[0]} heads; there is one for each.")


def _infos(mask, blocks, head_shards, q_seq_shards):
    """The mask by the blocks of the three kernels, and the mask that they compute."""
    shapes = [((blocks.block_q, blocks.block_kv), False)]
    if blocks.has_backward_blocks:
        shapes += [(blocks.of_queries, False), ((blocks.block_q_dkv, blocks.block_kv_dkv), True)]
    found = {}
    for key in shapes:
        if key not in found:
            make = process_mask if isinstance(mask, MultiHeadMask) else process_dynamic_mask
            found[key] = make(mask, key[0], is_dkv=key[1], head_shards=head_shards, q_seq_shards=q_seq_shards)
    infos = [found[key] for key in shapes]
    on_device = [MaskInfo(*(x if x is None or isinstance(x, bool) else jnp.asarray(x) for x in info)) for info, _ in infos]
    return (on_device + [None, None])[:3], infos[0][1]


def _make(mask, block_sizes, is_mqa, save_residuals, mask_value, soft_cap, head_shards, q_seq_shards, residual_checkpoint_name, interpret):
    if len(mask.shape) != 3:
        raise ValueError(f"make_splash_{'mqa' if is_mqa else 'mha'}: a mask [heads, queries, keys] is expected, got the shape {mask.shape}; "
                         "MultiHeadMask([mask] * heads) is the same for all heads.")
    if isinstance(mask, np.ndarray):
        mask = MultiHeadMask(heads_of(mask))
    blocks = BlockSizes.get_default() if block_sizes is None else block_sizes
    for whole, piece in ("block_kv", "block_kv_compute"), ("block_kv_dkv", "block_kv_dkv_compute"):
        if (size := getattr(blocks, whole)) is not None and size % getattr(blocks, piece):
            raise ValueError(f"splash_attention: {piece}={getattr(blocks, piece)} must divide {whole}={size}.")
    infos, function = _infos(mask, blocks, head_shards, q_seq_shards)
    return SplashAttentionKernel(*infos, blocks=blocks, is_mqa=is_mqa, save_residuals=save_residuals, mask_value=mask_value, soft_cap=soft_cap,
                                 function=function, checkpoint_name=residual_checkpoint_name, interpret=interpret, keys=mask.shape[2])


def make_splash_mha(mask: np.ndarray | Array | MultiHeadMask, *, block_sizes: BlockSizes | None = None, is_mqa: bool = False,
                    save_residuals: bool = False, mask_value: float = DEFAULT_MASK_VALUE, attn_logits_soft_cap: float | None = None,
                    downcast_smem_data: bool = True, head_shards: int, q_seq_shards: int, residual_checkpoint_name: str | None = None,
                    interpret: bool = False) -> SplashAttentionKernel:
    """``softmax(q k^T) v`` under a mask, as a function of ``q``, ``k``, ``v``, segment ids and sinks; differentiable.

    Args:
      mask: for each head which keys ``[queries, keys]`` are seen: a `MultiHeadMask`, or an array ``bool[heads, queries, keys]``, which may be
        traced if it is a `jax.Array`. Blocks of which nothing is seen cost nothing, but for an array that is a `jax.Array`.
      block_sizes: by default 128 everywhere.
      save_residuals: return ``(result, (logarithms of the sums of exponentials,))``; then there is no derivative.
      mask_value: the score of a key that is not seen.
      attn_logits_soft_cap: a number c; scores s become ``c tanh(s / c)``.
      head_shards, q_seq_shards: over how many devices heads and queries are split, under `jax.shard_map` (see ``manual_sharding_spec``).
      residual_checkpoint_name: for the policies of `jax.checkpoint`: the name of what derivatives keep.
      interpret: run on any platform.
      downcast_smem_data: accepted.

    Returns:
      a function of ``q [heads, queries, width]``, ``k [heads, keys, width]``, ``v [heads, keys, another width]`` (fewer heads of these, if
      their number divides that of the queries), ``segment_ids`` (`SegmentIds`, one number for each query and each key) and ``sinks [heads]``, scores of
      a key without value, which returns an array like ``q``. Nothing is scaled: multiply ``q`` before. A query that sees nothing in blocks that are
      visited gets the mean of what these hold, and 0 where none is.

    Raises:
      ValueError: blocks that do not divide the mask, shapes that do not fit; a derivative where ``block_sizes`` has no sizes for it.

    >>> from jax.experimental.pallas.ops.tpu import splash_attention
    >>> mask = splash_attention.MultiHeadMask([splash_attention.CausalMask((256, 256))] * 2)
    >>> attend = splash_attention.make_splash_mha(mask, head_shards=1, q_seq_shards=1, interpret=True)
    >>> attend(*[jnp.ones((2, 256, 64))] * 3).shape
    (2, 256, 64)
    """
    return _make(mask, block_sizes, is_mqa, save_residuals, mask_value, attn_logits_soft_cap, head_shards, q_seq_shards, residual_checkpoint_name, interpret)


def make_splash_mqa(mask: np.ndarray | Array | MultiHeadMask, *, block_sizes: BlockSizes | None = None, is_mqa: bool = True,
                    save_residuals: bool = False, mask_value: float = DEFAULT_MASK_VALUE, attn_logits_soft_cap: float | None = None,
                    downcast_smem_data: bool = True, head_shards: int, q_seq_shards: int, residual_checkpoint_name: str | None = None,
                    interpret: bool = False) -> SplashAttentionKernel:
    """`make_splash_mha` for keys and values that all heads share, ``[keys, width]``.

    >>> from jax.experimental.pallas.ops.tpu import splash_attention
    >>> mask = splash_attention.MultiHeadMask([splash_attention.LocalMask((256, 256), (64, 0), 0)] * 2)
    >>> attend = splash_attention.make_splash_mqa(mask, head_shards=1, q_seq_shards=1, interpret=True)
    >>> attend(jnp.ones((2, 256, 64)), jnp.ones((256, 64)), jnp.ones((256, 64))).shape
    (2, 256, 64)
    """
    return _make(mask, block_sizes, is_mqa, save_residuals, mask_value, attn_logits_soft_cap, head_shards, q_seq_shards, residual_checkpoint_name, interpret)


make_splash_mha_single_device = functools.partial(make_splash_mha, head_shards=1, q_seq_shards=1)
make_splash_mha_single_device.__doc__ = """`make_splash_mha` where heads and queries are on one device.

>>> from jax.experimental.pallas.ops.tpu import splash_attention
>>> attend = splash_attention.make_splash_mha_single_device(splash_attention.MultiHeadMask([splash_attention.CausalMask((128, 128))]), interpret=True)
>>> attend(*[jnp.ones((1, 128, 64))] * 3).shape
(1, 128, 64)
"""
make_splash_mqa_single_device = functools.partial(make_splash_mqa, head_shards=1, q_seq_shards=1)
make_splash_mqa_single_device.__doc__ = """`make_splash_mqa` where heads and queries are on one device.

>>> from jax.experimental.pallas.ops.tpu import splash_attention
>>> attend = splash_attention.make_splash_mqa_single_device(splash_attention.MultiHeadMask([splash_attention.CausalMask((128, 128))]), interpret=True)
>>> attend(jnp.ones((1, 128, 64)), jnp.ones((128, 64)), jnp.ones((128, 64))).shape
(1, 128, 64)
"""


# -- the same with the matrix of scores ------------------------------------------------------------------------------------

def attention_reference(mask: Array, q: Array, k: Array, v: Array, segment_ids: SegmentIds | None, sinks: Array | None = None, *,
                        mask_value: float = DEFAULT_MASK_VALUE, save_residuals: bool = False, custom_type: str = "flash",
                        attn_logits_soft_cap: float | None = None) -> Any:
    """Attention of one head by plain operations on all scores, in float32; what kernels are compared with.

    Args:
      mask: ``bool[queries, keys]``.
      q, k, v: ``[length, width]``.
      sinks: a scalar.
      custom_type: accepted.

    >>> from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_kernel
    >>> splash_attention_kernel.attention_reference(jnp.eye(2, dtype=bool), jnp.ones((2, 1)), jnp.ones((2, 1)), jnp.array([[1.], [2.]]), None)
    Array([[1.],
           [2.]], dtype=float32)
    """
    scores = jnp.einsum("qd,kd->qk", q.astype(np.float32), k.astype(np.float32))
    if segment_ids is not None:
        mask = jnp.asarray(mask) & (segment_ids.q[:, None] == segment_ids.kv[None])
    if attn_logits_soft_cap is not None:
        scores = jnp.tanh(scores / attn_logits_soft_cap) * attn_logits_soft_cap
    scores = jnp.where(jnp.asarray(mask), scores, np.float32(mask_value))
    largest = scores.max(-1, keepdims=True)
    if sinks is not None:
        largest = jnp.maximum(largest, sinks.astype(np.float32))
    weights = jnp.exp(scores - largest)
    total = weights.sum(-1, keepdims=True)
    if sinks is not None:
        total = total + jnp.exp(sinks.astype(np.float32) - largest)
    out = jnp.einsum("qk,kd->qd", weights / total, v.astype(np.float32)).astype(q.dtype)
    return (out, ((jnp.log(total) + largest)[:, 0],)) if save_residuals else out


def make_attention_reference(mask: Mask | np.ndarray, is_mqa: bool, backward_impl: str = "vanilla", **params: Any) -> Callable[..., PyTree]:
    """`attention_reference` of all heads, as a function of ``q``, ``k``, ``v``, segment ids and sinks; ``params`` are its options.

    Raises:
      ValueError: ``backward_impl`` is not known.

    >>> from jax.experimental.pallas.ops.tpu import splash_attention
    >>> attend = splash_attention.make_masked_mha_reference(splash_attention.MultiHeadMask([splash_attention.CausalMask((4, 4))] * 2))
    >>> attend(*[jnp.ones((2, 4, 8))] * 3).shape
    (2, 4, 8)
    """
    if backward_impl not in ("vanilla", "flash"):
        raise ValueError(f"make_attention_reference: backward_impl={backward_impl!r}; it is 'vanilla' or 'flash', which here are the same.")
    seen = mask[:, :, :] if isinstance(mask, MultiHeadMask) else mask[:, :] if isinstance(mask, Mask) else mask

    def attend(q: Array, k: Array, v: Array, segment_ids: SegmentIds | None = None, sinks: Array | None = None) -> Any:
        heads = q.shape[0]
        if is_mqa:
            k, v = (jnp.broadcast_to(x, (heads, *x.shape)) for x in (k, v))
        else:
            k, v = (jnp.repeat(x, heads // x.shape[0], 0) for x in (k, v))
        masks = jnp.broadcast_to(jnp.asarray(seen), (heads, q.shape[1], k.shape[1]))
        one = lambda mask, q, k, v, sink: attention_reference(mask, q, k, v, segment_ids, sink, **params)
        return vmap(one, in_axes=(0, 0, 0, 0, None if sinks is None else 0))(masks, q, k, v, sinks)
    return attend


make_masked_mha_reference = functools.partial(make_attention_reference, is_mqa=False)
make_masked_mha_reference.__doc__ = """`make_attention_reference` for keys and values ``[heads, keys, width]``.

>>> from jax.experimental.pallas.ops.tpu import splash_attention
>>> splash_attention.make_masked_mha_reference(splash_attention.CausalMask((4, 4)))(*[jnp.ones((2, 4, 8))] * 3).shape
(2, 4, 8)
"""
make_masked_mqa_reference = functools.partial(make_attention_reference, is_mqa=True)
make_masked_mqa_reference.__doc__ = """`make_attention_reference` for keys and values ``[keys, width]``.

>>> from jax.experimental.pallas.ops.tpu import splash_attention
>>> attend = splash_attention.make_masked_mqa_reference(splash_attention.CausalMask((4, 4)))
>>> attend(jnp.ones((2, 4, 8)), jnp.ones((4, 8)), jnp.ones((4, 8))).shape
(2, 4, 8)
"""
