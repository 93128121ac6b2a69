"""Types of `jax.experimental.topologies`. Written by packages/jax/tools/make_stubs.py."""
from jax.sharding import Mesh
from typing import Any, Sequence
from jax import Device as Device

class TopologyDescription:
    """A list of devices, attached or only described."""
    def __init__(self, devices: Sequence[Any], _topology: object | None = None) -> None: ...
    @staticmethod
    def deserialize(serialized: bytes) -> TopologyDescription:
        """The description that `serialize` wrote. Raises NotImplementedError as that does."""
    def serialize(self) -> bytes: ...
    devices: Any
def get_attached_topology(platform: str | None = None) -> TopologyDescription:
    """The devices that are there."""
def get_topology_desc(topology_name: str = '', platform: str | None = None, **kwargs: Any) -> TopologyDescription:
    """Devices that need not be there, by the name that the platform's plugin has for them."""
def make_mesh(topo: TopologyDescription, mesh_shape: Sequence[int], axis_names: tuple[str, ...], *, contiguous_submeshes: bool = False) -> Mesh:
    """A mesh of the devices of a topology."""
