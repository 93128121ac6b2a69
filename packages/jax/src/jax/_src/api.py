"""jax._src.api: the transformations, for tutorials and libraries that import them by this name."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {"_dtype": "jax_core.representation.dtypes:dtype"} | {name: f"jax:{name}" for name in (
    "block_until_ready", "checkpoint", "clear_caches", "device_get", "device_put", "disable_jit",
    "effects_barrier", "eval_shape", "grad", "hessian", "jacfwd", "jacrev", "jit", "jvp", "linear_transpose", "linearize",
    "live_arrays", "make_jaxpr", "named_call", "named_scope", "pmap", "value_and_grad", "vjp", "vmap")})
