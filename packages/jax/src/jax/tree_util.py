"""jax.tree_util: implemented in `jax_core.public.tree_util`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_core.public.tree_util")
