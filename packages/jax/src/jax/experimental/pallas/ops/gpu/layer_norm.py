"""jax.experimental.pallas.ops.gpu.layer_norm: implemented in `jax_numpy_api.kernels.rows`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {name: f"jax_numpy_api.kernels.rows:{name}" for name in "layer_norm layer_norm_reference".split()})
