"""jax.experimental.source_mapper.generate_map: implemented in `jax_xla_backend.tools.source_mapper.generating`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "SourceMapGeneratorFn": "jax_xla_backend.tools.source_mapper.generating:SourceMapGeneratorFn",
    "generate_sourcemaps": "jax_xla_backend.tools.source_mapper.generating:generate_sourcemaps"})
