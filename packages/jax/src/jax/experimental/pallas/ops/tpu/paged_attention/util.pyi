"""Types of `jax.experimental.pallas.ops.tpu.paged_attention.util`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array
from typing import Any

MASK_VALUE: float
def grouped_query_attention_reference(queries: Array, k_pages: Array, v_pages: Array, seq_lens: Array, soft_cap: float | None = None, debug: bool = False) -> Array:
    """Attention of one query to keys in arrays, without pages and without a kernel: what `paged_attention` computes, for tests."""
