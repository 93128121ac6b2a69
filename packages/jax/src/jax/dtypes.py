"""jax.dtypes: implemented in `jax_core.representation.dtypes`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_core.representation.dtypes", """
    TypePromotionError bfloat16 canonicalize_dtype extended finfo float0 iinfo issubdtype itemsize_bits prng_key
    result_type scalar_type_of""")
