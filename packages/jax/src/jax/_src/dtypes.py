"""An internal name that libraries are known to use: implemented in `jax_core.representation.dtypes`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_core.representation.dtypes",
    DType="numpy:dtype", TypePromotionError="jax_core.representation.errors:TypePromotionError",
    JAXType="typing:Any", float_="jax.numpy:float_")
