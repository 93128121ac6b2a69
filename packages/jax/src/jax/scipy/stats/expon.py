"""jax.scipy.stats.expon: implemented in `jax_numpy_api.scipy.stats.expon`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_numpy_api.scipy.stats.expon", "cdf logcdf logpdf logsf pdf ppf sf")
