"""jax.experimental.pallas.ops.tpu.splash_attention.splash_attention_mask: implemented in `jax_numpy_api.kernels.splash_masks`."""
from jax._lazy import table as _table

_NAMES = """CausalMask ChunkedCausalMask FullMask LocalMask LogicalAnd LogicalOr Mask MultiHeadMask NumpyMask make_causal_mask make_chunk_attention_mask
    make_local_attention_mask make_random_mask"""
__getattr__, __dir__, __all__ = _table(__name__, {
    "_ComputableMask": "jax_numpy_api.kernels.splash_masks:MaskOfFunction", **{name: f"jax_numpy_api.kernels.splash_masks:{name}" for name in _NAMES.split()}})
