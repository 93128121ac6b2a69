"""jax.export: implemented in `jax_core.public.export`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_core.public.export")
