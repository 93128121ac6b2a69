"""jax.experimental.pallas.tpu: kernels for TPUs; implemented in `jax_numpy_api.pallas`."""
from jax._gaps import missing as _missing
from jax._lazy import table as _table

_HOMES = {
    "copies": "async_copy async_remote_copy make_async_copy make_async_remote_copy sync_copy",
    "generator": "prng_random_bits prng_seed stateful_bits stateful_uniform",
    "mode": "force_tpu_interpret_mode reset_tpu_interpret_mode_state set_tpu_interpret_mode",
    "pipeline": "emit_pipeline",
    "semaphores": "get_barrier_semaphore",
    "spaces": "CMEM HBM SEMAPHORE SMEM VMEM VMEM_SHARED SemaphoreType",
    "specs": "InterpretParams PrefetchScalarGridSpec",
    "tpu": """ARBITRARY CORE_PARALLEL CompilerParams GridDimensionSemantics PARALLEL SUBCORE_PARALLEL bitcast reciprocal roll touch
        with_memory_space_constraint""",
}
_served, _names, __all__ = _table(__name__, {
    **{name: f"jax_numpy_api.pallas.{home}:{name}" for home, names in _HOMES.items() for name in names.split()},
    "MemorySpace": "jax_numpy_api.pallas.spaces:TpuMemorySpace",
    "load": "jax_numpy_api.pallas.memory:load_view",
    "store": "jax_numpy_api.pallas.memory:store_view",
})
__getattr__, __dir__ = _missing(__name__, _served, _names)
