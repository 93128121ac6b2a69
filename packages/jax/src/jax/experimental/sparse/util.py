"""jax.experimental.sparse.util: what the formats share; implemented in `jax_numpy_api.sparse.util`."""
from jax._gaps import missing as _missing
from jax._lazy import mirror as _mirror

_served, _names = _mirror(__name__, "jax_numpy_api.sparse.util", """
    CuSparseEfficiencyWarning Shape SparseEfficiencyError SparseEfficiencyWarning SparseInfo broadcasting_vmap
    nfold_vmap""")
__getattr__, __dir__ = _missing(__name__, _served, _names)
