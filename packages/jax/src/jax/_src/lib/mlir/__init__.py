"""jaxlib's bindings of MLIR, under the name by which libraries that write their own lowering rules import them."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "dialects": "jax._src.lib.mlir.dialects", "ir": "jaxlib.mlir.ir", "passmanager": "jaxlib.mlir.passmanager",
})
