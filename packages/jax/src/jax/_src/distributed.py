"""Internal names that libraries are known to use; everything else of this package is ours and elsewhere."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "global_state": "jax_xla_backend.platforms.distributed_state:state",
    "is_initialized": "jax_xla_backend.platforms.distributed:is_initialized",
})
