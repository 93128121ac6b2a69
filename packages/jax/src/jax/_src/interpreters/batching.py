"""jax._src.interpreters.batching: `jax.interpreters.batching`, for libraries that import it by this name."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax.interpreters.batching",
                               BatchTrace="jax_core.transformations.batching:BatchTrace",
                               BatchTracer="jax_core.transformations.batching:BatchTracer",
                               is_vmappable="jax_core.transformations.vmappable:is_vmappable",
                               make_iota="jax_numpy_api.numpy.for_libraries:make_iota",
                               moveaxis="jax_core.public.interpreters_batching:moveaxis",
                               to_elt="jax_core.transformations.vmappable:to_elt")
