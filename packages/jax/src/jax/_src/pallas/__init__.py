"""Where libraries look for helpers of `jax.experimental.pallas`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "utils": "jax._src.pallas.utils",
})
