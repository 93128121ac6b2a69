"""jax.experimental.pallas.ops.gpu.paged_attention: implemented in `jax_numpy_api.kernels.gpu_decoding`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    name: f"jax_numpy_api.kernels.gpu_decoding:{name}" for name in "DEFAULT_MASK_VALUE paged_attention paged_attention_reference".split()})
