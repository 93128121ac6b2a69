"""jax._src.lax.fft: names in pickles, implemented in `jax_numpy_api.lax`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_numpy_api.lax", "FftType")
