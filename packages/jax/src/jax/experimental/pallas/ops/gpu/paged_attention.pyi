"""Types of `jax.experimental.pallas.ops.gpu.paged_attention`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array
from typing import Any

DEFAULT_MASK_VALUE: float
def paged_attention(q: Array, k_pages: Array, v_pages: Array, block_tables: Array, lengths: Array | None, k_scales_pages: Array | None = None, v_scales_pages: Array | None = None, *, block_h: int = 16, pages_per_compute_block: int = 8, k_splits: int = 16, num_warps: int = 8, num_stages: int = 2, interpret: bool = False, debug: bool = False, mask_value: float = -2.381976325057654e+38, attn_logits_soft_cap: float | None = None) -> Array:
    """Attention of one query for each head to keys in pages, on a GPU."""
def paged_attention_reference(q: Array, k: Array, v: Array, lengths: Array, *, mask_value: float = -2.381976325057654e+38, attn_logits_soft_cap: float | None = None) -> Array:
    """What `paged_attention` computes, of keys in order, ``[batch, length, key heads, width]``, by plain operations."""
