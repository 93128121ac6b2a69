"""jax.experimental.sparse.api: functions that serve all formats; implemented in `jax_numpy_api.sparse.api`."""
from jax._gaps import missing as _missing
from jax._lazy import mirror as _mirror

_served, _names = _mirror(__name__, "jax_numpy_api.sparse.api", "empty eye todense todense_p")
__getattr__, __dir__ = _missing(__name__, _served, _names)
