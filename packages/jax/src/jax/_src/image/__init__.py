"""Where libraries (torchax) look for `jax.image`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "scale": "jax._src.image.scale",
})
