"""jax._src.flattree: implemented in `jax_core.compat.flat_trees`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_core.compat.flat_trees", "FTTuple FlatTree nones pack")
