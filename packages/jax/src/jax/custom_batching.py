"""jax.custom_batching: functions with batching rules of the user's own."""
from jax._gaps import missing as _missing
from jax._lazy import table as _table

_served, _names, __all__ = _table(__name__, {
    "custom_vmap": "jax_core.transformations.custom_vmap:custom_vmap",
    "sequential_vmap": "jax_numpy_api.custom_batching:sequential_vmap",
})
__getattr__, __dir__ = _missing(__name__, _served, _names)
