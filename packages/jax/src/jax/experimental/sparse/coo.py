"""jax.experimental.sparse.coo: matrices in coordinate format; implemented in `jax_numpy_api.sparse.coo`."""
from jax._gaps import missing as _missing
from jax._lazy import mirror as _mirror

_served, _names = _mirror(__name__, "jax_numpy_api.sparse.coo", """
    COO COOInfo Dtype Shape coo_fromdense coo_fromdense_p coo_matmat coo_matmat_p coo_matvec coo_matvec_p
    coo_todense coo_todense_p""")
__getattr__, __dir__ = _missing(__name__, _served, _names)
