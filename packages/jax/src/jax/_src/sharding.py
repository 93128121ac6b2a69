"""jax._src.sharding: the base class of placements (scico)."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax.sharding", "Sharding",
                               IndivisibleError="jax_xla_backend.placement.sharding:IndivisibleError")
