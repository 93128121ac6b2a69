"""jax._src.scipy.linalg: `jax.scipy.linalg`, for libraries that import it by this name."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax.scipy.linalg")
