"""jax.experimental.layout: implemented in `jax_xla_backend.placement.layout`."""
from jax._gaps import missing as _missing
from jax._lazy import table as _table

_served, _names, __all__ = _table(__name__, {
    "Format": "jax_xla_backend.api:Format",
    "Layout": "jax_xla_backend.api:Layout",
    "explicit_layout": "jax_xla_backend.operations.layout_constraint:explicit_layout",
    "with_layout_constraint": "jax_xla_backend.operations.layout_constraint:with_layout_constraint",
})
__getattr__, __dir__ = _missing(__name__, _served, _names)
