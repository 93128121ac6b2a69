"""jax.scipy.cluster: its only module is `vq`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {"vq": "jax.scipy.cluster.vq"})
