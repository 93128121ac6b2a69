"""Types of `jax.experimental.pallas.ops.tpu.flash_attention`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array
from typing import Any, NamedTuple

class BlockSizes:
    """How much is in fast memory at once; results do not depend on it but for rounding."""
    block_q: int
    block_k_major: int
    block_k: int
    block_b: int
    block_q_major_dkv: int | None
    block_k_major_dkv: int | None
    block_k_dkv: int | None
    block_q_dkv: int | None
    block_k_major_dq: int | None
    block_k_dq: int | None
    block_q_dq: int | None
    def __init__(self, block_q: int, block_k_major: int, block_k: int, block_b: int, block_q_major_dkv: int | None = None, block_k_major_dkv: int | None = None, block_k_dkv: int | None = None, block_q_dkv: int | None = None, block_k_major_dq: int | None = None, block_k_dq: int | None = None, block_q_dq: int | None = None) -> None: ...
    @classmethod
    def get_default(cls, batch_size: int, num_heads: int, q_seq_len: int, kv_len: int, d_model: int) -> BlockSizes: ...
    @property
    def has_backward_blocks(self) -> bool: ...
DEFAULT_MASK_VALUE: float
MIN_BLOCK_SIZE: int
NUM_LANES: int
NUM_SUBLANES: int
class SegmentIds(NamedTuple):
    """Integers ``[batch, length]``: a query sees the keys of its own segment."""
    q: Array
    kv: Array
TRANS_B_DIM_NUMBERS: tuple
def below_or_on_diag(r: Any, r_blk_size: int, c: Any, c_blk_size: int) -> Any:
    """Whether some query of block ``r`` comes at or after some key of block ``c``."""
def flash_attention(q: Array, k: Array, v: Array, ab: Array | None = None, segment_ids: SegmentIds | None = None, *, causal: bool = False, sm_scale: float = 1.0, block_sizes: BlockSizes | None = None, debug: bool = False) -> Array:
    """``softmax((q k^T + ab) * sm_scale) v`` on a TPU, by blocks; differentiable in q, k, v and ab."""
def mha_reference(q: Array, k: Array, v: Array, ab: Array | None, segment_ids: SegmentIds | None = None, causal: bool = False, mask_value: float = -2.381976325057654e+38, sm_scale: float = 1.0) -> Array:
    """`mha_reference_no_custom_vjp` as a compiled function."""
def mha_reference_no_custom_vjp(q: Array, k: Array, v: Array, ab: Array | None = None, segment_ids: SegmentIds | None = None, *, causal: bool = False, mask_value: float = -2.381976325057654e+38, sm_scale: float = 1.0, save_residuals: bool = False) -> Any:
    """What `flash_attention` computes, by plain operations on all scores; what kernels are compared with."""
