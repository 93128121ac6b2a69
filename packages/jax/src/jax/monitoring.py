"""jax.monitoring: implemented in `jax_core.programs.monitoring`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_core.programs.monitoring")
