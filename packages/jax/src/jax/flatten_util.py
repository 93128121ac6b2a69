"""jax.flatten_util: implemented in `jax_numpy_api.flatten_util`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_numpy_api.flatten_util", "ravel_pytree")
