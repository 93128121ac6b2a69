"""jax.experimental.pallas.ops.gpu.rms_norm: implemented in `jax_numpy_api.kernels.rows`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {name: f"jax_numpy_api.kernels.rows:{name}" for name in "rms_norm rms_norm_reference".split()})
