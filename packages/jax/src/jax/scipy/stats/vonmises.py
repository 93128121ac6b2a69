"""jax.scipy.stats.vonmises: implemented in `jax_numpy_api.scipy.stats.vonmises`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_numpy_api.scipy.stats.vonmises", "logpdf pdf")
