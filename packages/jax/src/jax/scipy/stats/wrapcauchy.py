"""jax.scipy.stats.wrapcauchy: implemented in `jax_numpy_api.scipy.stats.wrapcauchy`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_numpy_api.scipy.stats.wrapcauchy", "logpdf pdf")
