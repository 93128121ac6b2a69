"""jax.scipy.stats.norm: implemented in `jax_numpy_api.scipy.stats.norm`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_numpy_api.scipy.stats.norm", "cdf isf logcdf logpdf logsf pdf ppf sf")
