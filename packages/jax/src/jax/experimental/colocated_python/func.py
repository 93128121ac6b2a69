"""jax.experimental.colocated_python.func: where orbax looks for hooks; there are none, as functions run in this process."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "colocated_python": "jax_xla_backend.tools.colocated_python:colocated_python",
})
