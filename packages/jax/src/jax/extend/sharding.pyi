"""Types of `jax.extend.sharding`. Written by packages/jax/tools/make_stubs.py."""
from jax.sharding import Sharding
from typing import Any, Sequence

class GSPMDSharding(Sharding):
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @classmethod
    def get_replicated(cls, device_assignment: Sequence[object], *, memory_kind: str | None = None) -> GSPMDSharding: ...
def get_hlo_sharding_from_serialized_proto(sharding: bytes) -> Any:
    """The `HloSharding` of these bytes."""
def get_op_sharding_from_serialized_proto(sharding: bytes) -> Any:
    """The protocol buffer that these bytes are."""
def get_serialized_proto_from_hlo_sharding(sharding: Any) -> bytes:
    """The bytes of an `HloSharding`."""
