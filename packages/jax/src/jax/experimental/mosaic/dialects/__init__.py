"""jax.experimental.mosaic.dialects: jaxlib's operations of Mosaic for TPU."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "tpu": "jaxlib.mosaic.python.tpu",
})
