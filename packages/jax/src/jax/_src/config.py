"""jax._src.config: implemented in `jax_core.configuration.flags`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_core.configuration.flags", jax_platforms="jax_core.configuration.flags:platforms")
