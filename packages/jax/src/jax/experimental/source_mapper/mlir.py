"""jax.experimental.source_mapper.mlir: implemented in `jax_xla_backend.tools.source_mapper.mlir`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "CALLSITE_REGEX": "jax_xla_backend.tools.source_mapper.mlir:CALLSITE_REGEX",
    "LOC_REGEX": "jax_xla_backend.tools.source_mapper.mlir:LOC_REGEX",
    "Location": "jax_xla_backend.tools.source_mapper.mlir:Location",
    "Redirect": "jax_xla_backend.tools.source_mapper.mlir:Redirect",
    "SCOPED_REGEX": "jax_xla_backend.tools.source_mapper.mlir:SCOPED_REGEX",
    "SRC_REGEX": "jax_xla_backend.tools.source_mapper.mlir:SRC_REGEX",
    "create_mlir_sourcemap": "jax_xla_backend.tools.source_mapper.mlir:create_mlir_sourcemap",
    "parse_mlir_locations": "jax_xla_backend.tools.source_mapper.mlir:parse_mlir_locations"})
