"""jax.extend.linear_util: implemented in `jax_core.compat.linear_util`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_core.compat.linear_util", """
    StoreException WrappedFun cache merge_linear_aux transformation transformation2 transformation_with_aux
    transformation_with_aux2 wrap_init""")
