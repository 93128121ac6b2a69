"""jax.extend.mlir.dialects.arith: what jaxlib's module of that name has."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jaxlib.mlir.dialects.arith")
