"""jax.scipy.stats.nbinom: implemented in `jax_numpy_api.scipy.stats.nbinom`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_numpy_api.scipy.stats.nbinom", "logpmf pmf")
