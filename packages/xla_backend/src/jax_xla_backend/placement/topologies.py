"""Topologies: the devices that a program could be compiled for.

Source: `jax.experimental.topologies`, PJRT C API `PJRT_TopologyDescription`.
"""
from __future__ import annotations

import re
from types import NoneType
from typing import TYPE_CHECKING, Any, Sequence

from jax_core.representation.arguments import takes

from ..jaxlib_compat import RuntimeError_, _jax, topology_bytes, topology_of_bytes
from ..platforms import client, plugins, registry
from .device_grid import create_device_mesh
from .mesh import Mesh

if TYPE_CHECKING:
    from ..jaxlib_classes import Device
else:
    Device = _jax.Device
_WITHOUT_DEVICES = re.compile(r"(?:^|[:x])0+(?:x|$)")
_FORMS = {
    "tpu": "Names are a generation and the chips along each axis, as 'v5e:2x2' or 'v5p:2x2x1'.",
    "cuda": "Give target_config, the text of a GpuTargetConfigProto, and topology='slices x hosts x devices', as '1x2x8'.",
}


class TopologyDescription:
    """A list of devices, attached or only described.

    Args:
      devices: in the order of their ids.
    """

    def __init__(self, devices: Sequence[Any], _topology: object | None = None):
        self.devices = list(devices)
        self._topology = _topology

    def serialize(self) -> bytes:
        """The description as bytes. Raises NotImplementedError where jaxlib or the platform has no such form."""
        topology = self._topology if self._topology is not None else _jax.get_topology_for_devices(self.devices)
        return topology_bytes(topology)

    @staticmethod
    def deserialize(serialized: bytes) -> "TopologyDescription":
        """The description that `serialize` wrote. Raises NotImplementedError as that does."""
        topology = topology_of_bytes(serialized)
        return TopologyDescription(topology._make_compile_only_devices(), topology)


def get_attached_topology(platform: str | None = None) -> TopologyDescription:
    """The devices that are there.

    >>> from jax.experimental import topologies
    >>> topologies.get_attached_topology().devices[0].platform
    'cpu'
    """
    return TopologyDescription(client.devices(platform))


@takes(topology_name=str, platform=(str, NoneType))
def get_topology_desc(topology_name: str = "", platform: str | None = None, **kwargs: Any) -> TopologyDescription:
    """Devices that need not be there, by the name that the platform's plugin has for them.

    Args:
      topology_name: as ``"v5e:2x2"`` of a TPU.
      platform: default ``"tpu"``.
      kwargs: passed on to the plugin.

    Raises:
      NotImplementedError: the platform describes no topologies.
      RuntimeError: its plugin is not installed or does not work.
      ValueError: the plugin knows no such topology.

    >>> from jax.experimental import topologies
    >>> topologies.get_topology_desc("v5e:2x2", "tpu")  # needs libtpu, and no TPU  # doctest: +SKIP
    """
    name = (platform or "tpu").lower()
    if name == "cpu":
        raise NotImplementedError("get_topology_desc: topology not implemented for cpu; get_attached_topology gives the devices that are there")
    plugins.find()
    if name not in registry.factories:
        advice = plugins.HOW_TO_INSTALL.get(name)
        raise RuntimeError(f"get_topology_desc: no plugin for the platform {name!r} is installed, so its topologies cannot be described; "
                           f"present are {sorted({'cpu', *registry.factories})}{'. Install it: ' + advice if advice else ''}")
    try:
        plugins.load(name)
    except Exception as error:
        raise RuntimeError(f"get_topology_desc: the plugin for the platform {name!r} does not work: {error}") from error
    for sizes in (topology_name, kwargs.get("topology", "")):
        if _WITHOUT_DEVICES.search(str(sizes)):  # at which libtpu ends the process
            raise ValueError(f"get_topology_desc: {name} describes no topology {sizes!r}: an axis has no devices. {_FORMS.get(name, '')}")
    try:
        topology = _jax.get_default_c_api_topology(name, topology_name, kwargs)
    except (RuntimeError_, ValueError, TypeError) as error:
        raise ValueError(f"get_topology_desc: {name} describes no topology {topology_name!r}"
                         f"{' with ' + ', '.join(sorted(kwargs)) if kwargs else ''}: {error}. {_FORMS.get(name, '')}") from error
    return TopologyDescription(topology._make_compile_only_devices(), topology)


@takes(topo=TopologyDescription)
def make_mesh(topo: TopologyDescription, mesh_shape: Sequence[int], axis_names: tuple[str, ...], *,
              contiguous_submeshes: bool = False) -> Mesh:
    """A mesh of the devices of a topology.

    >>> from jax.experimental import topologies
    >>> there = topologies.get_attached_topology()
    >>> topologies.make_mesh(there, (len(there.devices),), ("d",)).axis_names
    ('d',)
    """
    return Mesh(create_device_mesh(mesh_shape, topo.devices, contiguous_submeshes=contiguous_submeshes), axis_names)


__all__ = ["Device", "TopologyDescription", "get_attached_topology", "get_topology_desc", "make_mesh"]
