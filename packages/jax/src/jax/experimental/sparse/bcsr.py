"""jax.experimental.sparse.bcsr: the batched compressed row format."""
from jax._gaps import missing as _missing
from jax._lazy import table as _table

_served, _names, __all__ = _table(__name__, {
    "BCSR": "jax_numpy_api.sparse.bcsr:BCSR",
    "bcsr_broadcast_in_dim": "jax_numpy_api.sparse.bcsr:bcsr_broadcast_in_dim",
    "bcsr_concatenate": "jax_numpy_api.sparse.bcsr:bcsr_concatenate",
    "bcsr_dot_general": "jax_numpy_api.sparse.bcsr:bcsr_dot_general",
    "bcsr_dot_general_p": "jax_numpy_api.sparse.bcsr:bcsr_dot_general_p",
    "bcsr_extract": "jax_numpy_api.sparse.bcsr:bcsr_extract",
    "bcsr_extract_p": "jax_numpy_api.sparse.bcsr:bcsr_extract_p",
    "bcsr_fromdense": "jax_numpy_api.sparse.bcsr:bcsr_fromdense",
    "bcsr_fromdense_p": "jax_numpy_api.sparse.bcsr:bcsr_fromdense_p",
    "bcsr_sum_duplicates": "jax_numpy_api.sparse.bcsr:bcsr_sum_duplicates",
    "bcsr_todense": "jax_numpy_api.sparse.bcsr:bcsr_todense",
    "bcsr_todense_p": "jax_numpy_api.sparse.bcsr:bcsr_todense_p",
    "BCSRProperties": "jax_numpy_api.sparse.bcsr:BCSRProperties",
    "bcsr_eliminate_zeros": "jax_numpy_api.sparse.bcsr:bcsr_eliminate_zeros",
    "JAXSparse": "jax_numpy_api.sparse.base:JAXSparse",
    "BCOO": "jax_numpy_api.sparse.bcoo:BCOO",
    "_bcoo_to_bcsr": "jax_numpy_api.sparse.bare:_bcoo_to_bcsr",
    "_bcsr_fromdense": "jax_numpy_api.sparse.bare:_bcsr_fromdense",
    "_bcsr_to_bcoo": "jax_numpy_api.sparse.bare:_bcsr_to_bcoo",
    "_bcsr_todense": "jax_numpy_api.sparse.bare:_bcsr_todense",
})
__getattr__, __dir__ = _missing(__name__, _served, _names)
