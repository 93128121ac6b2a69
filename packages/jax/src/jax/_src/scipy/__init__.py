"""Where libraries (jaxns) look for `jax.scipy`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "special": "jax._src.scipy.special",
})
