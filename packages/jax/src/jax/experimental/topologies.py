"""jax.experimental.topologies: implemented in `jax_xla_backend.placement.topologies`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {n: f"jax_xla_backend.placement.topologies:{n}" for n in (
    "Device", "TopologyDescription", "get_attached_topology", "get_topology_desc", "make_mesh")})
