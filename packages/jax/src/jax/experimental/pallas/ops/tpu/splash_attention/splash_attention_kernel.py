"""jax.experimental.pallas.ops.tpu.splash_attention.splash_attention_kernel: implemented in `jax_numpy_api.kernels.splash_kernel` and its neighbours."""
from jax._lazy import table as _table

_HOMES = {
    "flash_attention": "DEFAULT_MASK_VALUE NUM_LANES NUM_SUBLANES",
    "splash_attention": "BlockSizes NN_DIM_NUMBERS NT_DIM_NUMBERS QKVLayout SegmentIds",
    "splash_kernel": """SplashAttentionKernel attention_reference make_attention_reference make_masked_mha_reference make_masked_mqa_reference
        make_splash_mha make_splash_mha_single_device make_splash_mqa make_splash_mqa_single_device""",
}
__getattr__, __dir__, __all__ = _table(__name__, {name: f"jax_numpy_api.kernels.{home}:{name}" for home, names in _HOMES.items() for name in names.split()})
