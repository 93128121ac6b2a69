"""Internal names that libraries are known to use; everything else of this package is ours and elsewhere."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "ad": "jax._src.interpreters.ad",
    "batching": "jax._src.interpreters.batching",
    "mlir": "jax._src.interpreters.mlir",
    "partial_eval": "jax._src.interpreters.partial_eval",
    "pxla": "jax._src.interpreters.pxla",
})
