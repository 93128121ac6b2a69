"""jax.experimental.pallas.tpu: kernels for TPUs; implemented in `jax_numpy_api.pallas`."""
from jax._gaps import missing as _missing
from jax._lazy import table as _table

_HOMES = {
    "chips": "ChipVersion CoreType SideEffectType Tiling TpuInfo get_tpu_info get_tpu_info_for_chip is_tpu_device",
    "cores": "TensorCoreMesh create_tensorcore_mesh run_on_first_core",
    "copies": "async_copy async_remote_copy make_async_copy make_async_remote_copy sync_copy",
    "einshape": "einshape",
    "generator": "prng_random_bits prng_seed stateful_bernoulli stateful_bits stateful_normal stateful_uniform",
    "mode": "force_tpu_interpret_mode reset_tpu_interpret_mode_state set_tpu_interpret_mode",
    "pipeline": "emit_pipeline",
    "semaphores": "get_barrier_semaphore",
    "spaces": "CMEM HBM SEMAPHORE SMEM VMEM VMEM_SHARED SemaphoreType",
    "specs": "InterpretParams PrefetchScalarGridSpec",
    "tpu": """ARBITRARY CORE_PARALLEL CompilerParams GridDimensionSemantics PARALLEL SUBCORE_PARALLEL bitcast
        pack_elementwise reciprocal roll stochastic_round touch unpack_elementwise
        with_memory_space_constraint""",
    "watching": "trace_value",
}
_served, _names, __all__ = _table(__name__, {
    **{name: f"jax_numpy_api.pallas.{home}:{name}" for home, names in _HOMES.items() for name in names.split()},
    "MemorySpace": "jax_numpy_api.pallas.spaces:TpuMemorySpace",
    "load": "jax_numpy_api.pallas.memory:load_view",
    "store": "jax_numpy_api.pallas.memory:store_view",
}, deprecated={"create_tensorcore_mesh": "jax.experimental.pallas.tpu.TensorCoreMesh"})
__getattr__, __dir__ = _missing(__name__, _served, _names)
