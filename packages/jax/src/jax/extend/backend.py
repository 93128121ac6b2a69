"""jax.extend.backend: implemented in `jax_xla_backend.extend`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_xla_backend.extend")
