"""jax.ref: mutable references, implemented in `jax_core.references`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "AbstractRef": "jax_core.representation.aval:AbstractRef",
    "Ref": "jax_core.references.api:Ref",
    "addupdate": "jax_core.references.api:addupdate",
    "empty_ref": "jax_core.references.api:empty_ref",
    "free_ref": "jax_core.references.api:free_ref",
    "freeze": "jax_core.references.api:freeze",
    "get": "jax_core.references.api:get",
    "new_ref": "jax_core.references.api:new_ref",
    "set": "jax_core.references.api:set",
    "swap": "jax_core.references.api:swap",
})
