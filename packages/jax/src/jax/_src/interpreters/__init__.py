"""Internal names that libraries are known to use; everything else of this package is ours and elsewhere."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "ad": "jax.interpreters.ad",
    "batching": "jax.interpreters.batching",
    "mlir": "jax.interpreters.mlir",
    "partial_eval": "jax.interpreters.partial_eval",
    "pxla": "jax.interpreters.pxla",
})
