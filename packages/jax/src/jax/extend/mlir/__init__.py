"""jax.extend.mlir: jaxlib's bindings of MLIR."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {name: f"jax.extend.mlir.{name}" for name in ("dialects", "ir", "passmanager")})
