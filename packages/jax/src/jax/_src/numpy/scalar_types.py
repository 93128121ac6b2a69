"""jax._src.numpy.scalar_types: the class of `jax.numpy.float32` and its kin, which libraries tell from dtypes by it."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_numpy_api.numpy.dtypes_api", "_ScalarMeta")
