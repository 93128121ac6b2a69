"""jax.extend.core: implemented in `jax_core.public.extend_core`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_core.public.extend_core",
    primitives="jax.extend.core.primitives")
