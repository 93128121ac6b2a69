"""jax.experimental.source_mapper.common: implemented in `jax_xla_backend.tools.source_mapper.passes`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "CompileFn": "jax_xla_backend.tools.source_mapper.passes:CompileFn",
    "GenerateDumpFn": "jax_xla_backend.tools.source_mapper.passes:GenerateDumpFn",
    "Pass": "jax_xla_backend.tools.source_mapper.passes:Pass",
    "SourceMapDump": "jax_xla_backend.tools.source_mapper.passes:SourceMapDump",
    "all_passes": "jax_xla_backend.tools.source_mapper.passes:all_passes",
    "compile_with_env": "jax_xla_backend.tools.source_mapper.passes:compile_with_env",
    "filter_passes": "jax_xla_backend.tools.source_mapper.passes:filter_passes",
    "flag_env": "jax_xla_backend.tools.source_mapper.passes:flag_env",
    "register_pass": "jax_xla_backend.tools.source_mapper.passes:register_pass"})
