"""jax.scipy.fft: implemented in `jax_numpy_api.scipy.fft`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_numpy_api.scipy.fft")
