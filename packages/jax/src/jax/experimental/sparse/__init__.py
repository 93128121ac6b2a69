"""jax.experimental.sparse: implemented in `jax_numpy_api.sparse`; some documented names are missing."""
from jax._gaps import missing as _missing
from jax._lazy import mirror as _mirror

_served, _names = _mirror(__name__, "jax_numpy_api.sparse", **{m: f"jax.experimental.sparse.{m}" for m in (
    "ad", "api", "bcoo", "bcsr", "coo", "csr", "linalg", "random", "test_util", "transform", "util")})
__getattr__, __dir__ = _missing(__name__, _served, _names)
