"""jax.scipy.stats.truncnorm: implemented in `jax_numpy_api.scipy.stats.truncnorm`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_numpy_api.scipy.stats.truncnorm", "cdf logcdf logpdf logsf pdf sf")
