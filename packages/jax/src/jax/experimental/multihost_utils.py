"""jax.experimental.multihost_utils: implemented in `jax_xla_backend.operations.multihost`."""
from jax._gaps import missing as _missing
from jax._lazy import table as _table

_served, _names, __all__ = _table(__name__, {name: f"jax_xla_backend.operations.multihost:{name}" for name in (
    "ProcessFailureError", "assert_equal", "broadcast_one_to_all", "global_array_to_host_local_array",
    "global_array_to_host_local_array_impl", "global_array_to_host_local_array_p", "gtl_abstract_eval",
    "host_local_array_to_global_array", "host_local_array_to_global_array_impl", "host_local_array_to_global_array_p",
    "live_devices", "ltg_abstract_eval", "ltg_batcher", "process_allgather", "reached_preemption_sync_point",
    "sync_global_devices")})
__getattr__, __dir__ = _missing(__name__, _served, _names)
