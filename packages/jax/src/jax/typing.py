"""jax.typing: implemented in `jax_numpy_api.typing`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_numpy_api.typing", "ArrayLike DTypeLike")
