"""jax.scipy.sparse: its only module is `linalg`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {"linalg": "jax.scipy.sparse.linalg"})
