"""jax.extend.linear_util: implemented in `jax_core.compat.linear_util`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_core.compat.linear_util")
