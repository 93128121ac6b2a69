"""jax.experimental.pallas.ops: kernels that are ready to use; implemented in `jax_numpy_api.kernels`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    name: f"{__name__}.{name}" for name in ("gpu", "tpu")})
