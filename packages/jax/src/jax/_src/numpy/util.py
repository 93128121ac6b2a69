"""jax._src.numpy.util: how functions of `jax.numpy` check and promote their arguments, which orthax and torchax do as well."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_numpy_api.numpy.for_libraries", """
    check_arraylike promote_args promote_args_inexact promote_args_numeric promote_dtypes promote_dtypes_complex
    promote_dtypes_inexact promote_dtypes_numeric promote_shapes
""")
