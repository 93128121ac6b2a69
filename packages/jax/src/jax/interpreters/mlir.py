"""jax.interpreters.mlir: implemented in `jax_core.public.interpreters_mlir`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_core.public.interpreters_mlir")
