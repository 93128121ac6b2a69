"""jax.scipy.stats.uniform: implemented in `jax_numpy_api.scipy.stats.uniform`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_numpy_api.scipy.stats.uniform", "cdf logpdf pdf ppf")
