"""Types of `jax.experimental.pallas.ops.gpu.decode_attention`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array
from jax.typing import ArrayLike
from typing import Any

def gqa(q: Array, k: Array, v: Array, start_idx: ArrayLike | None = None, kv_seq_len: ArrayLike | None = None, sm_scale: float | None = None, block_h: int = 16, block_k: int = 128, k_splits: int = 16, num_warps: int | None = None, num_stages: int = 2, grid: tuple[int, ...] | None = None, interpret: bool = False, debug: bool = False, return_residuals: bool = False, normalize_output: bool = True) -> Any:
    """Attention of one query for each head to keys that groups of heads share, on a GPU."""
def gqa_reference(q: Array, k: Array, v: Array, start_idx: ArrayLike | None = None, kv_seq_len: ArrayLike | None = None, sm_scale: float | None = None, return_residuals: bool = False, normalize_output: bool = True) -> Any:
    """What `gqa` computes, by plain operations on all scores."""
def mha_reference(q: Array, k: Array, v: Array, start_idx: ArrayLike | None = None, kv_seq_len: ArrayLike | None = None, sm_scale: float | None = None) -> Array:
    """The same with keys of its own for each head, ``[batch, length, heads, width]``, by plain operations."""
def mqa(q: Array, k: Array, v: Array, start_idx: ArrayLike | None = None, kv_seq_len: ArrayLike | None = None, sm_scale: float | None = None, block_h: int = 16, block_k: int = 256, k_splits: int = 16, num_warps: int | None = None, num_stages: int = 2, grid: tuple[int, ...] | None = None, interpret: bool = False, debug: bool = False, return_residuals: bool = False, normalize_output: bool = True) -> Any:
    """Attention of one query for each head to keys that all heads share, on a GPU; arguments as for `gqa`."""
def mqa_reference(q: Array, k: Array, v: Array, start_idx: ArrayLike | None = None, kv_seq_len: ArrayLike | None = None, sm_scale: float | None = None, return_residuals: bool = False, normalize_output: bool = True) -> Any:
    """What `mqa` computes, by plain operations on all scores."""
