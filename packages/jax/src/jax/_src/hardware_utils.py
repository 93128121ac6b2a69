"""What AMD's plugin asks before it starts."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "num_available_amd_gpus": "jax_xla_backend.platforms.attached:num_available_amd_gpus",
})
