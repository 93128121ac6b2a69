"""Types of `jax.experimental.pallas.ops.tpu.paged_attention`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array
from jax.experimental.pallas.ops.tpu.paged_attention.quantization_utils import QuantizedTensor
from typing import Any
from jax.experimental.pallas.ops.tpu.paged_attention import quantization_utils as quantization_utils
from jax.experimental.pallas.ops.tpu.paged_attention import util as util

def paged_attention(q: Array, k_pages: Array | QuantizedTensor, v_pages: Array | QuantizedTensor, lengths: Array, page_indices: Array, *, mask_value: float = -2.381976325057654e+38, attn_logits_soft_cap: float | None = None, pages_per_compute_block: int, megacore_mode: str | None = None, inline_seq_dim: bool = True) -> Array:
    """Attention of one query for each head to keys in pages, on a TPU."""
