"""jax.tree: implemented in `jax_core.representation.tree`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_core.representation.tree", """
    all broadcast flatten flatten_with_path leaves leaves_with_path map map_with_path reduce reduce_associative
    structure transpose unflatten""", static="jax_core.representation.tree_nodes:static")
