"""jax.experimental.thunky: implemented in `jax_numpy_api.thunky`."""
from jax._gaps import missing as _missing
from jax._lazy import table as _table

_served, _names, __all__ = _table(__name__, {
    "all_gather": "jax_numpy_api.thunky:all_gather",
    "all_reduce": "jax_numpy_api.thunky:all_reduce",
    "all_to_all": "jax_numpy_api.thunky:all_to_all",
    "async_done": "jax_numpy_api.thunky:async_done",
    "async_start": "jax_numpy_api.thunky:async_start",
    "call_jax": "jax_numpy_api.thunky:call_jax",
    "collective_group": "jax_numpy_api.thunky:collective_group",
    "collective_permute": "jax_numpy_api.thunky:collective_permute",
    "cond": "jax_numpy_api.thunky:cond",
    "copy": "jax_numpy_api.thunky:copy",
    "custom_call": "jax_numpy_api.thunky:custom_call",
    "jit": "jax_numpy_api.thunky:jit",
    "memset": "jax_numpy_api.thunky:memset",
    "memzero": "jax_numpy_api.thunky:memzero",
    "ptx_kernel": "jax_numpy_api.thunky:ptx_kernel",
    "reduce_scatter": "jax_numpy_api.thunky:reduce_scatter",
    "switch": "jax_numpy_api.thunky:switch",
    "while_loop": "jax_numpy_api.thunky:while_loop",
})
__getattr__, __dir__ = _missing(__name__, _served, _names)
