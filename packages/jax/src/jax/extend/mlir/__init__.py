"""jax.extend.mlir: jaxlib's bindings of MLIR, and its functions on modules in bytes."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    **{name: f"jax.extend.mlir.{name}" for name in ("dialects", "ir", "passmanager")},
    **{name: f"jaxlib._jax.mlir:{name}" for name in (
        "deserialize_portable_artifact", "hlo_to_stablehlo", "refine_polymorphic_shapes", "serialize_portable_artifact")},
})
