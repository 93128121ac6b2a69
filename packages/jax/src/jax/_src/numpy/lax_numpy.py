"""jax._src.numpy.lax_numpy: `jax.numpy`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax.numpy")
