"""jax.scipy: implemented in `jax_numpy_api.scipy`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_numpy_api.scipy", special="jax.scipy.special", linalg="jax.scipy.linalg", stats="jax.scipy.stats", signal="jax.scipy.signal", ndimage="jax.scipy.ndimage", fft="jax.scipy.fft", integrate="jax.scipy.integrate", interpolate="jax.scipy.interpolate", optimize="jax.scipy.optimize", cluster="jax.scipy.cluster", sparse="jax.scipy.sparse", spatial="jax.scipy.spatial")
