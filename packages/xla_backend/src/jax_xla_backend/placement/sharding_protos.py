"""XLA's form of shardings as bytes: `jax.extend.sharding`."""
from __future__ import annotations

from jax_core.representation.arguments import takes

from ..jaxlib_compat import HloSharding, _hlo


@takes(sharding=HloSharding)
def get_serialized_proto_from_hlo_sharding(sharding: HloSharding) -> bytes:
    """The bytes of an `HloSharding`.

    >>> from jax.extend import sharding
    >>> whole = jax.sharding.SingleDeviceSharding(jax.devices()[0])._to_xla_hlo_sharding(1)
    >>> type(sharding.get_serialized_proto_from_hlo_sharding(whole)).__name__
    'bytes'
    """
    return sharding.to_proto().SerializeToString()


@takes(sharding=bytes)
def get_op_sharding_from_serialized_proto(sharding: bytes) -> _hlo.OpSharding:
    """The protocol buffer that these bytes are.

    >>> from jax.extend import sharding
    >>> whole = jax.sharding.SingleDeviceSharding(jax.devices()[0])._to_xla_hlo_sharding(1)
    >>> data = sharding.get_serialized_proto_from_hlo_sharding(whole)
    >>> type(sharding.get_op_sharding_from_serialized_proto(data)).__name__
    'OpSharding'
    """
    proto = _hlo.OpSharding()
    proto.ParseFromString(sharding)
    return proto


def get_hlo_sharding_from_serialized_proto(sharding: bytes) -> HloSharding:
    """The `HloSharding` of these bytes.

    >>> from jax.extend import sharding
    >>> whole = jax.sharding.SingleDeviceSharding(jax.devices()[0])._to_xla_hlo_sharding(1)
    >>> data = sharding.get_serialized_proto_from_hlo_sharding(whole)
    >>> sharding.get_hlo_sharding_from_serialized_proto(data) == whole
    True
    """
    return HloSharding.from_proto(get_op_sharding_from_serialized_proto(sharding))
