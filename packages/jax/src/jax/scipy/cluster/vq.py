"""jax.scipy.cluster.vq: implemented in `jax_numpy_api.scipy.cluster.vq`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_numpy_api.scipy.cluster.vq")
