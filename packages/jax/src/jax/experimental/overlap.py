"""jax.experimental.overlap: implemented in `jax_xla_backend.operations.annotations`."""
from jax._gaps import missing as _missing
from jax._lazy import table as _table

_served, _names, __all__ = _table(__name__, {
    "program_order": "jax_xla_backend.operations.annotations:program_order",
})
__getattr__, __dir__ = _missing(__name__, _served, _names)
