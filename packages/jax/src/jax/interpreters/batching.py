"""jax.interpreters.batching: implemented in `jax_core.public.interpreters_batching`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_core.public.interpreters_batching")
