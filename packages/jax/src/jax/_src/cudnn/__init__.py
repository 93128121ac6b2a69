"""Where libraries look for attention by cuDNN, which is not here: `jax.nn.dot_product_attention` is."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "fused_attention_stablehlo": "jax._src.cudnn.fused_attention_stablehlo",
})
