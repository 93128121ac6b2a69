"""jax.experimental.pallas.triton: kernels for GPUs; implemented in `jax_numpy_api.pallas`."""
from jax._gaps import missing as _missing
from jax._lazy import table as _table

_HOMES = {
    "chips": "GpuInfo GpuVersion get_gpu_info get_gpu_info_from_version is_gpu_device",
    "control": "max_contiguous",
    "memory": "atomic_add atomic_and atomic_cas atomic_max atomic_min atomic_or atomic_xchg atomic_xor",
    "triton": "CompilerParams approx_tanh debug_barrier dot elementwise_inline_asm",
}
_served, _names, __all__ = _table(__name__, {
    **{name: f"jax_numpy_api.pallas.{home}:{name}" for home, names in _HOMES.items() for name in names.split()},
    "load": "jax_numpy_api.pallas.memory:load_view",
    "store": "jax_numpy_api.pallas.memory:store_view",
})
__getattr__, __dir__ = _missing(__name__, _served, _names)
