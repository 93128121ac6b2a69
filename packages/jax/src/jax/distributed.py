"""jax.distributed: implemented in `jax_xla_backend.platforms.distributed`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {name: f"jax_xla_backend.platforms.distributed:{name}" for name in (
    "initialize", "is_initialized", "shutdown")})
