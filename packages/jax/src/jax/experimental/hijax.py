"""jax.experimental.hijax: implemented in `jax_core.public.hijax`."""
from jax._gaps import missing as _missing
from jax._lazy import mirror as _mirror

_served, _names = _mirror(__name__, "jax_core.public.hijax")
__getattr__, __dir__ = _missing(__name__, _served, _names)
