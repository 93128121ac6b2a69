"""jax._src.tree_util: implemented in `jax_core.public.tree_util`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_core.public.tree_util",
    _registry="jax_core.representation.tree_nodes:_registry",
    tracing_registry="jax_core.representation.tree_nodes:default_registry",
    equality_errors="jax_core.representation.tree:equality_errors",
    prefix_errors="jax_core.representation.tree:prefix_errors")
