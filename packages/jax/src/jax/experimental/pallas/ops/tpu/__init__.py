"""jax.experimental.pallas.ops.tpu: kernels for TPUs; implemented in `jax_numpy_api.kernels`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    name: f"{__name__}.{name}" for name in ("flash_attention", "matmul", "megablox", "paged_attention")})
