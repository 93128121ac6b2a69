"""Internal names that libraries are known to use; everything else of this package is ours and elsewhere."""
from jax._gaps import missing as _missing
from jax._lazy import table as _table

_served, _names, __all__ = _table(__name__, {
    "thread_resources": "jax_xla_backend.placement.mesh:thread_resources",
})
__getattr__, __dir__ = _missing(__name__, _served, _names)
