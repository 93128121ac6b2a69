"""jax.experimental.transfer: implemented in `jax_xla_backend.arrays.transfer_server`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {n: f"jax_xla_backend.arrays.transfer_server:{n}" for n in (
    "TransferConnection", "TransferServer", "make_error_array", "start_transfer_server")})
