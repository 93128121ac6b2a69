"""jax.experimental.pallas.ops.tpu.megablox.ops: implemented in `jax_numpy_api.kernels.grouped_products`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {"gmm": "jax_numpy_api.kernels.grouped_products:gmm_with_derivatives"})
