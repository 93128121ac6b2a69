"""jax.experimental.sparse.random: random sparse arrays; implemented in `jax_numpy_api.sparse.random`."""
from jax._gaps import missing as _missing
from jax._lazy import mirror as _mirror

_served, _names = _mirror(__name__, "jax_numpy_api.sparse.random", "random_bcoo")
__getattr__, __dir__ = _missing(__name__, _served, _names)
