"""jax._src.scipy.special: `jax.scipy.special`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax.scipy.special")
