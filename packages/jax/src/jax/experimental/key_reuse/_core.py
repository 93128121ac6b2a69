"""jax.experimental.key_reuse._core: implemented in `jax_random.key_signatures`; tools that check programs import it by this name."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_random.key_signatures")
