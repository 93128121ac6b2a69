"""jax.experimental.pallas.ops.tpu.splash_attention.splash_attention_mask_info: implemented in `jax_numpy_api.kernels.splash_blocks`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {name: f"jax_numpy_api.kernels.splash_blocks:{name}" for name in """
    MaskInfo process_dynamic_mask process_dynamic_mask_dkv process_mask process_mask_dkv""".split()})
