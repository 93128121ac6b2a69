"""jax.scipy.stats.gamma: implemented in `jax_numpy_api.scipy.stats.gamma`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_numpy_api.scipy.stats.gamma", "cdf logcdf logpdf logsf pdf sf")
