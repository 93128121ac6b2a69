"""jax.extend.mlir.dialects: jaxlib's bindings of MLIR dialects."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {name: f"jax.extend.mlir.dialects.{name}" for name in (
    "arith", "builtin", "chlo", "func", "math", "memref", "mpmd", "scf", "sdy", "sparse_tensor", "stablehlo", "vector")})
