"""jaxlib's modules under the name by which vendors' plugins import them."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {"xla_client": "jaxlib.xla_client"})
