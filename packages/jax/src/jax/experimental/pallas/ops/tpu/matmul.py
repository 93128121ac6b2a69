"""jax.experimental.pallas.ops.tpu.matmul: implemented in `jax_numpy_api.kernels.matmul`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {"matmul": "jax_numpy_api.kernels.matmul:matmul"})
