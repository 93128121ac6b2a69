"""jax.scipy.stats.chi2: implemented in `jax_numpy_api.scipy.stats.chi2`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_numpy_api.scipy.stats.chi2", "cdf logcdf logpdf logsf pdf sf")
