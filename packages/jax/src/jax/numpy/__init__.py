"""jax.numpy: implemented in `jax_numpy_api.numpy`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_numpy_api.numpy", linalg="jax.numpy.linalg", fft="jax.numpy.fft")
