"""jax._src.mesh_utils: `jax.experimental.mesh_utils`, for libraries that import it by this name."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax.experimental.mesh_utils")
