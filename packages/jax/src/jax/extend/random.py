"""jax.extend.random: implemented in `jax_random.extend`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_random.extend")
