"""jax._src.op_shardings: questions about XLA's form of placements, which benchmarks and libraries ask."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "are_hlo_shardings_equal": "jax_xla_backend.placement.hlo_shardings:hlo_equal",
    "is_hlo_sharding_replicated": "jax_xla_backend.placement.hlo_shardings:is_whole",
})
