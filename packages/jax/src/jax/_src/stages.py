"""jax._src.stages: `jax.stages`, for libraries that import it by this name."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax.stages")
