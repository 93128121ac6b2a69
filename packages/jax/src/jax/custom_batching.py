"""jax.custom_batching: functions with batching rules of the user's own."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "custom_vmap": "jax_core.custom_vmap:custom_vmap",
    "sequential_vmap": "jax_numpy_api.lax.control_flow.map:sequential_vmap",
})
