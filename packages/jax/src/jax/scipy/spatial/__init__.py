"""jax.scipy.spatial: its only module is `transform`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_numpy_api.scipy.spatial", transform="jax.scipy.spatial.transform")
