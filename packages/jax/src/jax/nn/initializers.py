"""jax.nn.initializers: implemented in `jax_random.initializers`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_random.initializers")
