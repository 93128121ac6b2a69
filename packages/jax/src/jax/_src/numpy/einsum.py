"""jax._src.numpy.einsum: `jax.numpy`, whose `einsum` haliax takes from here."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax.numpy")
