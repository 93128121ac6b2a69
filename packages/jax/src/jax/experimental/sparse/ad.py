"""jax.experimental.sparse.ad: derivatives of functions of sparse arrays; implemented in `jax_numpy_api.sparse.ad`."""
from jax._gaps import missing as _missing
from jax._lazy import mirror as _mirror

_served, _names = _mirror(__name__, "jax_numpy_api.sparse.ad", """
    flatten_fun_for_sparse_ad grad is_sparse jacfwd jacobian jacrev value_and_grad""")
__getattr__, __dir__ = _missing(__name__, _served, _names)
