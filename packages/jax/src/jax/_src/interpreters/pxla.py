"""jax._src.interpreters.pxla: `jax.interpreters.pxla`, for libraries that import it by this name, and what flax' dtypes use of it."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax.interpreters.pxla", global_result_handlers="jax_xla_backend.extend:global_result_handlers",
                               global_avals_to_results_handler="jax_xla_backend.extend:global_avals_to_results_handler")
