"""jax.lib: the older place of what jaxlib brings."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "xla_bridge": "jax.lib.xla_bridge",
})
