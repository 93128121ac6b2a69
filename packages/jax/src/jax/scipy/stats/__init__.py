"""jax.scipy.stats: implemented in `jax_numpy_api.scipy.stats`. Each distribution is a module of its own."""
from jax._lazy import mirror as _mirror
from jax_numpy_api.scipy.stats import DISTRIBUTIONS as _DISTRIBUTIONS

__getattr__, __dir__ = _mirror(__name__, "jax_numpy_api.scipy.stats", **{n: f"jax.scipy.stats.{n}" for n in _DISTRIBUTIONS})
