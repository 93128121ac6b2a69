"""jax.scipy.stats.dirichlet: implemented in `jax_numpy_api.scipy.stats.dirichlet`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_numpy_api.scipy.stats.dirichlet", "logpdf pdf")
