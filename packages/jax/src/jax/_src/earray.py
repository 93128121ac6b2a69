"""Internal names that libraries are known to use; everything else of this package is ours and elsewhere."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "EArray": "jax_core.representation.extended:EArray",
})
