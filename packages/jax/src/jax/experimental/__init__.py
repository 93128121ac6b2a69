"""jax.experimental: what may still change. One line for each name."""
from jax._gaps import missing as _missing
from jax._lazy import table as _table

_NAMES = {
    "EArray": "jax_core.representation.extended:EArray",
    "io_callback": "jax_callbacks.api:io_callback",
    "progress_bar": "jax_callbacks.progress:progress_bar",
}
_served, _names, __all__ = _table(__name__, _NAMES)
__getattr__, __dir__ = _missing(__name__, _served, _names)
