"""jax.export: implemented in `jax_core.export`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_core.export")
