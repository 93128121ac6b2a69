"""jax.scipy.stats.beta: implemented in `jax_numpy_api.scipy.stats.beta`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_numpy_api.scipy.stats.beta", "cdf logcdf logpdf logsf pdf sf")
