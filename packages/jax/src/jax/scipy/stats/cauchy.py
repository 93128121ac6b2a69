"""jax.scipy.stats.cauchy: implemented in `jax_numpy_api.scipy.stats.cauchy`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_numpy_api.scipy.stats.cauchy", "cdf isf logcdf logpdf logsf pdf ppf sf")
