"""jax.experimental.colocated_python.serialization: names that orbax has in annotations, and asks for devices."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "DeviceList": "jax_xla_backend.tools.colocated_python:DeviceList",
    "xb": "jax._src.xla_bridge",
})
