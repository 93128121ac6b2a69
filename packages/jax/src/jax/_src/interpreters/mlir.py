"""jax._src.interpreters.mlir: `jax.interpreters.mlir`, for libraries that import it by this name."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax.interpreters.mlir",
                               func_dialect="jax._src.lib.mlir.dialects:func",
                               hlo="jax._src.lib.mlir.dialects:hlo",
                               ir="jax._src.lib.mlir:ir")
