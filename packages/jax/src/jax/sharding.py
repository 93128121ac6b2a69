"""jax.sharding: where the parts of arrays are. One line for each name."""
from jax._lazy import table as _table

_NAMES = {name: f"jax_xla_backend.api:{name}" for name in (
    "AbstractDevice", "AbstractMesh", "AxisType", "Mesh", "NamedSharding", "PartitionSpec", "Sharding",
    "SingleDeviceSharding", "get_abstract_mesh", "get_mesh", "make_single_device_sharding", "reshard", "set_mesh",
    "use_abstract_mesh")}
__getattr__, __dir__, __all__ = _table(__name__, _NAMES)
