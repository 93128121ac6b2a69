"""jax.scipy.stats.gennorm: implemented in `jax_numpy_api.scipy.stats.gennorm`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_numpy_api.scipy.stats.gennorm", "cdf logpdf pdf")
