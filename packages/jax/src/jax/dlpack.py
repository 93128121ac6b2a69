"""jax.dlpack: implemented in `jax_xla_backend.arrays.dlpack`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "from_dlpack": "jax_xla_backend.api:from_dlpack",
    "is_supported_dtype": "jax_xla_backend.api:is_supported_dtype",
})
