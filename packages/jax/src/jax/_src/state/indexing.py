"""jax._src.state.indexing: slices that index references."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_core.references.indexing", "Slice ds", dslice="jax_core.references.indexing:ds")
