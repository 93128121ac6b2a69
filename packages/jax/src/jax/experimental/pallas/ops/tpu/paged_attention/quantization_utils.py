"""jax.experimental.pallas.ops.tpu.paged_attention.quantization_utils: implemented in `jax_numpy_api.kernels.paged_attention`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {name: f"jax_numpy_api.kernels.paged_attention:{name}" for name in """
    MAX_INT8 QuantizedTensor from_int8 get_quantization_scales quantize_to_int8 to_int8 unquantize_from_int8""".split()})
