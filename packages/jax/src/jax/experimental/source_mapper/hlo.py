"""jax.experimental.source_mapper.hlo: implemented in `jax_xla_backend.tools.source_mapper.hlo`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "HloPass": "jax_xla_backend.tools.source_mapper.hlo:HloPass",
    "METADATA_REGEX": "jax_xla_backend.tools.source_mapper.hlo:METADATA_REGEX",
    "optimized_generate_dump": "jax_xla_backend.tools.source_mapper.hlo:optimized_generate_dump",
    "original_hlo_generate_dump": "jax_xla_backend.tools.source_mapper.hlo:original_hlo_generate_dump",
    "parse_hlo_dump": "jax_xla_backend.tools.source_mapper.hlo:parse_hlo_dump",
    "stable_hlo_generate_dump": "jax_xla_backend.tools.source_mapper.hlo:stable_hlo_generate_dump",
    "trace_and_lower": "jax_xla_backend.tools.source_mapper.hlo:trace_and_lower"})
