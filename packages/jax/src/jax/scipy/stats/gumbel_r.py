"""jax.scipy.stats.gumbel_r: implemented in `jax_numpy_api.scipy.stats.gumbel_r`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_numpy_api.scipy.stats.gumbel_r", "cdf logcdf logpdf logsf pdf ppf sf")
