"""jax.experimental.source_mapper: implemented in `jax_xla_backend.tools.source_mapper`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "MappingsGenerator": "jax_xla_backend.tools.source_mapper:MappingsGenerator",
    "Pass": "jax_xla_backend.tools.source_mapper:Pass",
    "SourceMap": "jax_xla_backend.tools.source_mapper:SourceMap",
    "SourceMapDump": "jax_xla_backend.tools.source_mapper:SourceMapDump",
    "all_passes": "jax_xla_backend.tools.source_mapper:all_passes",
    "canonicalize_filename": "jax_xla_backend.tools.source_mapper:canonicalize_filename",
    "compile_with_env": "jax_xla_backend.tools.source_mapper:compile_with_env",
    "create_mlir_sourcemap": "jax_xla_backend.tools.source_mapper:create_mlir_sourcemap",
    "filter_passes": "jax_xla_backend.tools.source_mapper:filter_passes",
    "generate_sourcemaps": "jax_xla_backend.tools.source_mapper:generate_sourcemaps",
    "register_pass": "jax_xla_backend.tools.source_mapper:register_pass",
    "common": "jax.experimental.source_mapper.common",
    "generate_map": "jax.experimental.source_mapper.generate_map",
    "hlo": "jax.experimental.source_mapper.hlo",
    "jaxpr": "jax.experimental.source_mapper.jaxpr",
    "mlir": "jax.experimental.source_mapper.mlir"})
