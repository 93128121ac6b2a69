"""jax.experimental.sparse.csr: matrices in compressed formats; implemented in `jax_numpy_api.sparse.csr`."""
from jax._gaps import missing as _missing
from jax._lazy import mirror as _mirror

_served, _names = _mirror(__name__, "jax_numpy_api.sparse.csr", """
    CSC CSR Shape csr_fromdense csr_fromdense_p csr_matmat csr_matmat_p csr_matvec csr_matvec_p csr_todense
    csr_todense_p""")
__getattr__, __dir__ = _missing(__name__, _served, _names)
