"""jax.memory: implemented in `jax_xla_backend.placement.layout`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {"Space": "jax_xla_backend.api:Space"})
