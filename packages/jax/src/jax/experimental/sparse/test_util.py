"""jax.experimental.sparse.test_util: helpers for tests; implemented in `jax_numpy_api.sparse.test_util`."""
from jax._gaps import missing as _missing
from jax._lazy import mirror as _mirror

_served, _names = _mirror(__name__, "jax_numpy_api.sparse.test_util", """
    BatchedDotGeneralProperties MATMUL_TOL SparseLayout SparseTestCase is_sparse iter_bcsr_layouts
    iter_sparse_layouts iter_subsets rand_bcoo rand_bcsr rand_sparse""")
__getattr__, __dir__ = _missing(__name__, _served, _names)
