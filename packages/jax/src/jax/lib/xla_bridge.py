"""jax.lib.xla_bridge: the older place of functions about devices."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "devices": "jax_xla_backend.api:devices",
    "local_devices": "jax_xla_backend.api:local_devices",
    "device_count": "jax_xla_backend.api:device_count",
    "local_device_count": "jax_xla_backend.api:local_device_count",
    "process_index": "jax_xla_backend.api:process_index",
    "process_count": "jax_xla_backend.api:process_count",
    "default_backend": "jax_xla_backend.api:default_backend",
    "get_backend": "jax_xla_backend.extend:get_backend",
})
