"""The dialects of MLIR that jaxlib carries; StableHLO also as ``hlo``."""
from jax._lazy import table as _table
from jax.extend.mlir import dialects as _public

_OWN = *[name for name in dir(_public) if not name.startswith("_")], "cf", "gpu", "llvm", "mhlo", "nvgpu", "nvvm"

__getattr__, __dir__, __all__ = _table(__name__, {"hlo": "jaxlib.mlir.dialects.stablehlo", **{name: f"jaxlib.mlir.dialects.{name}" for name in _OWN}})
