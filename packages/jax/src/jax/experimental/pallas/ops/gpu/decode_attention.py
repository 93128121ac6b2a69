"""jax.experimental.pallas.ops.gpu.decode_attention: implemented in `jax_numpy_api.kernels.gpu_decoding`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    name: f"jax_numpy_api.kernels.gpu_decoding:{name}" for name in "gqa gqa_reference mha_reference mqa mqa_reference".split()})
