"""Internal names that libraries are known to use; everything else of this package is ours and elsewhere."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "AbstractRef": "jax_core.representation.aval:AbstractRef",
    "AccumEffect": "jax_core.representation.effects:AccumEffect",
    "ReadEffect": "jax_core.representation.effects:ReadEffect",
    "RefEffect": "jax_core.representation.effects:RefEffect",
    "WriteEffect": "jax_core.representation.effects:WriteEffect",
})
