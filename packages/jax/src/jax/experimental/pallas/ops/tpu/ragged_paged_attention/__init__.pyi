"""Types of `jax.experimental.pallas.ops.tpu.ragged_paged_attention`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array
from jax.typing import DTypeLike
from typing import Any

def dynamic_validate_inputs(q: Array, kv_pages: Array, kv_lens: Array, page_indices: Array, cu_q_lens: Array, num_seqs: Array, **options: Any) -> None:
    """As `static_validate_inputs`, also where the numbers do not fit; to be called outside of `jit`."""
def get_tuned_block_sizes(q_dtype: DTypeLike, kv_dtype: DTypeLike, num_q_heads_per_blk: int, num_kv_heads_per_blk: int, head_dim: int, page_size: int, max_num_batched_tokens: int, pages_per_seq: int) -> tuple[int, int]:
    """Pages and queries of a step, where none are given: about 128 keys, and 32 queries."""
def ragged_paged_attention(q: Array, kv_pages: Array, kv_lens: Array, page_indices: Array, cu_q_lens: Array, num_seqs: Array, *, sm_scale: float = 1.0, sliding_window: int | None = None, soft_cap: float | None = None, mask_value: float | None = -2.381976325057654e+38, k_scale: float | None = None, v_scale: float | None = None, num_kv_pages_per_block: int | None = None, num_queries_per_block: int | None = None, vmem_limit_bytes: int | None = None) -> Array:
    """Causal attention of several texts, whose queries follow one another, to keys and values in pages, on a TPU."""
def ref_ragged_paged_attention(queries: Array, kv_pages: Array, kv_lens: Array, page_indices: Array, cu_q_lens: Array, num_seqs: Array, *, sm_scale: float = 1.0, sliding_window: int | None = None, soft_cap: float | None = None, mask_value: float | None = -2.381976325057654e+38, k_scale: float | None = None, v_scale: float | None = None) -> Array:
    """What `ragged_paged_attention` computes, by plain operations on all scores of each text; numbers must be known."""
def static_validate_inputs(q: Array, kv_pages: Array, kv_lens: Array, page_indices: Array, cu_q_lens: Array, num_seqs: Array, *, sm_scale: float | None = None, sliding_window: int | None = None, soft_cap: float | None = None, mask_value: float | None = None, k_scale: float | None = None, v_scale: float | None = None, num_kv_pages_per_block: int | None = None, num_queries_per_block: int | None = None, vmem_limit_bytes: int | None = None) -> None:
    """Raise ValueError where shapes, dtypes or options of `ragged_paged_attention` do not fit."""
