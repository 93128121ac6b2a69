"""jax.experimental.serialize_executable: implemented in `jax_xla_backend.running.serialize_executable`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {n: f"jax_xla_backend.running.serialize_executable:{n}" for n in ("deserialize_and_load", "serialize")})
