"""jax.experimental.pallas.ops.tpu.flash_attention: implemented in `jax_numpy_api.kernels.flash_attention`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {name: f"jax_numpy_api.kernels.flash_attention:{name}" for name in """
    BlockSizes DEFAULT_MASK_VALUE MIN_BLOCK_SIZE NUM_LANES NUM_SUBLANES SegmentIds TRANS_B_DIM_NUMBERS below_or_on_diag flash_attention
    mha_reference mha_reference_no_custom_vjp""".split()})
