"""jax.interpreters.partial_eval: implemented in `jax_core.public.interpreters_partial_eval`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_core.public.interpreters_partial_eval")
