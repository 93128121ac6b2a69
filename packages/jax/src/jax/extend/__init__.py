"""jax.extend: interfaces for libraries that extend the system."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "backend": "jax.extend.backend",
    "core": "jax.extend.core",
    "ifrt_programs": "jax.extend.ifrt_programs",
    "linear_util": "jax.extend.linear_util",
    "lowering": "jax.extend.lowering",
    "mlir": "jax.extend.mlir",
    "random": "jax.extend.random",
    "sharding": "jax.extend.sharding",
    "source_info_util": "jax.extend.source_info_util",
    "xla": "jax.extend.xla",
})
