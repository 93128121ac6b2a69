"""jax.scipy.stats.betabinom: implemented in `jax_numpy_api.scipy.stats.betabinom`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_numpy_api.scipy.stats.betabinom", "logpmf pmf")
