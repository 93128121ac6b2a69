"""jax.experimental.pallas.ops.tpu.paged_attention: implemented in `jax_numpy_api.kernels.paged_attention`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "paged_attention": "jax_numpy_api.kernels.paged_attention:paged_attention",
    **{name: f"{__name__}.{name}" for name in ("quantization_utils", "util")}})
