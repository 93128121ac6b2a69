"""jax.experimental.compilation_cache.compilation_cache: implemented in `jax_xla_backend.compiling.disk_cache`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {n: f"jax_xla_backend.compiling.disk_cache:{n}" for n in ("reset_cache", "set_cache_dir")})
