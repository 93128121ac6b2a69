"""jax.extend.ifrt_programs: jaxlib's module of programs for IFRT."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "ifrt_programs": "jax_xla_backend.jaxlib_compat:ifrt_programs",
})
