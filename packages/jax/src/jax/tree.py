"""jax.tree: implemented in `jax_core.representation.tree`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_core.representation.tree")
