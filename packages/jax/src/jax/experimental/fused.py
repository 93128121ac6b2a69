"""jax.experimental.fused: implemented in `jax_xla_backend.operations.annotations`."""
from jax._gaps import missing as _missing
from jax._lazy import table as _table

_served, _names, __all__ = _table(__name__, {
    "fused": "jax_xla_backend.operations.annotations:fused",
    "fused_p": "jax_xla_backend.operations.annotations:fused_p",
})
__getattr__, __dir__ = _missing(__name__, _served, _names)
