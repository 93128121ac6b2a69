"""jax._src.interpreters.partial_eval: `jax.interpreters.partial_eval`, for libraries that import it by this name."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax.interpreters.partial_eval",
                               DynamicJaxprTrace="jax_core.traces.staging:DynamicJaxprTrace")
