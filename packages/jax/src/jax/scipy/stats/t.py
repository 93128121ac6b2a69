"""jax.scipy.stats.t: implemented in `jax_numpy_api.scipy.stats.t`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_numpy_api.scipy.stats.t", "logpdf pdf")
