"""jax._src.interpreters.pxla: `jax.interpreters.pxla`, for libraries that import it by this name."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax.interpreters.pxla")
