"""Types of `jax.experimental.pallas.ops.tpu.splash_attention.splash_attention_kernel`. Written by packages/jax/tools/make_stubs.py."""
import numpy as np
from jax import Array
from jax.experimental.pallas.ops.gpu.attention import BlockSizes as _BlockSizes
from jax.experimental.pallas.ops.tpu.splash_attention import BlockSizes, Mask, MultiHeadMask, SegmentIds
from jax.experimental.pallas.ops.tpu.splash_attention.splash_attention_mask_info import MaskInfo
from typing import Any, Callable
from jax.experimental.pallas.ops.tpu.splash_attention import BlockSizes as BlockSizes
from jax.experimental.pallas.ops.tpu.splash_attention import QKVLayout as QKVLayout
from jax.experimental.pallas.ops.tpu.splash_attention import SegmentIds as SegmentIds

DEFAULT_MASK_VALUE: float
NN_DIM_NUMBERS: tuple
NT_DIM_NUMBERS: tuple
NUM_LANES: int
NUM_SUBLANES: int
class SplashAttentionKernel:
    """Attention under one mask: ``kernel(q, k, v, segment_ids=None, sinks=None)``. A pytree of the mask's lists, which may be arguments of `jit`."""
    def __call__(self, q: Array, k: Array, v: Array, segment_ids: SegmentIds | None = None, sinks: Array | None = None) -> Any: ...
    def __init__(self, fwd_mask_info: MaskInfo, dq_mask_info: MaskInfo | None, dkv_mask_info: MaskInfo | None, **kwargs: Any) -> None: ...
    def manual_sharding_spec(self, sharding: Any) -> SplashAttentionKernel: ...
    def tree_flatten(self) -> tuple[tuple, tuple]: ...
    @classmethod
    def tree_unflatten(cls, kwargs: tuple, values: tuple) -> SplashAttentionKernel: ...
    kwargs: Any
def attention_reference(mask: Array, q: Array, k: Array, v: Array, segment_ids: SegmentIds | None, sinks: Array | None = None, *, mask_value: float = -2.381976325057654e+38, save_residuals: bool = False, custom_type: str = 'flash', attn_logits_soft_cap: float | None = None) -> Any:
    """Attention of one head by plain operations on all scores, in float32; what kernels are compared with."""
def make_attention_reference(mask: Mask | np.ndarray, is_mqa: bool, backward_impl: str = 'vanilla', **params: Any) -> Callable[..., Any]:
    """`attention_reference` of all heads, as a function of ``q``, ``k``, ``v``, segment ids and sinks; ``params`` are its options."""
def make_masked_mha_reference(mask: Any, *, is_mqa: bool = False, backward_impl: str = 'vanilla', **params: Any) -> Callable[..., Any]:
    """`make_attention_reference` for keys and values ``[heads, keys, width]``."""
def make_masked_mqa_reference(mask: Any, *, is_mqa: bool = True, backward_impl: str = 'vanilla', **params: Any) -> Callable[..., Any]:
    """`make_attention_reference` for keys and values ``[keys, width]``."""
def make_splash_mha(mask: np.ndarray | Array | MultiHeadMask, *, block_sizes: BlockSizes | None = None, is_mqa: bool = False, save_residuals: bool = False, mask_value: float = -2.381976325057654e+38, attn_logits_soft_cap: float | None = None, downcast_smem_data: bool = True, head_shards: int, q_seq_shards: int, residual_checkpoint_name: str | None = None, interpret: bool = False) -> SplashAttentionKernel:
    """``softmax(q k^T) v`` under a mask, as a function of ``q``, ``k``, ``v``, segment ids and sinks; differentiable."""
def make_splash_mha_single_device(mask: Any, *, block_sizes: _BlockSizes | None = None, is_mqa: bool = False, save_residuals: bool = False, mask_value: float = -2.381976325057654e+38, attn_logits_soft_cap: float | None = None, downcast_smem_data: bool = True, head_shards: int = 1, q_seq_shards: int = 1, residual_checkpoint_name: str | None = None, interpret: bool = False) -> SplashAttentionKernel:
    """`make_splash_mha` where heads and queries are on one device."""
def make_splash_mqa(mask: np.ndarray | Array | MultiHeadMask, *, block_sizes: BlockSizes | None = None, is_mqa: bool = True, save_residuals: bool = False, mask_value: float = -2.381976325057654e+38, attn_logits_soft_cap: float | None = None, downcast_smem_data: bool = True, head_shards: int, q_seq_shards: int, residual_checkpoint_name: str | None = None, interpret: bool = False) -> SplashAttentionKernel:
    """`make_splash_mha` for keys and values that all heads share, ``[keys, width]``."""
def make_splash_mqa_single_device(mask: Any, *, block_sizes: _BlockSizes | None = None, is_mqa: bool = True, save_residuals: bool = False, mask_value: float = -2.381976325057654e+38, attn_logits_soft_cap: float | None = None, downcast_smem_data: bool = True, head_shards: int = 1, q_seq_shards: int = 1, residual_checkpoint_name: str | None = None, interpret: bool = False) -> SplashAttentionKernel:
    """`make_splash_mqa` where heads and queries are on one device."""
