"""jax.experimental.scheduling_groups: implemented in `jax_xla_backend.operations.annotations`."""
from jax._gaps import missing as _missing
from jax._lazy import table as _table

_served, _names, __all__ = _table(__name__, {
    "scheduling_group": "jax_xla_backend.operations.annotations:scheduling_group",
    "xla_metadata_call": "jax_xla_backend.operations.annotations:xla_metadata_call",
})
__getattr__, __dir__ = _missing(__name__, _served, _names)
