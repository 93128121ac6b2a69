"""jax.experimental.sparse.transform: dense functions of sparse arrays."""
from jax._gaps import missing as _missing
from jax._lazy import table as _table

_served, _names, __all__ = _table(__name__, {
    "Array": "jax_numpy_api.sparse.transform:Array",
    "ArrayOrSparse": "jax_numpy_api.sparse.transform:ArrayOrSparse",
    "SparseTrace": "jax_numpy_api.sparse.tracing:SparseTrace",
    "SparseTracer": "jax_numpy_api.sparse.tracing:SparseTracer",
    "SparsifyEnv": "jax_numpy_api.sparse.values:SparsifyEnv",
    "SparsifyValue": "jax_numpy_api.sparse.values:SparsifyValue",
    "arrays_to_spvalues": "jax_numpy_api.sparse.values:arrays_to_spvalues",
    "eval_sparse": "jax_numpy_api.sparse.transform:eval_sparse",
    "sparse_rules_bcoo": "jax_numpy_api.sparse.rules:sparse_rules_bcoo",
    "sparse_rules_bcsr": "jax_numpy_api.sparse.rules:sparse_rules_bcsr",
    "sparsify": "jax_numpy_api.sparse.transform:sparsify",
    "sparsify_fun": "jax_numpy_api.sparse.tracing:sparsify_fun",
    "sparsify_raw": "jax_numpy_api.sparse.transform:sparsify_raw",
    "sparsify_subtrace": "jax_numpy_api.sparse.tracing:sparsify_subtrace",
    "spvalues_to_arrays": "jax_numpy_api.sparse.values:spvalues_to_arrays",
    "spvalues_to_avals": "jax_numpy_api.sparse.values:spvalues_to_avals",
})
__getattr__, __dir__ = _missing(__name__, _served, _names)
