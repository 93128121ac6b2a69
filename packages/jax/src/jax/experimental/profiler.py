"""jax.experimental.profiler: implemented in `jax_xla_backend.tools.profiler`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "get_profiled_instructions_proto": "jax_xla_backend.tools.profiler:get_profiled_instructions_proto"})
