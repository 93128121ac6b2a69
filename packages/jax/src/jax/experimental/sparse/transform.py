"""jax.experimental.sparse.transform: dense functions of sparse arrays; implemented in `jax_numpy_api.sparse.transform`."""
from jax._gaps import missing as _missing
from jax._lazy import mirror as _mirror

_served, _names = _mirror(__name__, "jax_numpy_api.sparse.transform", """
    Array ArrayOrSparse SparsifyEnv SparsifyValue arrays_to_spvalues eval_sparse sparse_rules_bcoo
    sparse_rules_bcsr sparsify sparsify_raw spvalues_to_arrays spvalues_to_avals""")
__getattr__, __dir__ = _missing(__name__, _served, _names)
