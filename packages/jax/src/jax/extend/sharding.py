"""jax.extend.sharding: implemented in `jax_xla_backend.placement.sharding` and `jax_xla_backend.placement.sharding_protos`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "GSPMDSharding": "jax_xla_backend.api:GSPMDSharding",
    **{name: f"jax_xla_backend.placement.sharding_protos:{name}" for name in (
        "get_hlo_sharding_from_serialized_proto", "get_op_sharding_from_serialized_proto",
        "get_serialized_proto_from_hlo_sharding")},
})
