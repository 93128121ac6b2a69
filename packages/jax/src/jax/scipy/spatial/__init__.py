"""jax.scipy.spatial: its only module is `transform`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {"transform": "jax.scipy.spatial.transform"})
