"""jax.sharding: where the parts of arrays are. One line for each name."""
from jax._gaps import missing as _missing
from jax._lazy import table as _table

_NAMES = {name: f"jax_xla_backend.api:{name}" for name in (
    "AbstractDevice", "AbstractMesh", "AxisType", "Mesh", "NamedSharding", "PartitionSpec", "Sharding",
    "SingleDeviceSharding", "get_abstract_mesh", "get_mesh", "make_single_device_sharding", "reshard", "set_mesh",
    "use_abstract_mesh")}
_NAMES |= {name: f"jax_xla_backend.operations.axis_kinds:{name}" for name in ("auto_axes", "explicit_axes")}
_NAMES |= {name: f"jax_core.representation.manual_axis_type:{name}" for name in ("ManualAxisType", "UnreducedKind")}
_NAMES |= {"no_collectives": "jax_xla_backend.placement.no_collectives:no_collectives"}
_served, _names, __all__ = _table(__name__, _NAMES)
__getattr__, __dir__ = _missing(__name__, _served, _names)
