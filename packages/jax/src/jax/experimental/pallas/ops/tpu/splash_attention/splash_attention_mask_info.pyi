"""Types of `jax.experimental.pallas.ops.tpu.splash_attention.splash_attention_mask_info`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array
from jax.experimental.pallas.ops.tpu.splash_attention import MultiHeadMask
from typing import Any, NamedTuple

class MaskInfo(NamedTuple):
    """A mask by blocks."""
    data_next: Any
    mask_next: Any
    block_mask: Any
    partial_mask_blocks: Any
    q_sequence: Any
    is_dynamic_mask: bool | None = ...
def process_dynamic_mask(mask: Array, block_shape: tuple[int, int], *, is_dkv: bool = False, downcast_smem_data: bool = True, head_shards: int = 1, q_seq_shards: int = 1, shrink_grid: bool = True) -> tuple[MaskInfo, None]:
    """`process_mask` of an array ``bool[heads, queries, keys]`` that may be traced: every block is a step, and all of them are stored."""
def process_dynamic_mask_dkv(mask: Array, block_shape: tuple[int, int], *, is_dkv: bool = True, downcast_smem_data: bool = True, head_shards: int = 1, q_seq_shards: int = 1, shrink_grid: bool = True) -> tuple[MaskInfo, None]:
    """`process_dynamic_mask` for the kernel that goes over queries."""
def process_mask(mask: MultiHeadMask, block_shape: tuple[int, int], *, is_dkv: bool = False, downcast_smem_data: bool = True, head_shards: int = 1, q_seq_shards: int = 1, shrink_grid: bool = True) -> Any:
    """The mask by blocks ``[queries, keys]``, and the mask that kernels compute, if that is what they do."""
def process_mask_dkv(mask: MultiHeadMask, block_shape: tuple[int, int], *, is_dkv: bool = True, downcast_smem_data: bool = True, head_shards: int = 1, q_seq_shards: int = 1, shrink_grid: bool = True) -> Any:
    """`process_mask` for the kernel that goes over queries."""
