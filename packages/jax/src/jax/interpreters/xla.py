"""jax.interpreters.xla: for libraries that register array types."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "canonicalize_dtype_handlers": "jax_core.representation.aval:canonicalize_handlers",
    "pytype_aval_mappings": "jax_core.representation.aval:aval_of_type",
    "apply_primitive": "jax_xla_backend.extend:apply_primitive",
    "Backend": "jax_xla_backend.extend:Backend",
})
