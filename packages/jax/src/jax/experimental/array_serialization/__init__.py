"""jax.experimental.array_serialization: implemented in `jax_xla_backend.checkpoints`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    name: f"{__name__}.{name}" for name in ("pytree_serialization", "pytree_serialization_utils", "serialization", "tensorstore_impl")})
