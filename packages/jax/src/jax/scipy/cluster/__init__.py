"""jax.scipy.cluster: its only module is `vq`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_numpy_api.scipy.cluster", vq="jax.scipy.cluster.vq")
