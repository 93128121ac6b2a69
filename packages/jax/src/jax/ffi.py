"""jax.ffi: calls in `jax_numpy_api.ffi`, registration in `jax_xla_backend.running.ffi`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "abstract_token": "jax_core.representation.aval:abstract_token",
    **{name: f"jax_numpy_api.ffi:{name}" for name in ("build_ffi_lowering_function", "ffi_call", "ffi_lowering")},
    **{name: f"jax_xla_backend.running.ffi:{name}" for name in (
        "include_dir", "pycapsule", "register_ffi_target", "register_ffi_target_as_batch_partitionable", "register_ffi_type",
        "register_ffi_type_id")},
})
