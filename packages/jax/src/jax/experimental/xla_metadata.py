"""jax.experimental.xla_metadata: implemented in `jax_xla_backend.operations.annotations`."""
from jax._gaps import missing as _missing
from jax._lazy import table as _table

_served, _names, __all__ = _table(__name__, {
    "fuse_limit": "jax_xla_backend.operations.annotations:fuse_limit",
    "must_fuse_call": "jax_xla_backend.operations.annotations:must_fuse_call",
    "set_xla_metadata": "jax_xla_backend.operations.annotations:set_xla_metadata",
    "xla_metadata_call": "jax_xla_backend.operations.annotations:xla_metadata_call",
    "xla_metadata_call2": "jax_xla_backend.operations.annotations:xla_metadata_call2",
})
__getattr__, __dir__ = _missing(__name__, _served, _names)
