"""jax.experimental.colocated_python: implemented in `jax_xla_backend.tools.colocated_python`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "colocated_cpu_devices": "jax_xla_backend.tools.colocated_python:colocated_cpu_devices",
    "colocated_python": "jax_xla_backend.tools.colocated_python:colocated_python",
    "colocated_python_class": "jax_xla_backend.tools.colocated_python:colocated_python_class",
    "func": "jax.experimental.colocated_python.func",
    "serialization": "jax.experimental.colocated_python.serialization",
})
