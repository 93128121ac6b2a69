"""jax._src.sharding_impls: implemented in `jax_xla_backend.placement.sharding_impls`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_xla_backend.placement.sharding_impls")
