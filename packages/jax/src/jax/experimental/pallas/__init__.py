"""jax.experimental.pallas: kernels on blocks of arrays; implemented in `jax_numpy_api.pallas`."""
from jax._gaps import missing as _missing
from jax._lazy import table as _table

_HOMES = {
    "call": "pallas_call pallas_call_p",
    "control": """align_to broadcast_to cdiv delay empty empty_like loop max_contiguous multiple_of next_power_of_2 run_scoped run_state
        strides_from_shape when with_scoped""",
    "cores": "core_map kernel",
    "cost": "estimate_cost",
    "devices": "DeviceIdType",
    "grid": "num_programs program_id",
    "memory": "atomic_add atomic_and atomic_cas atomic_max atomic_min atomic_or atomic_xchg atomic_xor load store swap",
    "semaphores": "semaphore_read semaphore_signal semaphore_wait",
    "spaces": "ANY HOST MemoryRef MemorySpace",
    "tpu": "reciprocal",
    "watching": "debug_check enable_debug_checks",
    "specs": "BlockDim BlockSpec Blocked BoundedSlice Buffered CompilerParams CostEstimate Element GridSpec RevisitMode Squeezed no_block_spec squeezed",
}
_NAMES = {
    **{name: f"jax_numpy_api.pallas.{home}:{name}" for home, names in _HOMES.items() for name in names.split()},
    "Slice": "jax_core.references.indexing:Slice",
    "ds": "jax_core.references.indexing:ds",
    "dslice": "jax_core.references.indexing:ds",
    "debug_print": "jax_callbacks.debug:print_in_kernel",
}
_served, _names, __all__ = _table(__name__, _NAMES, deprecated={
    "DeviceIdType": "its values as texts, device_id_type=\"mesh\" or \"logical\"",
    "core_map": "jax.experimental.pallas.kernel",
    "reciprocal": "jax.experimental.pallas.tpu.reciprocal",
})
__getattr__, __dir__ = _missing(__name__, _served, _names)
