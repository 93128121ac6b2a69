"""XLA's form of shardings as bytes: `jax.extend.sharding`."""
from __future__ import annotations

from ..jaxlib_compat import HloSharding, _hlo


def get_serialized_proto_from_hlo_sharding(sharding: HloSharding) -> bytes:
    """The bytes of an `HloSharding`."""
    return sharding.to_proto().SerializeToString()


def get_op_sharding_from_serialized_proto(sharding: bytes) -> _hlo.OpSharding:
    """The protocol buffer that these bytes are."""
    proto = _hlo.OpSharding()
    proto.ParseFromString(sharding)
    return proto


def get_hlo_sharding_from_serialized_proto(sharding: bytes) -> HloSharding:
    """The `HloSharding` of these bytes."""
    return HloSharding.from_proto(get_op_sharding_from_serialized_proto(sharding))
