"""jax.experimental.pallas.ops.tpu.megablox.gmm: the kernels; implemented in `jax_numpy_api.kernels.grouped_products`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "partial": "functools:partial",  # which XLRON takes from here
    "gmm": "jax_numpy_api.kernels.grouped_products:gmm",
    "make_group_metadata": "jax_numpy_api.kernels.grouped_products:make_group_metadata",
    "tgmm": "jax_numpy_api.kernels.grouped_products:tgmm",
})
