"""jax.experimental.pallas.ops.tpu.paged_attention: implemented in `jax_numpy_api.kernels.paged_attention`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "paged_attention": "jax_numpy_api.kernels.paged_attention:paged_attention", "quantization_utils": f"{__name__}.quantization_utils"})
