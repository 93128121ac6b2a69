"""jax.scipy.stats.poisson: implemented in `jax_numpy_api.scipy.stats.poisson`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_numpy_api.scipy.stats.poisson", "cdf entropy logpmf pmf")
