"""jax.experimental.source_mapper.jaxpr: implemented in `jax_xla_backend.tools.source_mapper.jaxpr`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "canonicalize_filename": "jax_xla_backend.tools.source_mapper.jaxpr:canonicalize_filename",
    "compile_jaxpr": "jax_xla_backend.tools.source_mapper.jaxpr:compile_jaxpr",
    "make_jaxpr_dump": "jax_xla_backend.tools.source_mapper.jaxpr:make_jaxpr_dump"})
