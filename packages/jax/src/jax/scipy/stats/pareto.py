"""jax.scipy.stats.pareto: implemented in `jax_numpy_api.scipy.stats.pareto`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_numpy_api.scipy.stats.pareto", "cdf logcdf logpdf logsf pdf ppf sf")
