"""jax._src.config: implemented in `jax_core.configuration.config`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_core.configuration.config")
