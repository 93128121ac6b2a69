"""jax._src.source_info_util: `jax.extend.source_info_util`, for libraries that import it by this name."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax.extend.source_info_util")
