"""jax.experimental.custom_partitioning: implemented in `jax_xla_backend.operations.custom_partitioning`."""
from jax._gaps import missing as _missing
from jax._lazy import table as _table

_WHERE = {"operations.custom_partitioning.api": ("custom_partitioning", "custom_partitioning_p"),
          "lowering.sharding_rules": ("ArrayMapping", "BATCHING", "CompoundFactor", "SdyShardingRule")}
_served, _names, __all__ = _table(__name__, {
    name: f"jax_xla_backend.{module}:{name}" for module, names in _WHERE.items() for name in names})
__getattr__, __dir__ = _missing(__name__, _served, _names)
