"""Internal names that libraries are known to use; everything else of this package is ours and elsewhere."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "runtime_tokens": "jax_xla_backend.running.tokens",
    "wait_for_tokens": "jax_xla_backend.api:effects_barrier",
    "apply_primitive": "jax_xla_backend.extend:apply_primitive",
    "BACKEND_COMPILE_EVENT": "jax_core.public.listeners:BACKEND_COMPILE_EVENT",
    "JAXPR_TO_MLIR_MODULE_EVENT": "jax_core.public.listeners:JAXPR_TO_MLIR_MODULE_EVENT",
    "JAXPR_TRACE_EVENT": "jax_core.public.listeners:JAXPR_TRACE_EVENT",
})
