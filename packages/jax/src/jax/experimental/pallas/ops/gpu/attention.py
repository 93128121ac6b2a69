"""jax.experimental.pallas.ops.gpu.attention: implemented in `jax_numpy_api.kernels.gpu_attention`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    name: f"jax_numpy_api.kernels.gpu_attention:{name}" for name in "BlockSizes DEFAULT_MASK_VALUE mha mha_reference segment_mask".split()})
