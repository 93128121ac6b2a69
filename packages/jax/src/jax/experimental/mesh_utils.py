"""jax.experimental.mesh_utils: implemented in `jax_xla_backend.placement.device_grid`."""
from jax._gaps import missing as _missing
from jax._lazy import table as _table

_served, _names, __all__ = _table(__name__, {name: f"jax_xla_backend.placement.device_grid:{name}" for name in (
    "create_device_mesh", "create_hybrid_device_mesh", "device_kind_handler_dict")})
__getattr__, __dir__ = _missing(__name__, _served, _names)
