"""jax.experimental.pallas.ops.tpu.splash_attention: attention under masks; implemented in `jax_numpy_api.kernels.splash_kernel` and its neighbours."""
from jax._lazy import table as _table

_HOMES = {
    "splash_masks": "CausalMask FullMask LocalMask Mask MultiHeadMask NumpyMask make_causal_mask make_local_attention_mask make_random_mask",
    "splash_attention": "BlockSizes QKVLayout SegmentIds",
    "splash_kernel": """make_masked_mha_reference make_masked_mqa_reference make_splash_mha make_splash_mha_single_device make_splash_mqa
        make_splash_mqa_single_device""",
}
__getattr__, __dir__, __all__ = _table(__name__, {
    **{name: f"jax_numpy_api.kernels.{home}:{name}" for home, names in _HOMES.items() for name in names.split()},
    **{name: f"{__name__}.{name}" for name in ("splash_attention_kernel", "splash_attention_mask", "splash_attention_mask_info")}})
