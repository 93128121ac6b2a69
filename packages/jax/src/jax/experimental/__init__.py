"""jax.experimental: what may still change. One line for each name."""
from jax._lazy import table as _table

_NAMES = {
    "io_callback": "jax_callbacks.api:io_callback",
    "progress_bar": "jax_callbacks.progress:progress_bar",
}
__getattr__, __dir__, __all__ = _table(__name__, _NAMES)
