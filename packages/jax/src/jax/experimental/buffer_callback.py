"""jax.experimental.buffer_callback: implemented in `jax_callbacks.buffers`; what callbacks get, in `jax_xla_backend.running.ffi`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "buffer_callback": "jax_callbacks.buffers:buffer_callback",
    **{n: f"jax_xla_backend.running.ffi:{n}" for n in ("Buffer", "ExecutionContext", "ExecutionStage")}})
