"""An internal name that libraries are known to use: implemented in `jax_core.dtypes`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_core.dtypes",
    TypePromotionError="jax_core.errors:TypePromotionError")
