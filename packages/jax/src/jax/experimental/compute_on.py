"""jax.experimental.compute_on: implemented in `jax_xla_backend.operations.annotations`."""
from jax._gaps import missing as _missing
from jax._lazy import table as _table

_served, _names, __all__ = _table(__name__, {
    "compute_on": "jax_xla_backend.operations.annotations:compute_on",
})
__getattr__, __dir__ = _missing(__name__, _served, _names)
