"""Where libraries (jaxns) look for `jax.scipy`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "linalg": "jax._src.scipy.linalg",
    "special": "jax._src.scipy.special",
})
