"""The dialects of MLIR that jaxlib carries; StableHLO also as ``hlo``."""
from jax._lazy import table as _table

_OWN = ("arith", "builtin", "cf", "chlo", "func", "gpu", "llvm", "math", "memref", "mhlo", "mpmd", "nvgpu", "nvvm", "scf", "sdy", "sparse_tensor", "stablehlo", "vector")

__getattr__, __dir__, __all__ = _table(__name__, {"hlo": "jaxlib.mlir.dialects.stablehlo", **{name: f"jaxlib.mlir.dialects.{name}" for name in _OWN}})
