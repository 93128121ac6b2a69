"""jax.lib: the older place of what jaxlib brings."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "__version__": "jax_xla_backend.jaxlib_compat:VERSION_TEXT",
    "xla_bridge": "jax.lib.xla_bridge",
})
