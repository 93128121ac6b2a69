"""jax.scipy.sparse: its only module is `linalg`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_numpy_api.scipy.sparse", linalg="jax.scipy.sparse.linalg")
