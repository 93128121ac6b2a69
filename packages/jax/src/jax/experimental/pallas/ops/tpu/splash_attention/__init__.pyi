"""Types of `jax.experimental.pallas.ops.tpu.splash_attention`. Written by packages/jax/tools/make_stubs.py."""
import numpy as np
from enum import IntEnum
from jax import Array
from jax.experimental.pallas.ops.gpu.attention import BlockSizes as _BlockSizes
from jax.experimental.pallas.ops.tpu.splash_attention.splash_attention_kernel import SplashAttentionKernel
from typing import Any, Callable, NamedTuple, Sequence
from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_kernel as splash_attention_kernel
from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_mask as splash_attention_mask
from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_mask_info as splash_attention_mask_info

class BlockSizes:
    """How much is in fast memory at once; results do not depend on it but for rounding."""
    block_q: int
    block_kv: int
    block_kv_compute: int | None
    block_q_dkv: int | None
    block_kv_dkv: int | None
    block_kv_dkv_compute: int | None
    block_q_dq: int | None
    block_kv_dq: int | None
    use_fused_bwd_kernel: bool
    q_layout: QKVLayout
    k_layout: QKVLayout
    v_layout: QKVLayout
    def __init__(self, block_q: int, block_kv: int, block_kv_compute: int | None = None, block_q_dkv: int | None = None, block_kv_dkv: int | None = None, block_kv_dkv_compute: int | None = None, block_q_dq: int | None = None, block_kv_dq: int | None = None, use_fused_bwd_kernel: bool = False, q_layout: QKVLayout = ..., k_layout: QKVLayout = ..., v_layout: QKVLayout = ...) -> None: ...
    @classmethod
    def get_default(cls) -> BlockSizes: ...
    @property
    def has_backward_blocks(self) -> bool: ...
    @property
    def of_queries(self) -> tuple[int | None, int | None]: ...
class CausalMask(Mask):
    """Keys up to ``offset`` places after the query."""
    low: int | None
    high: int | None
    def __getitem__(self, idx: tuple[slice, slice]) -> np.ndarray: ...
    def __init__(self, shape: tuple[int, int], offset: int = 0, shard_count: int = 1) -> None: ...
    def seen(self, q: Any, k: Any) -> Any: ...
class FullMask(Mask):
    """Every query sees every key."""
    def __getitem__(self, idx: tuple[slice, slice]) -> np.ndarray: ...
    def __init__(self, _shape: tuple[int, int]) -> None: ...
class LocalMask(Mask):
    """So many keys before and after the query's place plus ``offset``; None for all of them."""
    low: int | None
    high: int | None
    def __getitem__(self, idx: tuple[slice, slice]) -> np.ndarray: ...
    def __init__(self, shape: tuple[int, int], window_size: tuple[int | None, int | None], offset: int, shard_count: int = 1) -> None: ...
    def seen(self, q: Any, k: Any) -> Any: ...
    offset: Any
class Mask:
    """Which keys ``[queries, keys]`` are seen. ``mask[q, k]`` with two slices is an array of booleans; ``&`` and ``|`` combine masks."""
    def __and__(self, other: Mask) -> Mask: ...
    def __getitem__(self, idx: Any) -> np.ndarray: ...
    def __or__(self, other: Mask) -> Mask: ...
    def block(self, q: slice, k: slice) -> int: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
class MultiHeadMask(Mask):
    """A mask for each head; ``mask[h, q, k]`` with three slices."""
    def __getitem__(self, idx: tuple[slice, slice, slice]) -> np.ndarray: ...
    def __init__(self, masks: Sequence[Mask]) -> None: ...
    masks: Any
class NumpyMask(Mask):
    """A mask that is an array of booleans ``[queries, keys]``."""
    def __getitem__(self, idx: tuple[slice, slice]) -> np.ndarray: ...
    def __init__(self, array: np.ndarray) -> None: ...
    array: Any
class QKVLayout(IntEnum):
    """Which axis of an operand a kernel has last. Operands are given with the width last anyway, and results are the same."""
    HEAD_DIM_MINOR = ...
    SEQ_MINOR = ...
class SegmentIds(NamedTuple):
    """Integers, one for each query and one for each key: a query sees the keys of its own segment."""
    q: Array
    kv: Array
def make_causal_mask(shape: tuple[int, int], offset: int = 0) -> np.ndarray:
    """Booleans ``[queries, keys]``: keys up to ``offset`` places after the query."""
def make_local_attention_mask(shape: tuple[int, int], window_size: tuple[int | None, int | None], *, offset: int = 0) -> np.ndarray:
    """Booleans ``[queries, keys]``: so many keys before and after the query's place plus ``offset``; None for all of them."""
def make_masked_mha_reference(mask: Any, *, is_mqa: bool = False, backward_impl: str = 'vanilla', **params: Any) -> Callable[..., Any]:
    """`make_attention_reference` for keys and values ``[heads, keys, width]``."""
def make_masked_mqa_reference(mask: Any, *, is_mqa: bool = True, backward_impl: str = 'vanilla', **params: Any) -> Callable[..., Any]:
    """`make_attention_reference` for keys and values ``[keys, width]``."""
def make_random_mask(shape: tuple[int, int], sparsity: float, seed: int) -> np.ndarray:
    """Booleans, of which about the part ``sparsity`` is False."""
def make_splash_mha(mask: np.ndarray | Array | MultiHeadMask, *, block_sizes: BlockSizes | None = None, is_mqa: bool = False, save_residuals: bool = False, mask_value: float = -2.381976325057654e+38, attn_logits_soft_cap: float | None = None, downcast_smem_data: bool = True, head_shards: int, q_seq_shards: int, residual_checkpoint_name: str | None = None, interpret: bool = False) -> SplashAttentionKernel:
    """``softmax(q k^T) v`` under a mask, as a function of ``q``, ``k``, ``v``, segment ids and sinks; differentiable."""
def make_splash_mha_single_device(mask: Any, *, block_sizes: _BlockSizes | None = None, is_mqa: bool = False, save_residuals: bool = False, mask_value: float = -2.381976325057654e+38, attn_logits_soft_cap: float | None = None, downcast_smem_data: bool = True, head_shards: int = 1, q_seq_shards: int = 1, residual_checkpoint_name: str | None = None, interpret: bool = False) -> SplashAttentionKernel:
    """`make_splash_mha` where heads and queries are on one device."""
def make_splash_mqa(mask: np.ndarray | Array | MultiHeadMask, *, block_sizes: BlockSizes | None = None, is_mqa: bool = True, save_residuals: bool = False, mask_value: float = -2.381976325057654e+38, attn_logits_soft_cap: float | None = None, downcast_smem_data: bool = True, head_shards: int, q_seq_shards: int, residual_checkpoint_name: str | None = None, interpret: bool = False) -> SplashAttentionKernel:
    """`make_splash_mha` for keys and values that all heads share, ``[keys, width]``."""
def make_splash_mqa_single_device(mask: Any, *, block_sizes: _BlockSizes | None = None, is_mqa: bool = True, save_residuals: bool = False, mask_value: float = -2.381976325057654e+38, attn_logits_soft_cap: float | None = None, downcast_smem_data: bool = True, head_shards: int = 1, q_seq_shards: int = 1, residual_checkpoint_name: str | None = None, interpret: bool = False) -> SplashAttentionKernel:
    """`make_splash_mqa` where heads and queries are on one device."""
