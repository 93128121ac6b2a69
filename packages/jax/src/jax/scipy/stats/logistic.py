"""jax.scipy.stats.logistic: implemented in `jax_numpy_api.scipy.stats.logistic`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_numpy_api.scipy.stats.logistic", "cdf isf logpdf pdf ppf sf")
