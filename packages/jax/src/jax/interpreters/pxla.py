"""jax.interpreters.pxla: what libraries still take from here; everything else is ours and elsewhere."""
from jax._gaps import missing as _missing
from jax._lazy import table as _table

_served, _names, __all__ = _table(__name__, {
    "global_avals_to_results_handler": "jax_xla_backend.extend:global_avals_to_results_handler",
    "thread_resources": "jax_xla_backend.placement.block_environment:thread_resources",
}, deprecated={
    "global_avals_to_results_handler": "jax.make_array_from_single_device_arrays",
    "thread_resources": "jax.sharding.get_mesh",
})
__getattr__, __dir__ = _missing(__name__, _served, _names)
