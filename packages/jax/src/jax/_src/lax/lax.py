"""jax._src.lax.lax: `jax.lax`, for pickles and tutorials that find its names here."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax.lax")
