"""jax.example_libraries.stax: implemented in `jax_random.stax`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_random.stax")
