"""jax.interpreters: rules of primitives, by transformation."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "ad": "jax.interpreters.ad",
    "batching": "jax.interpreters.batching",
    "mlir": "jax.interpreters.mlir",
    "partial_eval": "jax.interpreters.partial_eval",
    "pxla": "jax.interpreters.pxla",
    "xla": "jax.interpreters.xla",
})
