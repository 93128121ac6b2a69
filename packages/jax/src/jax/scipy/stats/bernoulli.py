"""jax.scipy.stats.bernoulli: implemented in `jax_numpy_api.scipy.stats.bernoulli`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_numpy_api.scipy.stats.bernoulli", "cdf logpmf pmf ppf")
