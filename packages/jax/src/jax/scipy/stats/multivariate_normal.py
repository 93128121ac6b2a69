"""jax.scipy.stats.multivariate_normal: implemented in `jax_numpy_api.scipy.stats.multivariate_normal`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_numpy_api.scipy.stats.multivariate_normal", "logpdf pdf")
