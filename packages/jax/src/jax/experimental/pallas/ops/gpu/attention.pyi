"""Types of `jax.experimental.pallas.ops.gpu.attention`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array
from typing import Any

class BlockSizes:
    """How many queries and keys a step works on at once; results do not depend on it but for rounding. Derivatives need all six."""
    block_q: int
    block_k: int
    block_q_dkv: int | None
    block_kv_dkv: int | None
    block_q_dq: int | None
    block_kv_dq: int | None
    def __init__(self, block_q: int, block_k: int, block_q_dkv: int | None = None, block_kv_dkv: int | None = None, block_q_dq: int | None = None, block_kv_dq: int | None = None) -> None: ...
    @classmethod
    def get_default(cls) -> BlockSizes: ...
    @property
    def has_backward_blocks(self) -> bool: ...
DEFAULT_MASK_VALUE: float
def mha(q: Array, k: Array, v: Array, segment_ids: Array | None, sm_scale: float = 1.0, causal: bool = False, block_sizes: BlockSizes = ..., backward_pass_impl: str = 'triton', num_warps: int | None = None, num_stages: int = 2, grid: tuple[int, ...] | None = None, interpret: bool = False, debug: bool = False, return_residuals: bool = False) -> Any:
    """``softmax(q k^T * sm_scale) v`` on a GPU, by blocks; differentiable in q, k and v."""
def mha_reference(q: Array, k: Array, v: Array, segment_ids: Array | None, sm_scale: float = 1.0, causal: bool = False) -> Array:
    """What `mha` computes, by plain operations on all scores."""
def segment_mask(q_segment_ids: Array, kv_segment_ids: Array) -> Array:
    """Which queries see which keys: those of their own segment. Leading axes are batches."""
