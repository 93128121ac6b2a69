"""jax.experimental.multihost_utils: implemented in `jax_xla_backend.multihost`."""
from jax._gaps import missing as _missing
from jax._lazy import table as _table

_served, _names, __all__ = _table(__name__, {name: f"jax_xla_backend.multihost:{name}" for name in (
    "assert_equal", "broadcast_one_to_all", "global_array_to_host_local_array", "host_local_array_to_global_array",
    "process_allgather", "sync_global_devices")})
__getattr__, __dir__ = _missing(__name__, _served, _names)
