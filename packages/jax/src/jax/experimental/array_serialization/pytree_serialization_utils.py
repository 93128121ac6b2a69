"""jax.experimental.array_serialization.pytree_serialization_utils: implemented in `jax_xla_backend.checkpoints.pytrees`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "PyTreeFuture": "jax_xla_backend.checkpoints.pytrees:PyTreeFuture",
    "deserialize_pytreedef": "jax_xla_backend.checkpoints.pytrees:deserialize_pytreedef",
    "register_pytree_node_serialization": "jax_core.export.container:register_pytree_node_serialization",
    "serialize_pytreedef": "jax_xla_backend.checkpoints.pytrees:serialize_pytreedef",
})
