"""jax._src.typing: `jax.typing` with names of shapes and dtypes that annotations use (haliax)."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax.typing", Array="jax:Array", DType="jax._src.dtypes:DType",
                               ExtendedDType="jax._src.dtypes:ExtendedDType", Shape="jax_core.representation.typing:Shape",
                               SupportsDType="jax_core.representation.typing:SupportsDType")
