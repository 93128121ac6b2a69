"""jax.experimental.array_serialization.pytree_serialization: implemented in `jax_xla_backend.checkpoints.pytrees`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "load": "jax_xla_backend.checkpoints.pytrees:load",
    "load_pytreedef": "jax_xla_backend.checkpoints.pytrees:load_pytreedef",
    "nonblocking_load": "jax_xla_backend.checkpoints.pytrees:nonblocking_load",
    "nonblocking_save": "jax_xla_backend.checkpoints.pytrees:nonblocking_save",
    "save": "jax_xla_backend.checkpoints.pytrees:save",
})
