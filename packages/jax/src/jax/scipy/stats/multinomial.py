"""jax.scipy.stats.multinomial: implemented in `jax_numpy_api.scipy.stats.multinomial`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_numpy_api.scipy.stats.multinomial", "logpmf pmf")
