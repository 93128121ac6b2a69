"""jax.ref: mutable references, implemented in `jax_core.refs`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "AbstractRef": "jax_core.aval:AbstractRef",
    "Ref": "jax_core.refs.api:Ref",
    "addupdate": "jax_core.refs.api:addupdate",
    "empty_ref": "jax_core.refs.api:empty_ref",
    "free_ref": "jax_core.refs.api:free_ref",
    "freeze": "jax_core.refs.api:freeze",
    "get": "jax_core.refs.api:get",
    "new_ref": "jax_core.refs.api:new_ref",
    "set": "jax_core.refs.api:set",
    "swap": "jax_core.refs.api:swap",
})
