"""Internal names that equinox and jaxtyping are known to use; everything else of this package is ours and elsewhere."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    name: f"jax_core.representation.literals:{name}" for name in ("TypedComplex", "TypedFloat", "TypedInt", "TypedNdArray")
})
