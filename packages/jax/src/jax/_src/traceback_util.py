"""Internal names that libraries are known to use; everything else of this package is ours and elsewhere."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "register_exclusion": "jax_core.representation.source:register_exclusion",
    "_exclude_paths": "jax_core.representation.source:_excluded",
    "include_frame": "jax_core.representation.source:include_frame",
    "UnfilteredStackTrace": "jax_core.representation.tracebacks:UnfilteredStackTrace",
    "filter_traceback": "jax_core.representation.tracebacks:filter_traceback",
    "api_boundary": "jax_core.representation.tracebacks:api_boundary",
})
