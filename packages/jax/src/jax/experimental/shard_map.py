"""jax.experimental.shard_map: `jax.shard_map` with its older signature."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {"shard_map": "jax_xla_backend.operations.shard_map.api:old_shard_map"},
                                       deprecated={"shard_map": "jax.shard_map"})
