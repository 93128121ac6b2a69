"""jax._src.numpy.ufuncs: `jax.numpy`, whose class `ufunc` esquilax takes from here, and jumanji with it."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax.numpy")
