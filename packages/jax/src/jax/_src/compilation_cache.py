"""jax._src.compilation_cache: `jax.experimental.compilation_cache.compilation_cache`, for libraries that import it by this name."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax.experimental.compilation_cache.compilation_cache")
